import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { EyeOff, X } from "lucide-react";
import { type DocDetail, documentQuery, reviewDocument } from "../../api/knowledge";
import { Dialog } from "../../parts/dialog";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { evidence } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";

interface ReviewDialogProps {
  base: string;
  doc: string;
  onClose: () => void;
}

/** One question about what a document hides or orders: leave it out, use it as text, or delete. */
export function ReviewDialog({ base, doc, onClose }: ReviewDialogProps) {
  const document = useQuery(documentQuery(base, doc));
  const name = document.data?.title || document.data?.name || "";
  return (
    <Dialog label={knowledge.held} className="flush" onClose={onClose}>
      <section className="approve unsure-card">
        <header>
          <EyeOff className="i" aria-hidden="true" />
          {knowledge.held}
          <button type="button" className="icon-btn" aria-label={knowledge.close} onClick={onClose}>
            <X className="i" aria-hidden="true" />
          </button>
        </header>
        <div className="in-card">
          {document.isPending && <Skeleton rows={3} />}
          {document.error && (
            <Failure
              what={evidence.documentFailed}
              missing={evidence.noDocument}
              error={document.error}
            />
          )}
          {document.data && <Question document={document.data} name={name} onClose={onClose} />}
        </div>
      </section>
    </Dialog>
  );
}

const MOST_SHOWN = 5;

function Question({
  document,
  name,
  onClose,
}: {
  document: DocDetail;
  name: string;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const decide = useMutation({
    mutationFn: (decision: "leave_out" | "use") =>
      reviewDocument(document.base, document.id, decision),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["document", document.base, document.id] });
      await client.invalidateQueries({ queryKey: ["documents", document.base] });
      void client.invalidateQueries({ queryKey: ["base", document.base] });
      void client.invalidateQueries({ queryKey: ["bases"] });
      onClose();
    },
  });
  const { findings } = document;
  const kinds = new Set(findings.map((item) => item.kind));
  const title = kinds.has("orders")
    ? knowledge.givesOrders(name)
    : kinds.has("hidden")
      ? knowledge.hides(name)
      : knowledge.carriesOut(name);
  if (document.state !== "held") return <p>{knowledge.noFindings}</p>;
  return (
    <>
      <h2>{title}</h2>
      {findings.slice(0, MOST_SHOWN).map((item) => (
        <figure className="found" key={`${item.kind} ${item.start}`}>
          <figcaption>
            {[item.page > 0 ? knowledge.page(item.page) : "", item.reason]
              .filter(Boolean)
              .join(" · ")}
          </figcaption>
          <blockquote>{item.text}</blockquote>
        </figure>
      ))}
      {findings.length > MOST_SHOWN && (
        <p className="hint">{knowledge.andMore(findings.length - MOST_SHOWN)}</p>
      )}
      <p className="said-why">{knowledge.noAnswerUses}</p>
      <Problem error={decide.error} />
      <div className="opts">
        <button
          type="button"
          className="btn"
          disabled={decide.isPending}
          onClick={() => decide.mutate("leave_out")}
        >
          <b>
            {findings.length > 1 ? knowledge.leaveAllOut : knowledge.leaveOut}
            <span>{knowledge.leaveOutWhat}</span>
          </b>
        </button>
        <button
          type="button"
          className="btn"
          disabled={decide.isPending}
          onClick={() => decide.mutate("use")}
        >
          <b>
            {knowledge.useAsText}
            <span>{knowledge.useAsTextWhat}</span>
          </b>
        </button>
        <Link
          className="btn"
          to="/knowledge/$base/$doc/delete"
          params={{ base: document.base, doc: document.id }}
        >
          <b>
            {knowledge.deleteIt}
            <span>{knowledge.deleteItWhat}</span>
          </b>
        </Link>
      </div>
    </>
  );
}
