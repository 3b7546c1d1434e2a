import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, Plus } from "lucide-react";
import { type Ask, askBase, askQuery, asksQuery, baseQuery } from "../../api/knowledge";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Problem, Skeleton } from "../../parts/states";
import "../../styles/knowledge.css";
import { evidence } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";
import { AskForm } from "./ask_form";
import { AskList } from "./ask_list";
import { Outcome } from "./outcome";

/** Questions to a base, and what was found for one of them, with how sure it is. */
export function AskPage() {
  const { base = "", call = "" } = useParams({ strict: false }) as {
    base?: string;
    call?: string;
  };
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data: known } = useQuery(baseQuery(base));
  const asks = useQuery(asksQuery(base));
  const answer = useQuery({ ...askQuery(base, call), enabled: call !== "" });
  usePageTitle(evidence.askIt);
  const ask = useMutation({
    mutationFn: ({ question, mode }: Pick<Ask, "question" | "mode">) =>
      askBase(base, question, mode),
    onSuccess: async (made) => {
      client.setQueryData(["ask", base, made.call], made);
      void client.invalidateQueries({ queryKey: ["asks", base] });
      await navigate({ to: "/knowledge/$base/ask/$call", params: { base, call: made.call } });
    },
  });
  const shown = ask.isPending ? undefined : answer.data;
  return (
    <div className="split asking" data-open="true">
      <section className="list" aria-label={evidence.questions}>
        <div className="top">
          <Crumbs label={evidence.whereYouAre}>
            <CrumbLink to="/knowledge">{knowledge.knowledge}</CrumbLink>
            <ChevronRight className="i s" aria-hidden="true" />
            <CrumbLink to="/knowledge/$base" params={{ base }}>
              {known?.title || known?.name || knowledge.base}
            </CrumbLink>
          </Crumbs>
          <div className="line">
            <h2 className="as-title">{evidence.askIt}</h2>
          </div>
          <Link to="/knowledge/$base/ask" params={{ base }} className="btn">
            <Plus className="i s" aria-hidden="true" /> {evidence.newQuestion}
          </Link>
        </div>
        {asks.isPending && <Skeleton rows={4} />}
        {asks.error && (
          <Failure
            what={evidence.asksFailed}
            missing={knowledge.noBase}
            error={asks.error}
            retry={() => void asks.refetch()}
          />
        )}
        <AskList base={base} asks={asks.data ?? []} chosen={call} />
      </section>
      <section className="detail" aria-label={shown?.question ?? evidence.question}>
        <div className="in-col">
          <Link className="back" to="/knowledge/$base" params={{ base }}>
            <ChevronLeft className="i" aria-hidden="true" /> {known?.title || knowledge.base}
          </Link>
          <AskForm
            key={call}
            initial={answer.data}
            isPending={ask.isPending}
            onAsk={(question, mode) => ask.mutate({ question, mode })}
          />
          <Problem error={ask.error} />
          {(ask.isPending || (call !== "" && answer.isPending)) && <Skeleton rows={5} />}
          {answer.error && (
            <Failure
              what={evidence.askFailed}
              missing={evidence.noAsk}
              error={answer.error}
              retry={() => void answer.refetch()}
            />
          )}
          {shown && <Outcome ask={shown} />}
          {!call && !ask.isPending && (
            <div className="hero-note">
              <h1>{asks.data?.length === 0 ? evidence.noAsks : evidence.askHint}</h1>
              <p className="dim">{evidence.noAsksWhy}</p>
            </div>
          )}
        </div>
      </section>
    </div>
  );
}
