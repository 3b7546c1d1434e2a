/** What the console says to a person of whom a program wants access. */
export const consentWords = {
  title: "Let a program in",
  cannot: "This request cannot be decided",
  signInFirst: "Sign in to decide about it",
  wants: (name: string) => `“${name}” wants to act as you`,
  youAre: (who: string) => `You are signed in as ${who}.`,
  itMay: "It may",
  scopes: {
    "tools:read": "Call tools that read",
    "tools:write": "Call tools that may change something",
  } as Record<string, string>,
  never: "It never decides approvals, and may do no more than you may.",
  unchecked: "It has chosen this name itself, and nobody has checked it.",
  goesTo: "You go back to",
  id: "Its id",
  revoke: "You can revoke its key at any time, under your keys.",
  letIn: "Let it in",
  refuse: "Refuse",
} as const;
