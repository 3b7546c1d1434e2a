import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { memo, useMemo, useState } from "react";
import type { Exchange } from "../../api/queries";
import { ApprovalCards } from "../../parts/approval_cards";
import { CallGroup } from "../../parts/call_card";
import { Logo } from "../../parts/logo";
import { MarkIcon } from "../../parts/marks";
import { anchorOf, Plan } from "../../parts/plan";
import { QuestionCard } from "../../parts/question_card";
import { Problem } from "../../parts/states";
import type { Answer, CallPart, Part } from "../../stream/answers";
import { sendMessage } from "../../stream/send_message";
import { formatFull } from "../../words/format";
import { messages } from "../../words/messages";
import { AnswerEnd } from "./answer_end";
import { Cites, CitedText, Refs, useCited } from "./citations";
import { MessageFiles } from "./files";
import { Queued } from "./queued";

interface TurnProps {
  exchange: Exchange;
  answer: Answer | undefined;
  titles: ReadonlyMap<string, string>;
  isLast: boolean;
  /** Whether the agent has read it while it worked on another message. */
  isRead: boolean;
  agent: string;
  /** The number of the quote that is shown beside it; 0 for none. */
  source: number;
}

/** A message and the answer to it. */
export const Turn = memo(function Turn(props: TurnProps) {
  const { exchange, isLast } = props;
  const isSteered = exchange.state === "steered" || (exchange.state === "queued" && props.isRead);
  const isQueued = exchange.state === "queued" && !isSteered;
  if (exchange.state === "withdrawn") return null;
  return (
    <>
      <div className="asked">
        <Said exchange={exchange} isLast={isLast} />
        <MessageFiles exchange={exchange} />
        {isQueued && <Queued exchange={exchange} />}
        {isSteered && <p className="faint sent-note">{messages.reachedAgent}</p>}
      </div>
      {!isQueued && !isSteered && <AnswerView {...props} />}
    </>
  );
});

/** A message of more letters or lines than these is cut until somebody wants to read it. */
const MOST_LETTERS = 1500;
const MOST_LINES = 16;

/** A message; the last one can be changed, and is answered anew. */
function Said({ exchange, isLast }: { exchange: Exchange; isLast: boolean }) {
  const client = useQueryClient();
  const [draft, setDraft] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [wasLeft, setLeft] = useState(false);
  const leave = () => {
    setDraft(null);
    setLeft(true);
  };
  const { text } = exchange;
  const isLong = text.length > MOST_LETTERS || text.split("\n").length > MOST_LINES;
  const change = useMutation({
    mutationFn: (message: string) =>
      sendMessage({ message, conversation: exchange.conversation, instead_of: exchange.id }),
    onSuccess: () => setDraft(null),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ["conversation", exchange.conversation] }),
  });
  const isOver = !["working", "queued", "steered"].includes(exchange.state);
  if (draft !== null)
    return (
      <form
        className="said editing"
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.trim()) change.mutate(draft.trim());
        }}
      >
        <textarea
          className="in"
          aria-label={messages.changeMessage}
          dir="auto"
          autoFocus
          onKeyDown={(event) => {
            // While a word is composed, Escape is for the input method.
            if (event.key === "Escape" && !event.nativeEvent.isComposing) leave();
          }}
          rows={Math.min(8, Math.max(2, draft.split("\n").length))}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <Problem error={change.error} />
        <div className="acts">
          <button type="submit" className="btn primary sm" disabled={change.isPending}>
            {messages.send}
          </button>
          <button type="button" className="btn quiet sm" onClick={leave}>
            {messages.cancel}
          </button>
        </div>
      </form>
    );
  const said = (
    <div className="said-row">
      <p
        className={isLong && !isOpen ? "said is-cut" : "said"}
        title={formatFull(exchange.created_at)}
        dir="auto"
      >
        {text}
      </p>
      {isLast && isOver && (
        <button
          type="button"
          className="icon-btn small"
          aria-label={messages.changeMessage}
          autoFocus={wasLeft}
          onBlur={() => setLeft(false)}
          onClick={() => setDraft(exchange.text)}
        >
          <Pencil className="i s" aria-hidden="true" />
        </button>
      )}
    </div>
  );
  if (!isLong) return said;
  return (
    <>
      {said}
      <button
        type="button"
        className="btn quiet sm"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? messages.showLess : messages.showMessage}
      </button>
    </>
  );
}

function AnswerView({ exchange, answer, titles, isLast, agent, source }: TurnProps) {
  const cited = useCited(exchange, answer);
  const groups = useMemo(() => groupParts(answer?.parts ?? []), [answer?.parts]);
  const isWorking = exchange.state === "working";
  const error = answer?.error ?? readError(exchange);
  const last = answer?.parts.at(-1);
  // Its run is gone once a document that it read is deleted; the answer itself stays.
  const isWritten = answer?.parts.some((part) => part.kind === "text") === true;
  return (
    <article className="answer" aria-label={messages.answer} aria-busy={isWorking}>
      <Cites cited={cited}>
        <div className="by">
          <Logo />
          <b>{agent}</b>
          {answer && answer.plan.length > 0 && <span>{messages.madePlan(answer.plan.length)}</span>}
        </div>
        {answer && answer.plan.length > 0 && <Plan steps={answer.plan} message={exchange.id} />}
        {groups.map((group) =>
          group.kind === "calls" ? (
            <div key={group.key} className="stack tight">
              <CallGroup
                calls={group.calls}
                titles={titles}
                step={answer?.plan.find((step) => step.id === group.step)?.title}
                id={group.step ? anchorOf(exchange.id, group.step) : undefined}
              />
              <ApprovalCards ids={group.calls.flatMap((call) => call.approval || [])} />
            </div>
          ) : group.kind === "text" ? (
            <CitedText
              key={group.key}
              text={group.text}
              caret={isWorking && group.key === last?.key}
              cited={cited}
            />
          ) : group.kind === "question" ? (
            <QuestionCard
              key={group.key}
              question={group}
              path={`/conversations/${exchange.conversation}/questions`}
            />
          ) : group.detail ? (
            <details key={group.key} className="faint note">
              <summary>{group.text}</summary>
              <p className="pre">{group.detail}</p>
            </details>
          ) : (
            <p key={group.key} className="faint note">
              {group.text}
            </p>
          ),
        )}
        {!isWorking && !isWritten && exchange.answer && (
          <CitedText text={exchange.answer} caret={false} cited={cited} />
        )}
        <AnswerEnd exchange={exchange} />
        <Refs cited={cited} chosen={source} />
        {exchange.state === "failed" && (
          <div className="banner bad" role="alert">
            <MarkIcon mark="bad" />
            <span>
              {error?.message || messages.answerFailed}
              {error?.errorId && (
                <span className="mono faint"> {messages.errorId(error.errorId)}</span>
              )}
            </span>
            {isLast && <Again exchange={exchange} />}
          </div>
        )}
        {exchange.state === "cancelled" && <p className="faint">{messages.stopped}</p>}
      </Cites>
    </article>
  );
}

function Again({ exchange }: { exchange: Exchange }) {
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => sendMessage({ conversation: exchange.conversation, instead_of: exchange.id }),
    onSettled: () =>
      client.invalidateQueries({ queryKey: ["conversation", exchange.conversation] }),
  });
  return (
    <button
      type="button"
      className="btn sm"
      disabled={again.isPending}
      onClick={() => again.mutate()}
    >
      {messages.tryAgain}
    </button>
  );
}

type Group =
  | { kind: "calls"; key: string; step: string; calls: CallPart[] }
  | Exclude<Part, CallPart>;

/** Calls that follow each other stand in one box, and so do those of a step; a new turn after an
 * approval begins a new one, so that the question stands where it was asked. */
function groupParts(parts: readonly Part[]): Group[] {
  const groups: Group[] = [];
  for (const part of parts) {
    if (part.kind !== "call") {
      groups.push(part);
      continue;
    }
    const before = part.step
      ? groups.findLast((group) => group.kind === "calls" && group.step === part.step)
      : groups.at(-1);
    const isOpen = before?.kind === "calls" && before.step === part.step;
    const isSameTurn = before?.kind === "calls" && before.calls.at(-1)?.turn === part.turn;
    if (isOpen && (part.step || isSameTurn || !before.calls.some((call) => call.approval)))
      before.calls.push(part);
    else groups.push({ kind: "calls", key: part.key, step: part.step, calls: [part] });
  }
  return groups.filter((group) => group.kind !== "text" || group.text.trim() !== "");
}

function readError(exchange: Exchange): { message: string; errorId: string } | null {
  const said = exchange.error as Record<string, unknown> | null;
  return said
    ? { message: String(said.message ?? ""), errorId: String(said.error_id ?? "") }
    : null;
}
