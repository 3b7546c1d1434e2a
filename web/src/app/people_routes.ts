import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "./lazy_page";
import { root } from "./root_route";
import { readSearch } from "./search";

const organisations = createRoute({
  getParentRoute: () => root,
  path: "/organisations",
  component: lazyPage(
    () => import("../pages/organisation/organisations_page"),
    "OrganisationsPage",
  ),
});
const organisation = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/members",
  component: lazyPage(() => import("../pages/organisation/organisation_page"), "OrganisationPage"),
});
const roles = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/roles",
  component: lazyPage(() => import("../pages/organisation/roles_page"), "RolesPage"),
});
const reviews = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/reviews",
  component: lazyPage(() => import("../pages/organisation/reviews_page"), "ReviewsPage"),
});
const connect = createRoute({
  getParentRoute: () => root,
  path: "/sources/connect",
  validateSearch: readSearch("kind"),
  component: lazyPage(() => import("../pages/connect/connect_page"), "ConnectPage"),
});
const connector = createRoute({
  getParentRoute: () => root,
  path: "/sources/connectors/$id",
  component: lazyPage(() => import("../pages/connect/connector_page"), "ConnectorPage"),
});
const market = createRoute({
  getParentRoute: () => root,
  path: "/market",
  validateSearch: readSearch("q", "from"),
  component: lazyPage(() => import("../pages/market/market_page"), "MarketPage"),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  component: lazyPage(() => import("../pages/agents/agents_page"), "AgentsPage"),
});
const agent = createRoute({
  getParentRoute: () => root,
  path: "/agents/$id",
  component: lazyPage(() => import("../pages/agents/agent_page"), "AgentPage"),
});
const boardAgent = createRoute({
  getParentRoute: () => root,
  path: "/agents/board/$name",
  component: lazyPage(() => import("../pages/agents/board_agent_page"), "BoardAgentPage"),
});
const model = createRoute({
  getParentRoute: () => root,
  path: "/agents/models/$id",
  component: lazyPage(() => import("../pages/agents/model_page"), "ModelPage"),
});
const skillSearch = readSearch("q", "file");
const skills = createRoute({
  getParentRoute: () => root,
  path: "/skills",
  validateSearch: skillSearch,
  component: lazyPage(() => import("../pages/skills/skills_page"), "SkillsPage"),
});
const skill = createRoute({
  getParentRoute: () => root,
  path: "/skills/$name",
  validateSearch: skillSearch,
  component: lazyPage(() => import("../pages/skills/skills_page"), "SkillsPage"),
});
const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  component: lazyPage(() => import("../pages/keys/keys_page"), "KeysPage"),
});
const credentials = createRoute({
  getParentRoute: () => root,
  path: "/credentials",
  validateSearch: readSearch("source"),
  component: lazyPage(() => import("../pages/credentials/credentials_page"), "CredentialsPage"),
});
const serviceKeys = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/keys",
  component: lazyPage(() => import("../pages/organisation/service_keys_page"), "ServiceKeysPage"),
});
const quotas = createRoute({
  getParentRoute: () => root,
  path: "/organisations/$handle/quotas",
  component: lazyPage(() => import("../pages/organisation/quotas_page"), "QuotasPage"),
});
const explain = createRoute({
  getParentRoute: () => root,
  path: "/explain",
  validateSearch: readSearch("tool", "who", "args"),
  component: lazyPage(() => import("../pages/explain/explain_page"), "ExplainPage"),
});
const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  component: lazyPage(() => import("../pages/join/join_page"), "JoinPage"),
});
const consent = createRoute({
  getParentRoute: () => root,
  path: "/consent",
  component: lazyPage(() => import("../pages/consent/consent_page"), "ConsentPage"),
});

/** Pages of what people own, share and decide about each other. */
export const PEOPLE_ROUTES = [
  organisations,
  organisation,
  roles,
  reviews,
  connect,
  connector,
  market,
  agents,
  agent,
  boardAgent,
  model,
  skills,
  skill,
  keys,
  credentials,
  serviceKeys,
  quotas,
  explain,
  join,
  consent,
] as const;
