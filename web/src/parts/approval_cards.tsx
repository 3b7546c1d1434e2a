import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { send } from "../api/client";
import { approvalQuery } from "../api/queries";
import { messages } from "../words/messages";
import { ApprovalCard } from "./approval_card";
import { MarkIcon } from "./marks";
import { Problem } from "./states";

interface ApprovalsProps {
  ids: readonly string[];
}

/** The questions of one turn: each with its arguments and its own answer, or all at once. */
export function ApprovalCards({ ids }: ApprovalsProps) {
  const client = useQueryClient();
  const found = useQueries({ queries: ids.map((id) => approvalQuery(id)) });
  const waiting = found.flatMap(({ data }) =>
    data?.state === "pending" && data.kind !== "connection" ? [data.id] : [],
  );
  const decide = useMutation({
    mutationFn: (decision: "approve" | "deny") =>
      send("POST", "/approvals", {
        decisions: waiting.map((approval) => ({ approval, decision })),
      }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ["approval"] });
      void client.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
  return (
    <>
      {waiting.length > 1 && (
        <div className="banner several">
          <MarkIcon mark="wait" />
          {messages.callsWait(waiting.length)}
          <span className="acts">
            <button
              type="button"
              className="btn sm primary"
              disabled={decide.isPending}
              onClick={() => decide.mutate("approve")}
            >
              {messages.approveAll(waiting.length)}
            </button>
            <button
              type="button"
              className="btn sm quiet"
              disabled={decide.isPending}
              onClick={() => decide.mutate("deny")}
            >
              {messages.denyAll}
            </button>
          </span>
        </div>
      )}
      <Problem error={decide.error} />
      {ids.map((id) => (
        <ApprovalCard key={id} id={id} />
      ))}
    </>
  );
}
