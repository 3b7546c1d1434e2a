import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
} from "@tanstack/react-router";
import { UI } from "../api/address";
import { HomePage } from "../pages/overview/home_page";
import { Empty, Failure } from "../parts/states";
import { messages } from "../words/messages";
import { Shell } from "./shell";

/** A search parameter that is text; anything else is left out. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== ""
    ? value
    : typeof value === "number"
      ? String(value)
      : undefined;

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <div className="page">
      <Empty
        title={messages.noPage}
        actions={
          <Link to="/" className="btn">
            {messages.home}
          </Link>
        }
      />
    </div>
  ),
  errorComponent: ({ error }) => (
    <div className="page">
      <Failure
        what={messages.pageFailed}
        error={error as Error}
        retry={() => window.location.reload()}
      />
    </div>
  ),
});

/** Search parameters by name; each is text, or left out. */
const readSearch =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Name, string>> => {
    const found: Partial<Record<Name, string>> = {};
    for (const name of names) {
      const text = textOf(search[name]);
      if (text !== undefined) found[name] = text;
    }
    return found;
  };

const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });

const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  component: lazyRouteComponent(() => import("../pages/join/join_page"), "JoinPage"),
});

const consent = createRoute({
  getParentRoute: () => root,
  path: "/consent",
  component: lazyRouteComponent(() => import("../pages/consent/consent_page"), "ConsentPage"),
});

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: readSearch("q", "tool"),
  component: lazyRouteComponent(() => import("../pages/chat/chat_page"), "ChatPage"),
});
const conversation = createRoute({
  getParentRoute: () => root,
  path: "/chat/$id",
  validateSearch: readSearch("q", "view"),
  component: lazyRouteComponent(() => import("../pages/chat/chat_page"), "ChatPage"),
});

const toolSearch = readSearch("q", "show", "source", "tab");
const tools = createRoute({
  getParentRoute: () => root,
  path: "/tools",
  validateSearch: toolSearch,
  component: lazyRouteComponent(() => import("../pages/tools/tools_page"), "ToolsPage"),
});
const tool = createRoute({
  getParentRoute: () => root,
  path: "/tools/$name",
  validateSearch: toolSearch,
  component: lazyRouteComponent(() => import("../pages/tools/tools_page"), "ToolsPage"),
});

const sources = createRoute({
  getParentRoute: () => root,
  path: "/sources",
  component: lazyRouteComponent(() => import("../pages/sources/sources_page"), "SourcesPage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: readSearch("state"),
  component: lazyRouteComponent(() => import("../pages/runs/runs_page"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  validateSearch: readSearch("tab", "step"),
  component: lazyRouteComponent(() => import("../pages/run/run_page"), "RunPage"),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  validateSearch: readSearch("show"),
  component: lazyRouteComponent(() => import("../pages/approvals/approvals_page"), "ApprovalsPage"),
});
const approval = createRoute({
  getParentRoute: () => root,
  path: "/approvals/$id",
  validateSearch: readSearch("show"),
  component: lazyRouteComponent(() => import("../pages/approvals/approvals_page"), "ApprovalsPage"),
});

const organisations = createRoute({
  getParentRoute: () => root,
  path: "/organisations",
  component: lazyRouteComponent(
    () => import("../pages/organisation/organisations_page"),
    "OrganisationsPage",
  ),
});
const organisation = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/members",
  component: lazyRouteComponent(
    () => import("../pages/organisation/organisation_page"),
    "OrganisationPage",
  ),
});
const reviews = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/reviews",
  component: lazyRouteComponent(() => import("../pages/organisation/reviews_page"), "ReviewsPage"),
});
const connect = createRoute({
  getParentRoute: () => root,
  path: "/sources/connect",
  validateSearch: readSearch("kind"),
  component: lazyRouteComponent(() => import("../pages/connect/connect_page"), "ConnectPage"),
});
const connector = createRoute({
  getParentRoute: () => root,
  path: "/sources/connectors/$id",
  component: lazyRouteComponent(() => import("../pages/connect/connector_page"), "ConnectorPage"),
});
const market = createRoute({
  getParentRoute: () => root,
  path: "/market",
  validateSearch: readSearch("q"),
  component: lazyRouteComponent(() => import("../pages/market/market_page"), "MarketPage"),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  component: lazyRouteComponent(() => import("../pages/agents/agents_page"), "AgentsPage"),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$id",
  component: lazyRouteComponent(() => import("../pages/agents/agent_page"), "AgentPage"),
});
const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  component: lazyRouteComponent(() => import("../pages/keys/keys_page"), "KeysPage"),
});
const credentials = createRoute({
  getParentRoute: () => root,
  path: "/credentials",
  validateSearch: readSearch("source"),
  component: lazyRouteComponent(
    () => import("../pages/credentials/credentials_page"),
    "CredentialsPage",
  ),
});
const serviceKeys = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/keys",
  component: lazyRouteComponent(
    () => import("../pages/organisation/service_keys_page"),
    "ServiceKeysPage",
  ),
});
const explain = createRoute({
  getParentRoute: () => root,
  path: "/explain",
  validateSearch: readSearch("tool", "who", "args"),
  component: lazyRouteComponent(() => import("../pages/explain/explain_page"), "ExplainPage"),
});

const routeTree = root.addChildren([
  home,
  join,
  consent,
  chat,
  conversation,
  tools,
  tool,
  sources,
  runs,
  run,
  approvals,
  approval,
  organisations,
  organisation,
  reviews,
  connect,
  connector,
  market,
  agents,
  agent,
  keys,
  credentials,
  serviceKeys,
  explain,
]);

export function makeRouter() {
  return createRouter({
    routeTree,
    basepath: UI,
    defaultPreload: "intent",
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
