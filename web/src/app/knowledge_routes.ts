import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "./lazy_page";
import { root } from "./root_route";
import { readSearch } from "./search";

const listSearch = readSearch("q", "state", "tab", "find", "new", "replace");
const page = (name: "KnowledgePage" | "ReviewPage" | "DeletePage") =>
  lazyPage(() => import("../pages/knowledge/knowledge_page"), name);
const askPage = lazyPage(() => import("../pages/ask/ask_page"), "AskPage");

const bases = createRoute({
  getParentRoute: () => root,
  path: "/knowledge",
  validateSearch: listSearch,
  component: page("KnowledgePage"),
});
const base = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base",
  validateSearch: listSearch,
  component: page("KnowledgePage"),
});
const deleteBase = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/delete",
  component: page("DeletePage"),
});
const asks = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/ask",
  component: askPage,
});
const ask = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/ask/$call",
  component: askPage,
});
const document = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/$doc",
  validateSearch: readSearch("page", "span", "revision", "q", "view", "tab", "since"),
  component: lazyPage(() => import("../pages/document/document_page"), "DocumentPage"),
});
const review = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/$doc/review",
  component: page("ReviewPage"),
});
const deleteDocument = createRoute({
  getParentRoute: () => root,
  path: "/knowledge/$base/$doc/delete",
  component: page("DeletePage"),
});

/** Bases, their documents, and questions to them. */
export const KNOWLEDGE_ROUTES = [
  bases,
  base,
  deleteBase,
  asks,
  ask,
  document,
  review,
  deleteDocument,
] as const;
