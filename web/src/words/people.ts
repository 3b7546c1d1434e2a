import { formatCount, spellOrder } from "./format";

/** What the console says about people, organisations, keys and rights. */
export const people = {
  // The account menu
  account: "Your account",
  menu: "Menu",
  actFor: "You act for",
  keys: "Your keys",
  signOut: "Sign out",
  organisation: "Organisation",
  organisations: "Organisations",
  noOrganisation: "No organisation",
  peopleWait: (count: number) => (count === 1 ? "1 person waits" : `${count} people wait`),

  // Signing in
  signedOut: "You were signed out",
  draftsStay: "What you typed is still here.",
  signInAndGoOn: "Sign in and go on",
  passwordLost: "Password lost? Whoever runs this server can send you a new link.",
  tooManyTries: (seconds: number) => `Too many tries. Sign in again in ${seconds} s.`,

  // An organisation
  members: "Members",
  about: (title: string) => `About ${title}`,
  countPeople: (count: number) => (count === 1 ? "1 person" : `${count} people`),
  youAre: (roles: string) => `You are ${roles}.`,
  invite: "Invite",
  membersFailed: "The members could not be loaded",
  noSuchOrganisation: "There is no such organisation",
  onlyYou: "Only you so far",
  onlyYouWhy: "An invitation is a link that works once, for a day.",
  membersOf: (title: string) => `Members of ${title}`,
  person: "Person",
  role: "Role",
  state: "State",
  here: "Member since",
  action: "Action",
  asked: (when: string) => `Asked ${when}`,
  isKeptOut: "Kept out of this server",
  thisIsYou: "This is you",
  letIn: "Let in",
  turnDown: "Turn down",
  moreFor: (name: string) => `More for ${name}`,
  rolesOf: (name: string) => `Roles of ${name}`,
  letInTitle: (name: string) => `Let ${name} in`,
  whatMay: (name: string) => `What ${name} may do`,
  removeFrom: (title: string) => `Remove from ${title}`,
  removeQuestion: (name: string, title: string) => `Remove ${name} from ${title}?`,
  leave: (title: string) => `Leave ${title}`,
  leaveQuestion: (title: string) => `Leave ${title}?`,
  turnDownQuestion: (name: string) => `Turn ${name} down?`,
  turnDownWhat: "The question is removed. It can be asked again.",
  removeWhat:
    "It holds from the next request. Chats and runs stay with the person, and what is shared here is no longer shown.",
  leaveWhat: "It holds from your next request. An administrator can let you in again.",
  removeHint: "A removal holds from the next request. The last administrator cannot be removed.",
  newPassword: "New link to sign in",
  save: "Save",
  remove: "Remove",
  changedMeanwhile: "The list has been read again: somebody may have changed it meanwhile.",

  // Roles
  roles: "Roles",
  roleWords: {
    administrator: ["Administrator", "Lets people in, gives roles, invites; reads"],
    editor: ["Editor", "Calls tools that read and tools that write"],
    member: ["Member", "Calls tools that read"],
    approver: ["Approver", "Decides approvals; calls nothing by that"],
  } as Record<string, [string, string]>,

  // One-time links
  inviteTo: (title: string) => `Invite to ${title}`,
  makeLink: "Make the link",
  linkMade: "The link, shown this once",
  linkWhat: (until: string) => `It works once, until ${until}. Send it to one person.`,
  copy: "Copy",
  copied: "Copied",
  iHaveSent: "I have sent it",

  // Organisations
  organisationsFailed: "The organisations could not be loaded",
  organisationsWhat: "An organisation shares tools and approvals among its members.",
  noneYet: "You are in no organisation yet",
  noneYetWhy: "Found one, or ask to be let in.",
  found: "Found an organisation",
  handle: "Handle",
  handleHint: "2 to 12 characters, a to z and 0 to 9. It cannot be changed.",
  titleOptional: "Title (optional)",
  askToJoin: "Ask to be let in",
  askedToJoin: (handle: string) =>
    `Asked. If there is an organisation ${handle}, its administrators decide.`,

  // Keys
  key: "Key",
  keysWhat: "A key lets a program act as you. It may do no more than you may.",
  keysFailed: "The keys could not be loaded",
  noKeys: "No keys yet",
  noKeysWhy: ["The command line makes one with", "; for other programs, make one here."],
  newKey: "New key",
  makeKey: "Make the key",
  name: "Name",
  keyNameHint: "Where it is used: nightly report",
  may: "May",
  mayAll: "Everything that you may",
  maySome: "Only some of it",
  scopes: "Scopes",
  scopesHint: "Separated by spaces, for example approvals:decide audit:read",
  ends: "Ends",
  never: "Never",
  inDays: (days: number) => `In ${formatCount(days, "day")}`,
  lastUsed: "Last used",
  revokeQuestion: (name: string) => `Revoke ${name}?`,
  revokeWhat: "Programs that use it are refused from the next request on. It cannot be undone.",
  revoked: "Revoked",
  ended: "Ended",
  showEnded: (count: number) =>
    count === 1 ? "Show 1 key that no longer works" : `Show ${count} keys that no longer work`,
  serviceKeys: "Keys",
  servicesWhat: "Service accounts let programs of the organisation sign in with keys.",
  servicesNever: "A service account never decides approvals.",
  newService: "New service account",
  makeService: "Make the account",
  noServices: "No service accounts yet",
  noServicesWhy: "A program that is nobody's own gets a key of one.",
  keyMade: (name: string) => `The key for ${name}, shown this once`,
  keyMadeWhat: "Only its digest is stored. It cannot be shown again; a lost key is replaced.",
  iHaveStored: "I have stored it",
  worksNow: "Works now",
} as const;

/** "Administrator, Editor"; what somebody is. */
export function nameRoles(roles: readonly string[]): string {
  return roles.map((role) => people.roleWords[role]?.[0] ?? role).join(", ");
}

const MOST_OF_NAME = 32;

/** "Bob Doe (bob)": people choose their names freely, and only the handle is theirs alone. */
export function namePerson(name = "", handle = ""): string {
  if (!name || name === handle) return handle;
  const shown = spellOrder(name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name);
  return handle ? `${shown} (${handle})` : shown;
}

/** What a page of records says about the people in it, by their ids. */
export function namePeople(page: {
  names: Record<string, string>;
  handles: Record<string, string>;
}): Record<string, string> {
  const ids = Object.keys(page.names);
  return Object.fromEntries(ids.map((id) => [id, namePerson(page.names[id], page.handles[id])]));
}
