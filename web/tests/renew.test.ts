import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { renew } from "../src/stream/renew";

test("a first reading that is older than the change is not kept", async () => {
  const client = new QueryClient();
  const answers: ((text: string) => void)[] = [];
  const observer = new QueryObserver(client, {
    queryKey: ["conversation", "c"],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const stop = observer.subscribe(() => undefined);

  const renewed = renew(client, ["conversation", "c"]);
  answers[0]?.("working");
  await new Promise((resolve) => setTimeout(resolve));
  answers[1]?.("completed");
  await renewed;

  expect(client.getQueryData(["conversation", "c"])).toBe("completed");
  stop();
});
