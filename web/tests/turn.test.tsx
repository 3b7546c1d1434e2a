import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Exchange } from "../src/api/queries";
import { Turn } from "../src/pages/chat/turn";
import { messages } from "../src/words/messages";

const render = (text: string) =>
  renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <Turn
        exchange={
          {
            id: "m",
            conversation: "c",
            state: "steered",
            text,
            files: [],
            created_at: 1,
          } as never as Exchange
        }
        answer={undefined}
        titles={new Map()}
        isLast={false}
        isRead
        agent="Auto"
        source={0}
      />
    </QueryClientProvider>,
  );

test.each(["word ".repeat(400), "line\n".repeat(20)])(
  "a long message is cut, and can be read whole",
  (text) => {
    const drawn = render(text);

    expect(drawn).toContain(messages.showMessage);
    expect(drawn).toContain('aria-expanded="false"');
  },
);

test("a short message is shown whole", () => {
  expect(render("line\n".repeat(10))).not.toContain(messages.showMessage);
});
