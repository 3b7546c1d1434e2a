import createClient from "openapi-fetch";
import { API } from "./address";
import { ApiError, Unreachable } from "./errors";
import type { components, paths } from "./schema";

/** A type of the API by its name in `/openapi.json`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

let csrfToken = "";

/** The token that every change carries, from `GET /session`. */
export function setCsrfToken(token: string): void {
  csrfToken = token;
}

/** `fetch` for the API: adds the CSRF token, and knows a server that does not answer. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let before = csrfToken;
  let response = await ask(path, init);
  if (response.status === 403 && (await lacksCsrfToken(response))) {
    // The page did not wait for its session, or another tab has a newer one.
    const session = await ask("/session", { signal: init.signal });
    if (session.ok) {
      setCsrfToken(((await session.json()) as Schema<"SessionAnswer">).csrf);
      before = csrfToken;
      response = await ask(path, init);
    }
  }
  // An answer that a new sign-in overtook says nothing about the session that began with it.
  if (response.status === 401 && csrfToken === before)
    window.dispatchEvent(new Event("signed-out"));
  return response;
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (csrfToken && init.method && init.method !== "GET") headers.set("X-Pegboard-CSRF", csrfToken);
  try {
    return await fetch(API + path, { ...init, headers, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable();
  }
}

/** Whether the server refused a change because it did not carry the token of its session. */
async function lacksCsrfToken(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return makeError(response, body).code === "csrf_token_missing";
}

export const api = createClient<paths>({
  baseUrl: API,
  fetch: async (asked: Request) => {
    const url = new URL(asked.url);
    const body = asked.method === "GET" ? undefined : await asked.text();
    return request(url.pathname.slice(API.length) + url.search, {
      method: asked.method,
      headers: asked.headers,
      body: body || undefined,
      signal: asked.signal,
    });
  },
});

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; anything but success is thrown as an `ApiError`. */
export async function unwrap<T>(answer: Promise<Answered<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw makeError(response, error);
  return data as T;
}

/** The error of a response that is no success. */
export function makeError(response: Response, body: unknown): ApiError {
  return new ApiError(response.status, body, Number(response.headers.get("Retry-After") ?? 0));
}

/** Post JSON to a route whose answer is JSON. */
export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await request(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  const data: unknown = text ? JSON.parse(text) : null;
  if (!response.ok) throw makeError(response, data);
  return data as T;
}
