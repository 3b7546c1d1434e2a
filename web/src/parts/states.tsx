import { CircleX, RotateCw } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError, Unreachable } from "../api/errors";
import type { Connection } from "../stream/follow";
import { formatClock } from "../words/format";
import { messages } from "../words/messages";

/** A grey picture of rows to come; nothing for the first 150 ms. */
export function Skeleton({ rows = 4 }: { rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div className="card sk" role="status" aria-label={messages.loading}>
      {Array.from({ length: rows * 2 }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  pegs?: boolean;
}

const BITS = ["", "p", "", "", "", "", "", "p", "", "", "", "k", "", "", "p"];

/** A place where nothing is: what this is, and one thing to do. */
export function Empty({ title, children, actions, pegs = false }: EmptyProps) {
  return (
    <div className="card empty">
      {pegs && (
        <span className="bits" aria-hidden="true">
          {BITS.map((kind, index) => (
            <i key={index} className={kind} />
          ))}
        </span>
      )}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className="acts">{actions}</div>}
    </div>
  );
}

interface FailureProps {
  /** "The runs could not be loaded" */
  what: string;
  error: Error;
  retry?: () => void;
  /** Whether it is tried again now. */
  isTrying?: boolean;
  /** Shown instead of a 404: "There is no such tool". */
  missing?: string;
}

/** What could not be loaded, why, and what can be done. */
export function Failure({ what, error, retry, isTrying = false, missing }: FailureProps) {
  const seconds = useCountdown(error instanceof ApiError ? error.retryAfter : 0);
  if (error instanceof ApiError && error.status === 404 && missing)
    return <Empty title={missing}>{messages.notForYou}</Empty>;
  if (error instanceof ApiError && error.status === 403)
    return (
      <Empty title={messages.mayNot}>
        {error.missingScopes.length > 0 ? (
          <>
            {messages.lacksScope} <code>{error.missingScopes.join(", ")}</code>.{" "}
            {messages.whoGivesIt}
          </>
        ) : (
          error.message
        )}
      </Empty>
    );
  return (
    <Empty
      title={what}
      actions={
        retry && (
          <button type="button" className="btn" onClick={retry} disabled={seconds > 0 || isTrying}>
            <RotateCw className="i s" />{" "}
            {seconds > 0 ? messages.tryAgainIn(seconds) : messages.tryAgain}
          </button>
        )
      }
    >
      {error instanceof Unreachable ? messages.unreachable : error.message}
      {error instanceof ApiError && error.errorId && (
        <>
          <br />
          <span className="mono faint">{messages.errorId(error.errorId)}</span>
        </>
      )}
    </Empty>
  );
}

/** The seconds that are left of a wait; another wait begins anew. */
export function useCountdown(from: number): number {
  const [left, setLeft] = useState(Math.ceil(from));
  useEffect(() => setLeft(Math.ceil(from)), [from]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return left;
}

/** Why a change failed, beside the control that asked for it. */
export function Problem({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <p className="err" role="alert">
      <CircleX className="i s" aria-hidden="true" />
      <span>
        {error.message}
        {error instanceof ApiError && error.errorId && ` (${messages.errorId(error.errorId)})`}
      </span>
    </p>
  );
}

/** Says that the connection is lost, from the first second on; after 30 s in red. */
export function ConnectionBanner({ connection }: { connection: Connection }) {
  if (connection.state !== "waiting") return null;
  const isAway = Date.now() - connection.since > 30_000;
  const reconnect = () => window.dispatchEvent(new Event("reconnect-now"));
  return isAway ? (
    <div className="banner bad" role="alert">
      <CircleX className="i" aria-hidden="true" />
      {messages.away(formatClock(connection.since / 1000))}
      <button type="button" className="btn sm" onClick={reconnect}>
        {messages.tryAgain}
      </button>
    </div>
  ) : (
    <div className="banner" role="status">
      {messages.lost(connection.seconds)}
      <button type="button" className="btn sm" onClick={reconnect}>
        {messages.reconnectNow}
      </button>
    </div>
  );
}
