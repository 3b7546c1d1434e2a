import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Bot,
  Building2,
  History,
  House,
  Inbox,
  LayoutGrid,
  LibraryBig,
  ListTree,
  type LucideIcon,
  MessageSquare,
  Plug,
  ScrollText,
  SlidersHorizontal,
  Store,
} from "lucide-react";
import { organisationsQuery } from "../api/people";
import { approvalsQuery } from "../api/queries";
import { reviewsQuery } from "../api/resources";
import { secrets } from "../words/credentials";
import { explaining } from "../words/explain";
import { knowledge } from "../words/knowledge";
import { messages } from "../words/messages";
import { people } from "../words/people";
import { sharing } from "../words/resources";
import { skillWords } from "../words/skills";

export interface Entry {
  to:
    | "/"
    | "/chat"
    | "/tools"
    | "/sources"
    | "/knowledge"
    | "/agents"
    | "/skills"
    | "/market"
    | "/runs"
    | "/approvals"
    | "/audit"
    | "/settings"
    | "/organisations";
  name: string;
  icon: LucideIcon;
}

export const PAGES: Entry[] = [
  { to: "/", name: messages.home, icon: House },
  { to: "/chat", name: messages.chat, icon: MessageSquare },
];
export const BOARD: Entry[] = [
  { to: "/tools", name: messages.tools, icon: LayoutGrid },
  { to: "/sources", name: messages.sources, icon: Plug },
  { to: "/knowledge", name: knowledge.knowledge, icon: LibraryBig },
  { to: "/agents", name: sharing.agents, icon: Bot },
  { to: "/skills", name: skillWords.skills, icon: ScrollText },
];
export const WORK: Entry[] = [
  { to: "/runs", name: messages.runs, icon: ListTree },
  { to: "/approvals", name: messages.approvals, icon: Inbox },
];
/** What was done, and what is set. */
export const RECORDS: Entry[] = [
  { to: "/audit", name: messages.audit, icon: History },
  { to: "/settings", name: messages.settings, icon: SlidersHorizontal },
];
/** What is there for people with accounts alone. */
export const PEOPLE: Entry[] = [
  { to: "/market", name: sharing.market, icon: Store },
  { to: "/organisations", name: people.organisation, icon: Building2 },
];
/** The tabs below the page on a phone; its menu has the rest. */
export const TABS: Entry[] = [...PAGES, BOARD[0] as Entry, ...WORK];
export const REST: Entry[] = [...BOARD.slice(1), ...RECORDS];

interface NavProps {
  label: string;
  entries: readonly Entry[];
  path: string;
  /** The organisation that the caller acts for; where Organisation leads. */
  tenant?: string;
  onGo?: () => void;
}

/** A group of pages. */
export function Nav({ label, entries, path, tenant, onGo }: NavProps) {
  return (
    <nav className="nav" aria-label={label}>
      {entries.map((entry) => (
        <Item key={entry.to} entry={entry} path={path} tenant={tenant} onGo={onGo} />
      ))}
    </nav>
  );
}

interface ItemProps extends Pick<NavProps, "path" | "tenant" | "onGo"> {
  entry: Entry;
}

/** A link to a page, with the count of what waits there for the caller. */
export function Item({ entry, path, tenant, onGo }: ItemProps) {
  const Icon = entry.icon;
  const current = isAt(entry, path) ? "page" : undefined;
  const inside = (
    <>
      <Icon className="i" aria-hidden="true" />
      {entry.name}
      {entry.to === "/approvals" && <WaitingApprovals />}
      {entry.to === "/organisations" && <WaitingInOrganisations />}
    </>
  );
  return entry.to === "/organisations" && tenant ? (
    <Link
      to="/organisations/$handle/members"
      params={{ handle: tenant }}
      aria-current={current}
      onClick={onGo}
    >
      {inside}
    </Link>
  ) : (
    <Link to={entry.to} aria-current={current} onClick={onGo}>
      {inside}
    </Link>
  );
}

/** The name of the page at a path, for the bar on phones. */
export function nameOfPage(path: string): string {
  const entry = [...PAGES, ...BOARD, ...WORK, ...RECORDS, ...PEOPLE].find((item) =>
    isAt(item, path),
  );
  return entry?.name ?? OTHERS[path.split("/")[1] ?? ""] ?? "Pegboard";
}

/** Pages that no entry leads to, by the first part of their path. */
const OTHERS: Record<string, string> = {
  keys: people.keys,
  credentials: secrets.title,
  explain: explaining.crumb,
};

export function isAt(entry: Entry, path: string): boolean {
  return entry.to === "/" ? path === "/" : path === entry.to || path.startsWith(`${entry.to}/`);
}

function WaitingApprovals() {
  const { data } = useQuery(approvalsQuery("pending"));
  return <Count count={data?.length ?? 0} />;
}

function WaitingInOrganisations() {
  const { data: organisations = [] } = useQuery(organisationsQuery);
  const { data: reviews = [] } = useQuery(reviewsQuery);
  const waiting = organisations.reduce((sum, item) => sum + item.waiting, 0);
  return <Count count={waiting + reviews.length} />;
}

function Count({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span className="count">
      {count >= 100 ? "99+" : count}
      <span className="sr"> {messages.waiting.toLowerCase()}</span>
    </span>
  );
}
