// An identity provider for tests: one client, and people who sign in by their name alone.
import * as oidc from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const provider = new oidc.Provider(issuer, {
  clients: [
    {
      client_id: "board",
      client_secret: "a secret of the board",
      redirect_uris: [redirect],
      response_types: ["code"],
      grant_types: ["authorization_code"],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: ["a key of a test"] },
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `The ${id}`,
      email: `${id}@acme.example`,
      email_verified: true,
    }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
