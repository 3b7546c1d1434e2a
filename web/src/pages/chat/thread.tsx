import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowDown, ChevronLeft, ListTree } from "lucide-react";
import { useMemo, useState } from "react";
import { conversationQuery, toolsQuery } from "../../api/queries";
import { useNow } from "../../parts/call_card";
import { MarkIcon } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { ConnectionBanner, Failure, Problem, Skeleton } from "../../parts/states";
import type { Answer, CallPart } from "../../stream/answers";
import { findBranch, findLastAnswered } from "../../stream/branch";
import { useConversation } from "../../stream/use_conversation";
import { findSource } from "../../stream/cited";
import { useFollowing } from "../../stream/use_following";
import { formatDuration, formatNumber } from "../../words/format";
import { messages } from "../../words/messages";
import { Artifact } from "./artifact";
import { Deleted, isGone } from "./deleted";
import { Files } from "./files";
import { Grants } from "./grants";
import { ThreadComposer } from "./thread_composer";
import { ThreadMenu } from "./thread_menu";
import { SourcePanel } from "./source_panel";
import { Turn } from "./turn";

const MOST_TURNS = 30;

/** One conversation: its messages, its answers as they happen, and the composer. */
export function Thread({ id }: { id: string }) {
  const conversation = useQuery(conversationQuery(id));
  const { answers, connection, error } = useConversation(id);
  const { data: tools = [] } = useQuery(toolsQuery);
  const titles = useMemo(() => new Map(tools.map((tool) => [tool.name, tool.title])), [tools]);
  const title = conversation.data?.title || messages.conversation;
  usePageTitle(title);

  const exchanges = useMemo(
    () => findBranch(conversation.data?.exchanges ?? [], conversation.data?.head ?? ""),
    [conversation.data],
  );
  const working = exchanges.find((item) => item.state === "working");
  const waiting = exchanges
    .flatMap((item) => answers.get(item.id)?.parts ?? [])
    .find((part): part is CallPart => part.kind === "call" && part.state === "waiting");
  const last = findLastAnswered(exchanges);
  const read = exchanges.flatMap((item) => answers.get(item.id)?.received ?? []);
  const lastAnswer = answers.get(last?.id ?? "");
  const [most, setMost] = useState(MOST_TURNS);
  const scroll = useFollowing();
  const search = useSearch({ strict: false }) as { view?: string; source?: string; of?: string };
  const { view } = search;
  const source = useMemo(
    () => findSource(exchanges, Number(search.source) || 0, search.of ?? ""),
    [exchanges, search.source, search.of],
  );
  const navigate = useNavigate();
  const closeView = () =>
    void navigate({
      to: "/chat/$id",
      params: { id },
      search: (before) => ({ ...before, view: undefined }),
    });

  if (isGone(error) && conversation.data) return <Deleted title={title} />;
  if (conversation.error)
    return (
      <section className="thread" aria-label={messages.conversation}>
        <div className="page">
          <Failure
            what={messages.conversationFailed}
            missing={messages.noConversation}
            error={conversation.error}
            retry={() => void conversation.refetch()}
          />
        </div>
      </section>
    );
  const panel = source && (
    <SourcePanel
      citation={source.citation}
      citations={source.answer.citations ?? []}
      conflicts={source.answer.conflicts ?? []}
      of={source.answer.id}
    />
  );
  return (
    <>
      <section className="thread" aria-label={messages.conversation}>
        <div className="thread-top">
          <Link to="/chat" className="icon-btn back-btn" aria-label={messages.allConversations}>
            <ChevronLeft className="i" aria-hidden="true" />
          </Link>
          <h1 className="cut" dir="auto" title={title}>
            {title}
          </h1>
          {waiting && (
            <button
              type="button"
              className="state wait as-link"
              onClick={() =>
                document
                  .querySelector(`[data-approval="${CSS.escape(waiting.approval)}"]`)
                  ?.scrollIntoView({ block: "center", behavior: "smooth" })
              }
            >
              <MarkIcon mark="wait" small /> {messages.waitsForYou}
            </button>
          )}
          <span className="push">
            <Files id={id} />
            {lastAnswer?.runId && (
              <Link
                to="/runs/$id"
                params={{ id: lastAnswer.runId }}
                className="icon-btn"
                aria-label={messages.openRun}
              >
                <ListTree className="i" aria-hidden="true" />
              </Link>
            )}
            <ThreadMenu id={id} title={title} />
          </span>
        </div>
        {view && <Artifact key={view} conversation={id} path={view} onClose={closeView} />}
        <Grants conversation={id} grants={conversation.data?.grants ?? []} />
        <div className="turns" ref={scroll.turns}>
          {conversation.isPending && <Skeleton rows={3} />}
          {exchanges.length > most && (
            <button type="button" className="btn quiet" onClick={() => setMost(most + MOST_TURNS)}>
              {messages.showEarlier}
            </button>
          )}
          {exchanges.slice(-most).map((exchange) => (
            <Turn
              key={exchange.id}
              exchange={exchange}
              answer={answers.get(exchange.id)}
              titles={titles}
              isLast={exchange === last}
              isRead={read.includes(exchange.id)}
              agent={conversation.data?.agent || messages.auto}
              source={source?.answer === exchange ? source.citation.number : 0}
            />
          ))}
          {error && <Problem error={error} />}
        </div>
        <div className="dock">
          {scroll.isAway && (
            <button type="button" className="btn sm newest" onClick={scroll.toEnd}>
              {messages.newest} <ArrowDown className="i s" aria-hidden="true" />
            </button>
          )}
          <ConnectionBanner connection={connection} />
          {working && <Live answer={answers.get(working.id)} />}
          <ThreadComposer
            id={id}
            agent={conversation.data?.agent ?? ""}
            model={conversation.data?.model ?? ""}
            accounts={conversation.data?.accounts ?? {}}
            isWorking={working !== undefined}
            onSent={scroll.toEnd}
          />
        </div>
      </section>
      {panel}
    </>
  );
}

const PHASES: Record<string, string> = {
  route: messages.thinking,
  select: messages.choosingTools,
  plan: messages.makingPlan,
  judge: messages.checking,
  complete: messages.checking,
};

/** The line that says what happens now; a screen reader reads it, not the text that streams. */
function Live({ answer }: { answer: Answer | undefined }) {
  const now = useNow(true);
  const isWaiting = answer?.parts.some(
    (part) =>
      (part.kind === "call" && part.state === "waiting") ||
      (part.kind === "question" && part.state === "open"),
  );
  const isCalling = answer?.parts.some((part) => part.kind === "call" && part.state === "running");
  const isWriting = answer?.parts.at(-1)?.kind === "text";
  const phase = PHASES[answer?.phase ?? ""];
  const word = isWaiting
    ? messages.waitsForYou
    : phase
      ? phase
      : isCalling
        ? messages.working
        : isWriting
          ? messages.writing
          : messages.thinking;
  const tokens = (answer?.inputTokens ?? 0) + (answer?.outputTokens ?? 0);
  return (
    <div className="live">
      <span className={isWaiting ? "wait" : "run"}>
        <MarkIcon mark={isWaiting ? "wait" : "run"} small />
      </span>
      <span role="status">
        {word}
        <span className="far">{messages.youCanLeave}</span>
      </span>
      <span className="cost num">
        {answer &&
          answer.startedAt > 0 &&
          formatDuration(Math.max(0, now - answer.startedAt * 1000))}
        {tokens > 0 && <span className="far"> · {messages.tokens(formatNumber(tokens))}</span>}
        {answer && answer.cost > 0 && ` · $${answer.cost.toFixed(3)}`}
      </span>
    </div>
  );
}
