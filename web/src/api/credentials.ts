import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";

export type Credential = Schema<"CredentialAnswer">;

export const credentialsQuery = queryOptions({
  queryKey: ["credentials"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/credentials", { signal }))).credentials,
});

/** Sends the browser to the sign-in of a system, which sends it back. */
export async function connectAccount(source: string, name: string): Promise<void> {
  const body = name ? { source, name } : { source };
  const { url } = await send<Schema<"StartedConnectionAnswer">>(
    "POST",
    "/credentials/oauth/start",
    body,
  );
  window.location.assign(url);
}
