import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { applyEvents } from "../src/stream/use_base_events";

const LIST = ["documents", "b", "", ""];

function clientWith(state: string): QueryClient {
  const client = new QueryClient();
  client.setQueryData(LIST, { pageParams: [""], pages: [{ documents: [{ id: "d", state }] }] });
  return client;
}

const changed = (state: string) => [
  { id: "", event: "document", data: { id: "d", base: "b", state } },
];

test("a list that is being read when a document changes is read again", async () => {
  const client = clientWith("embedding");
  let answer: (value: unknown) => void = () => {};
  const reading = client.fetchQuery({
    queryKey: LIST,
    queryFn: () => new Promise((resolve) => (answer = resolve)),
  });

  const during = applyEvents(client, "b", changed("ready"));
  answer(client.getQueryData(LIST));
  await reading;
  const after = applyEvents(client, "b", changed("ready"));

  expect(during).toContainEqual(["documents", "b"]);
  expect(after).not.toContainEqual(["documents", "b"]);
});
