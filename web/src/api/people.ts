import { queryOptions } from "@tanstack/react-query";
import { UI } from "./address";
import { api, type Schema, unwrap } from "./client";

export type Organisation = Schema<"OrganisationAnswer">;
export type Member = Schema<"MemberAnswer">;
export type Key = Schema<"KeyAnswer">;
export type Session = Schema<"SessionAnswer">;

/** The organisations of the caller, with how many people wait in each. */
export const organisationsQuery = queryOptions({
  queryKey: ["organisations"],
  queryFn: async ({ signal }) =>
    (await unwrap(api.GET("/organisations", { signal }))).organisations,
  refetchInterval: 30_000,
});

export const membersQuery = (organisation: string) =>
  queryOptions({
    queryKey: ["members", organisation],
    queryFn: async ({ signal }) => {
      const path = { organisation };
      const answer = await unwrap(
        api.GET("/organisations/{organisation}/members", { params: { path }, signal }),
      );
      return answer.members;
    },
  });

/** The roles that an organisation has defined, beside those that each one has. */
export const rolesQuery = (organisation: string) =>
  queryOptions({
    queryKey: ["roles", organisation],
    queryFn: async ({ signal }) => {
      const path = { organisation };
      const answer = await unwrap(
        api.GET("/organisations/{organisation}/roles", { params: { path }, signal }),
      );
      return answer.roles;
    },
  });

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: async ({ signal }) => (await unwrap(api.GET("/keys", { signal }))).keys,
});

/** The keys of a service account; for administrators of its organisation. */
export const serviceKeysQuery = (organisation: string, service: string) =>
  queryOptions({
    queryKey: ["service-keys", organisation, service],
    queryFn: async ({ signal }) => {
      const path = { organisation, service };
      const answer = await unwrap(
        api.GET("/organisations/{organisation}/services/{service}/keys", {
          params: { path },
          signal,
        }),
      );
      return answer.keys;
    },
  });

/** Whether a person with an account is signed in: one person without one has none of these pages. */
export function hasAccount(session: Session | undefined): boolean {
  return session?.accounts === true && session.signed_in && session.handle !== "";
}

/** The whole address of a one-time link. */
export function addressOf(link: Schema<"LinkAnswer">): string {
  const prefix = UI.slice(0, -"/ui/".length);
  return link.url || `${window.location.origin}${prefix}${link.path}`;
}

/** Whether the caller lets people in, gives roles and invites. */
export function mayAdminister(session: Session | undefined, organisation: Organisation): boolean {
  return organisation.roles.includes("administrator") || isOperator(session);
}

/** Whether the caller runs this server. */
export function isOperator(session: Session | undefined): boolean {
  return session?.scopes.some((scope) => scope === "*" || scope === "operator") ?? false;
}
