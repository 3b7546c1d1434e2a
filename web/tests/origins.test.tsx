import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterContextProvider,
} from "@tanstack/react-router";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Approval } from "../src/api/queries";
import type { Resource } from "../src/api/resources";
import { Origins } from "../src/parts/origins";

const ASKED: Approval = {
  id: "ap_1",
  state: "pending",
  tool: "mail__send",
  principal: "u_1",
  created_at: 0,
  digest: "d",
  arguments: {},
  kind: "call",
} as Approval;

const SHARED = [
  { id: "r_1", kind: "skill", name: "bob--refunds", organisation: "acme", may_review: true },
] as const;

/** The text that a reader sees, with a space between elements. */
function read(approval: Partial<Approval>, resources: readonly Partial<Resource>[] = []): string {
  const client = new QueryClient();
  client.setQueryData(["resources", "skill"], resources);
  const router = createRouter({
    routeTree: createRootRoute(),
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  const markup = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <RouterContextProvider router={router}>
        <Origins approval={{ ...ASKED, ...approval }} />
      </RouterContextProvider>
    </QueryClientProvider>,
  );
  return markup
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

test("each argument says where it comes from, and whether the caller has named it", () => {
  const shown = read({
    origins: [
      { argument: "to[0]", origin: "text", call_id: "c1", tool: "web__fetch", is_named: false },
      { argument: "amount", origin: "caller", call_id: "", tool: "", is_named: true },
      { argument: "id", origin: "write", call_id: "c2", tool: "", is_named: true },
      { argument: "link", origin: "unknown", call_id: "", tool: "", is_named: false },
    ],
  });
  expect(shown).toContain("to[0] Out of text that was read by web__fetch Not named by the caller");
  expect(shown).toContain("amount In a message of the caller Named by the caller");
  expect(shown).toContain("id The result of another call Named by the caller");
  expect(shown).toContain("link In no message and no result Not named by the caller");
});

test("an approval names the call that read text of others before, as text", () => {
  const shown = read({
    untrusted: { call_id: "c1", tool: "<b>web</b>__fetch", source: "web", kind: "call", at: 0 },
  });
  expect(shown).toContain("Before this, text of others was read, by");
  expect(shown).toContain("&lt;b&gt;web&lt;/b&gt;__fetch .");
});

test("an approval names the shared skill whose description the model was shown", () => {
  const taint = { call_id: "r1", tool: "skill bob--refunds", source: "bob--refunds", at: 0 };
  const shown = read({ untrusted: { ...taint, kind: "skill" } }, SHARED);
  expect(shown).toContain("how another person describes the skill bob--refunds .");
  expect(shown).toContain("Review it");
  expect(read({ untrusted: { ...taint, kind: "skill" } })).not.toContain("Review it");
  expect(read({ untrusted: { ...taint, kind: "author" } })).toContain("of the agent bob--refunds");
});

test("an approval of a run that read nothing of others says nothing of it", () => {
  expect(read({})).toBe("");
});
