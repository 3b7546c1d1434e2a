import { useMutation, useQueryClient } from "@tanstack/react-query";
import { send } from "../../api/client";
import type { Exchange } from "../../api/queries";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";

/** What a message waits for that was sent during an answer; it can be withdrawn until then. */
export function Queued({ exchange }: { exchange: Exchange }) {
  const client = useQueryClient();
  const withdraw = useMutation({
    mutationFn: () =>
      send("DELETE", `/conversations/${exchange.conversation}/queue/${exchange.id}`),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ["conversation", exchange.conversation] }),
  });
  return (
    <>
      <p className="faint sent-note">
        {exchange.steers ? messages.waitsForStep : messages.waitsForAnswer}
        <button
          type="button"
          className="btn quiet sm"
          disabled={withdraw.isPending}
          onClick={() => withdraw.mutate()}
        >
          {messages.withdraw}
        </button>
      </p>
      <Problem error={withdraw.error} />
    </>
  );
}
