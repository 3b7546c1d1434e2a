import { afterEach, expect, test, vi } from "vitest";
import { request, send, setCsrfToken } from "../src/api/client";

const REFUSED = { status: 403, code: "csrf_token_missing", detail: "A change needs the token." };

/** A server that takes changes with the token of its session; returns the requests that it got. */
function serve(token: string): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const sent = new Headers(init.headers).get("X-Pegboard-CSRF");
    asked.push(`${init.method ?? "GET"} ${path.replace(/^.*\/v1/, "")}`);
    if (path.endsWith("/session")) return Response.json({ csrf: token });
    return sent === token ? Response.json({ made: true }) : Response.json(REFUSED, { status: 403 });
  });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
  setCsrfToken("");
});

test("a change that is sent before the session was read is sent again with its token", async () => {
  const asked = serve("new");

  await expect(send("POST", "/keys", {})).resolves.toEqual({ made: true });

  expect(asked).toEqual(["POST /keys", "GET /session", "POST /keys"]);
});

test("the token of a session that another tab renewed is replaced, once", async () => {
  const asked = serve("new");
  setCsrfToken("old");

  await send("POST", "/keys", {});
  await send("POST", "/keys", {});

  expect(asked).toEqual(["POST /keys", "GET /session", "POST /keys", "POST /keys"]);
});

test("a change that is refused again is an error", async () => {
  const asked = serve("new");
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return path.endsWith("/session")
      ? Response.json({ csrf: "new" })
      : Response.json(REFUSED, { status: 403 });
  });

  await expect(send("POST", "/keys", {})).rejects.toThrow("A change needs the token.");

  expect(asked).toHaveLength(3);
});

test("a refusal that a sign-in overtook signs nobody out", async () => {
  const told: string[] = [];
  vi.stubGlobal("window", { dispatchEvent: (event: Event) => told.push(event.type) });
  let answer: (response: Response) => void = () => undefined;
  vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (answer = resolve)));
  setCsrfToken("old");

  const overtaken = request("/tools");
  setCsrfToken("new");
  answer(new Response(null, { status: 401 }));
  await overtaken;
  expect(told).toEqual([]);

  const current = request("/tools");
  answer(new Response(null, { status: 401 }));
  await current;
  expect(told).toEqual(["signed-out"]);
});
