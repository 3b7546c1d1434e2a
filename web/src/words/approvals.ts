import type { Approval } from "../api/queries";
import { namePerson } from "./people";

/** What the console says about where a call comes from, and with whose account it acts. */
export const approvalWords = {
  readBefore: "Before this, text of others was read, by",
  readHint: "Such text may give orders. Compare what the call does with what was asked for.",
  skillBefore: "Before this, the model was shown how another person describes the skill",
  agentBefore: "Before this, the model was shown how another person describes the agent",
  authorBefore: "The instructions are those of another person: of the agent",
  describedHint:
    "Such text may give orders. Your organisation has not reviewed this description yet: an administrator approves it there, or ends its sharing.",
  reviewIt: "Review it",
  origins: "Where its arguments come from",
  named: "Named by the caller",
  notNamed: "Not named by the caller",
  fromCaller: "In a message of the caller",
  fromWrite: "The result of",
  fromResult: "A value in the result of",
  fromText: "Out of text that was read by",
  fromNowhere: "In no message and no result",
  anotherCall: "another call",

  actsWith: "Acts with",
  yourAccount: "your account",
  accountOf: (name: string) => `the account of ${name},`,
  sharedAccount: "the shared account",
  at: "at",
  withAccount: (name: string) => `With the account ${name}`,
  withCredential: (name: string) => `With the credential ${name} of the board`,

  waitsForAccount: "Waits for an account",
  needsAccount: (title: string) => `${title} needs your account`,
  needsAccountOf: (title: string, name: string) => `${title} needs an account of ${name}`,
  goesOn: "The call goes on by itself once it is connected.",
  thenAgain: "Then make the call again.",
  connectOne: "Connect an account",
} as const;

/** Who has made the call that waits, by name and handle, else by id. */
export function nameCaller(approval: Approval): string {
  const { principal, principal_name: name, principal_handle: handle } = approval;
  return namePerson(name, handle) || principal;
}

/** Who has decided it; empty while it waits. */
export function nameDecider(approval: Approval): string {
  const { decided_by: id = "", decided_by_name: name, decided_by_handle: handle } = approval;
  return namePerson(name, handle) || id;
}

interface Account {
  source: string;
  name: string;
  /** As the system has confirmed it; empty while unknown. */
  identity: string;
  /** The id of its owner. */
  owner: string;
}

/** "With the account work (octocat)"; of a credential of the board its name. */
export function nameAccount(label: string): string {
  const account = readAccount(label);
  if (!account) return approvalWords.withCredential(label);
  const who = account.identity ? ` (${account.identity})` : "";
  return approvalWords.withAccount(`${account.name}${who}`);
}

/** What a record says about an account: "github/work (octocat) of u_1". */
export function readAccount(label: string): Account | null {
  const [, source = "", rest = "", owner = ""] = /^([^/]+)\/(.+) of (\S+)$/s.exec(label) ?? [];
  if (!source) return null;
  const [, name = rest, identity = ""] = /^(.+) \(([^()]*)\)$/s.exec(rest) ?? [];
  return { source, name, identity, owner };
}
