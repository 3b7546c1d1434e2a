import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readSearch, root } from "./root_route";

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: readSearch(
    "view",
    "who",
    "tool",
    "source",
    "outcome",
    "from",
    "until",
    "call",
    "kind",
    "record",
  ),
  component: lazyRouteComponent(() => import("../pages/audit/audit_page"), "AuditPage"),
});

/** Pages of what the board records and runs with. */
export const BOARD_ROUTES = [audit] as const;
