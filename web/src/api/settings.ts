import { queryOptions } from "@tanstack/react-query";
import { api, type Schema, send, unwrap } from "./client";
import { isOperator, type Session } from "./people";

export type ServerSettings = Schema<"SettingsAnswer">;
export type Setting = ServerSettings["settings"][number];
export type Account = Schema<"AccountAnswer">;
export type AccountChange = Schema<"ChangeAccount">;
export type OpenSession = Schema<"OpenSessionAnswer">;

/** What the server runs with; for its operators. */
export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => unwrap(api.GET("/settings", { signal })),
});

export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => unwrap(api.GET("/account", { signal })),
});

/** The browsers in which the caller is signed in. */
export const openSessionsQuery = queryOptions({
  queryKey: ["account", "sessions"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/account/sessions", { signal }))).sessions,
});

export const changeAccount = (change: AccountChange) => send<Account>("PATCH", "/account", change);

/** Whether the caller sees what the server runs with. */
export function seesSettings(session: Session | undefined): boolean {
  return session?.signed_in === true && (!session.accounts || isOperator(session));
}
