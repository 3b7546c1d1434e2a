import { ChevronRight } from "lucide-react";
import { memo, useEffect, useState } from "react";
import type { CallPart } from "../stream/answers";
import { foldCalls } from "../stream/fold_calls";
import { reasonOf } from "../words/errors";
import { describeCall, formatDuration } from "../words/format";
import { messages } from "../words/messages";
import { AccountNote } from "./account_note";
import { Json, layOut } from "./json";
import { classOf, type Mark, MarkIcon, markOf } from "./marks";

interface CallCardProps {
  call: CallPart;
  title: string;
}

/** One call: what it does, its name and its time; it opens to arguments and result. */
export const CallCard = memo(function CallCard({ call, title }: CallCardProps) {
  const [mark, word] = markOf(call.state);
  const isOpenAtFirst =
    call.state === "failed" || call.state === "unknown" || call.state === "denied";
  const [isOpen, setOpen] = useState<boolean | null>(null);
  return (
    <details
      className="call"
      open={isOpen ?? isOpenAtFirst}
      onToggle={(event) => {
        const now = event.currentTarget.open;
        if (now !== (isOpen ?? isOpenAtFirst)) setOpen(now);
      }}
    >
      <summary>
        <span className={classOf(mark)}>
          <MarkIcon mark={mark} plain />
        </span>
        <span className="sr">{word}: </span>
        <span className="what">{describeCall(call.tool, title, call.arguments)}</span>
        <span className="mono cut">{call.tool}</span>
        <CallTime call={call} mark={mark} />
        <ChevronRight className="i s chev" aria-hidden="true" />
        {mark === "run" && <CallNote call={call} />}
      </summary>
      {(isOpen ?? isOpenAtFirst) && <CallBody call={call} />}
    </details>
  );
});

function CallTime({ call, mark }: { call: CallPart; mark: Mark }) {
  const now = useNow(mark === "run");
  const passed =
    mark === "run" && call.startedAt > 0 ? Math.max(0, now - call.startedAt * 1000) : 0;
  const text =
    mark === "run"
      ? passed > 1000
        ? formatDuration(passed)
        : ""
      : mark === "wait"
        ? messages.waitsForYou.toLowerCase()
        : mark === "off"
          ? call.state
          : call.durationMs > 0
            ? formatDuration(call.durationMs)
            : "";
  return <span className="time num">{text}</span>;
}

/** What a running call says: which try it is, and its own words about its progress. */
function CallNote({ call: { retry, progress } }: { call: CallPart }) {
  const now = useNow(retry !== null);
  if (!retry && !progress) return null;
  const left = retry ? retry.at - now / 1000 : 0;
  return (
    <span className="call-note num">
      {retry && (
        <>
          {messages.tryOf(retry.attempt, retry.most, reasonOf(retry.errorCode))}
          {left > 0.5 && messages.nextIn(formatDuration(Math.ceil(left) * 1000))}
        </>
      )}
      {retry && progress && " · "}
      {progress}
    </span>
  );
}

function CallBody({ call }: { call: CallPart }) {
  const failed = call.state === "failed" || call.state === "denied" || call.state === "unknown";
  const isStopped = call.state === "cancelled";
  const hasArguments = Object.keys(call.arguments ?? {}).length > 0;
  return (
    <div className="body">
      {failed && (
        <p>
          {call.state === "unknown" ? `${messages.outcomeUnknown} ` : ""}
          {call.result || messages.noReason}
        </p>
      )}
      {isStopped && <p>{messages.callStopped}</p>}
      <div className="io">
        {hasArguments && (
          <figure>
            <figcaption>{messages.arguments}</figcaption>
            <Json value={call.arguments} />
          </figure>
        )}
        {!failed && !isStopped && (
          <figure>
            <figcaption>{messages.result}</figcaption>
            <Json value={call.result ? layOut(call.result) : "…"} />
          </figure>
        )}
      </div>
      <AccountNote label={call.account} />
      {call.errorCode && <p className="faint mono">{call.errorCode}</p>}
    </div>
  );
}

/** Milliseconds since 1970, renewed every 400 ms while something runs. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 400);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

interface CallGroupProps {
  calls: CallPart[];
  titles: ReadonlyMap<string, string>;
  /** The title of the step of a plan that made these calls. */
  step?: string;
  id?: string;
}

/** Calls that follow each other; more than five that are done in a row fold into one line. */
export function CallGroup({ calls, titles, step, id }: CallGroupProps) {
  const [opened, setOpened] = useState<readonly string[]>([]);
  const card = (call: CallPart) => (
    <CallCard key={call.key} call={call} title={titles.get(call.tool) ?? ""} />
  );
  return (
    <section className="calls" aria-label={step ? messages.callsOf(step) : messages.calls} id={id}>
      {step && <h2 className="of-step">{step}</h2>}
      {foldCalls(calls).map(({ key, calls: row, isFolded }) =>
        isFolded && !opened.includes(key) ? (
          <FoldedCalls key={key} calls={row} onOpen={() => setOpened([...opened, key])} />
        ) : (
          row.map(card)
        ),
      )}
    </section>
  );
}

function FoldedCalls({ calls, onOpen }: { calls: readonly CallPart[]; onOpen: () => void }) {
  const spent = calls.reduce((sum, call) => sum + call.durationMs, 0);
  return (
    <button type="button" className="call-row fold" onClick={onOpen}>
      <span className="ok">
        <MarkIcon mark="ok" plain />
      </span>
      <span className="what">{messages.foldedCalls(calls.length, formatDuration(spent))}</span>
      <span className="time">{messages.showThem}</span>
      <ChevronRight className="i s chev" aria-hidden="true" />
    </button>
  );
}
