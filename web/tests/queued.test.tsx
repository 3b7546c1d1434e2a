import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Exchange } from "../src/api/queries";
import { Turn } from "../src/pages/chat/turn";
import { messages } from "../src/words/messages";

function draw(known: Partial<Exchange>, isRead = false): string {
  const exchange = {
    id: "m2",
    text: "in French",
    created_at: 1,
    files: [],
    citations: [],
    ...known,
  } as Exchange;
  return renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <Turn
        exchange={exchange}
        answer={undefined}
        titles={new Map()}
        isLast={false}
        isRead={isRead}
        agent=""
        source={0}
      />
    </QueryClientProvider>,
  );
}

test.each([
  ["waits for the answer", false, messages.waitsForAnswer],
  ["steers the agent", true, messages.waitsForStep],
])("a message that %s says so, and can be withdrawn", (_, steers, note) => {
  const html = draw({ state: "queued", steers });

  expect(html).toContain(note);
  expect(html).toContain(messages.withdraw);
});

test.each<[string, Exchange["state"], boolean]>([
  ["the events say", "queued", true],
  ["the server says", "steered", false],
])("a message that the agent has read, as %s, cannot be withdrawn", (_, state, isRead) => {
  const html = draw({ state, steers: true }, isRead);

  expect(html).toContain(messages.reachedAgent);
  expect(html).not.toContain(messages.withdraw);
});
