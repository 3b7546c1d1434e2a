/** What the console says about questions of tools. */
export const questionWords = {
  label: "A question of a tool",
  serverAsks: (source: string) => `The MCP server ${source} asks`,
  sourceAsks: (source: string) => `The source ${source} asks`,
  toolAsks: (tool: string) => `The tool ${tool} asks`,
  byTool: (tool: string) => `by its tool ${tool}`,
  warning:
    "This text is not Pegboard\u2019s, and your answer goes to whoever asks. Never enter a password, a key or a card number here.",
  pageWarning:
    "This page is not Pegboard\u2019s. Open it only if you know it and expected the question.",
  answer: "Answer",
  decline: "Decline",
  openPage: "Open the page\u2026",
  openTitle: (host: string) => `Open ${host}?`,
  openNow: "Open it in a new tab",
  address: "The full address",
  noAddress: "Its address cannot be opened.",
  accepted: "You answered",
  opened: "You opened the page",
  declined: "You declined",
  cancelled: "No answer was given",
  expired: "The time for an answer is over",
  lost: "The call that asked has ended without an answer",
} as const;

/** Who asks, always by name: never as if the console itself asked. */
export function whoAsks(source: string, kind: string, tool: string): string {
  if (!source) return questionWords.toolAsks(tool);
  return kind === "mcp" ? questionWords.serverAsks(source) : questionWords.sourceAsks(source);
}
