import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck, X } from "lucide-react";
import type { Schema } from "../../api/client";
import { send } from "../../api/client";
import { Problem } from "../../parts/states";
import { formatFull } from "../../words/format";
import { messages } from "../../words/messages";

interface GrantsProps {
  conversation: string;
  grants: readonly Schema<"GrantAnswer">[];
}

/** What is approved for the rest of a conversation; each can be revoked. */
export function Grants({ conversation, grants }: GrantsProps) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (grant: string) => send("DELETE", `/conversations/${conversation}/grants/${grant}`),
    onSettled: () => client.invalidateQueries({ queryKey: ["conversation", conversation] }),
  });
  if (grants.length === 0) return null;
  return (
    <section className="grants" aria-label={messages.approvedForChat}>
      {grants.map((grant) => (
        <span
          key={grant.id}
          className="tag wait"
          title={messages.grantedBy(grant.granted_by, formatFull(grant.granted_at))}
        >
          <ShieldCheck className="i s" aria-hidden="true" />
          <span className="cut">
            {grant.tool}
            {grant.scope === "arguments"
              ? `: ${shorten(grant.arguments)}`
              : `: ${messages.anyCall}`}
          </span>
          <button
            type="button"
            aria-label={messages.revokeTool(grant.tool)}
            disabled={revoke.isPending}
            onClick={() => revoke.mutate(grant.id)}
          >
            {messages.revoke} <X className="i s" aria-hidden="true" />
          </button>
        </span>
      ))}
      <Problem error={revoke.error} />
    </section>
  );
}

const MOST = 40;

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}
