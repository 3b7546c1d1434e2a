import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "./lazy_page";
import { root } from "./root_route";
import { readSearch } from "./search";

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
  component: lazyPage(() => import("../pages/audit/audit_page"), "AuditPage"),
});

const source = createRoute({
  getParentRoute: () => root,
  path: "/sources/$name",
  component: lazyPage(() => import("../pages/sources/source_page"), "SourcePage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: readSearch("tab", "q", "only"),
  component: lazyPage(() => import("../pages/settings/settings_page"), "SettingsPage"),
});

/** Pages of what the board records and runs with. */
export const BOARD_ROUTES = [audit, settings, source] as const;
