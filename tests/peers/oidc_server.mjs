// An authorization server on loopback: one person who always consents, rotating refresh tokens.
// It registers clients, and gives tokens for a `resource` with the scopes `read` and `write`.
// Arguments: its port, the redirect URI of the client, seconds that an access token is valid.
import { Provider } from "oidc-provider";

const [port, redirectUri, lifetime] = process.argv.slice(2);
const counts = {};
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "pegboard",
      client_secret: "secret-of-pegboard",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    {
      client_id: "robot",
      client_secret: "secret-of-robot",
      redirect_uris: [],
      grant_types: ["client_credentials"],
      response_types: [],
    },
  ],
  cookies: { keys: ["a key of this test"] },
  claims: { openid: ["sub"], profile: ["preferred_username"] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: "read write",
        audience: resource,
        accessTokenFormat: "opaque",
        accessTokenTTL: Number(lifetime),
      }),
    },
    revocation: { enabled: true },
  },
  findAccount: (_, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, preferred_username: "octocat" }),
  }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  ttl: {
    AccessToken: Number(lifetime),
    ClientCredentials: Number(lifetime),
    Grant: 3600,
    IdToken: 3600,
    Interaction: 600,
    RefreshToken: 3600,
    Session: 3600,
  },
});

provider.on("grant.success", (ctx) => {
  const kind = ctx.oidc.params.grant_type;
  counts[kind] = (counts[kind] ?? 0) + 1;
});

provider.use(async (ctx, next) => {
  if (ctx.path === "/counts") {
    ctx.body = counts;
    return;
  }
  if (!ctx.path.startsWith("/interaction/")) {
    await next();
    return;
  }
  const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
  let result = { login: { accountId: "u-1" } };
  if (prompt.name === "consent") {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    if (params.resource) {
      grant.addResourceScope(params.resource, params.scope);
    }
    result = { consent: { grantId: await grant.save() } };
  }
  const to = await provider.interactionResult(ctx.req, ctx.res, result, {
    mergeWithLastSubmission: true,
  });
  ctx.redirect(to);
});

provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
