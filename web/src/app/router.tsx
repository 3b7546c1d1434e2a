import { createRoute, createRouter } from "@tanstack/react-router";
import { UI } from "../api/address";
import { HomePage } from "../pages/overview/home_page";
import { BOARD_ROUTES } from "./board_routes";
import { KNOWLEDGE_ROUTES } from "./knowledge_routes";
import { PEOPLE_ROUTES } from "./people_routes";
import { lazyPage } from "./lazy_page";
import { PageFailure, root } from "./root_route";
import { parseSearch, readSearch, stringifySearch } from "./search";

const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });

const chat = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: readSearch("q", "tool", "agent"),
  component: lazyPage(() => import("../pages/chat/chat_page"), "ChatPage"),
});
const conversation = createRoute({
  getParentRoute: () => root,
  path: "/chat/$id",
  validateSearch: readSearch("q", "view", "source", "of"),
  component: lazyPage(() => import("../pages/chat/chat_page"), "ChatPage"),
});
const toolSearch = readSearch("q", "show", "source", "tab");
const tools = createRoute({
  getParentRoute: () => root,
  path: "/tools",
  validateSearch: toolSearch,
  component: lazyPage(() => import("../pages/tools/tools_page"), "ToolsPage"),
});
const tool = createRoute({
  getParentRoute: () => root,
  path: "/tools/$name",
  validateSearch: toolSearch,
  component: lazyPage(() => import("../pages/tools/tools_page"), "ToolsPage"),
});
const sources = createRoute({
  getParentRoute: () => root,
  path: "/sources",
  component: lazyPage(() => import("../pages/sources/sources_page"), "SourcesPage"),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: readSearch("state"),
  component: lazyPage(() => import("../pages/runs/runs_page"), "RunsPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  validateSearch: readSearch("tab", "step"),
  component: lazyPage(() => import("../pages/run/run_page"), "RunPage"),
});
const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  validateSearch: readSearch("show"),
  component: lazyPage(() => import("../pages/approvals/approvals_page"), "ApprovalsPage"),
});
const approval = createRoute({
  getParentRoute: () => root,
  path: "/approvals/$id",
  validateSearch: readSearch("show"),
  component: lazyPage(() => import("../pages/approvals/approvals_page"), "ApprovalsPage"),
});

const routeTree = root.addChildren([
  home,
  chat,
  conversation,
  tools,
  tool,
  sources,
  runs,
  run,
  approvals,
  approval,
  ...BOARD_ROUTES,
  ...KNOWLEDGE_ROUTES,
  ...PEOPLE_ROUTES,
]);

export function makeRouter() {
  return createRouter({
    routeTree,
    basepath: UI,
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    // Around a page that fails, the frame stays.
    defaultErrorComponent: PageFailure,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
