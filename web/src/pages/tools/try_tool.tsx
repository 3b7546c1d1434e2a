import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { makeError, request, type Schema } from "../../api/client";
import { ApiError } from "../../api/errors";
import { newKey } from "../../api/new_key";
import type { ToolDetail } from "../../api/queries";
import { AccountNote } from "../../parts/account_note";
import { ApprovalCard } from "../../parts/approval_card";
import { Json } from "../../parts/json";
import { MarkIcon, StateMark } from "../../parts/marks";
import { SchemaForm } from "../../parts/schema_form";
import { formatDuration } from "../../words/format";
import { messages } from "../../words/messages";
import { toolWords } from "../../words/tools";

type Result = Schema<"ExecuteAnswer">;

/** A form for the arguments of a tool, and beside it what a call gave. */
export function TryTool({ tool }: { tool: ToolDetail }) {
  const client = useQueryClient();
  const [value, setValue] = useState<unknown>({});
  const [isJson, setJson] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const [wasAsked, setWasAsked] = useState(false);
  // Made with the form, so that a second click on a slow line is the same call.
  const [key, setKey] = useState(newKey);
  const run = useMutation({
    mutationFn: async (): Promise<Result> => {
      const response = await request("/execute", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": key },
        body: JSON.stringify({ tool_id: tool.name, input: value ?? {} }),
      });
      const body: unknown = await response.json().catch(() => null);
      if (!response.ok) throw makeError(response, body);
      return body as Result;
    },
    onSettled: () => {
      setKey(newKey());
      void client.invalidateQueries({ queryKey: ["calls"] });
      void client.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
  const isWrite = tool.effect !== "read";
  const start = () => {
    if (isWrite && !isAsked) {
      setAsked(true);
      setWasAsked(true);
      return;
    }
    setAsked(false);
    run.mutate();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start();
    }
  };
  const fields = Object.keys(tool.input_schema.properties ?? {});
  const problems = run.error instanceof ApiError ? run.error.problems : [];
  return (
    <div className="try">
      <form
        className="card form"
        aria-label={messages.arguments}
        onKeyDown={onKey}
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <SchemaForm
          key={String(isJson)}
          schema={isJson ? {} : tool.input_schema}
          value={value}
          onChange={setValue}
          problems={problems}
        />
        <div className="acts">
          {isAsked ? (
            <>
              <span className="ask-first">{toolWords.runForReal}</span>
              <button type="submit" className="btn primary">
                {toolWords.run}
              </button>
              <button type="button" className="btn quiet" autoFocus onClick={() => setAsked(false)}>
                {messages.cancel}
              </button>
            </>
          ) : (
            <>
              <button
                type="submit"
                className="btn primary"
                disabled={run.isPending || Boolean(tool.unavailable)}
                autoFocus={wasAsked}
              >
                {toolWords.run} <kbd className="keys">Ctrl ↵</kbd>
              </button>
              <button type="button" className="btn quiet" onClick={() => setJson(!isJson)}>
                {isJson ? toolWords.asForm : toolWords.asJson}
              </button>
            </>
          )}
        </div>
      </form>
      <div aria-live="polite">
        {run.isIdle && <p className="faint nothing">{toolWords.resultHere}</p>}
        {run.isPending && (
          <section className="card result" aria-label={messages.result}>
            <div className="top">
              <StateMark state="running" />
            </div>
          </section>
        )}
        {run.data && !run.isPending && <Outcome result={run.data} />}
        {run.error && !run.isPending && <Refusal error={run.error} fields={isJson ? [] : fields} />}
      </div>
    </div>
  );
}

const ROWS = 50;

function Outcome({ result }: { result: Result }) {
  const { metadata, output } = result;
  const isLong = Array.isArray(output) && output.length > ROWS;
  return (
    <section className="card result" aria-label={messages.result}>
      <div className="top">
        <StateMark state={result.status} />
        <span className="time num">
          {formatDuration(result.execution_time_ms)}
          {metadata.attempts > 1 && toolWords.tries(metadata.attempts)}
          {metadata.cached && toolWords.fromCache}
        </span>
      </div>
      <div className="pad">
        <Json value={isLong ? output.slice(0, ROWS) : output} />
        <AccountNote label={metadata.account ?? ""} />
        {(isLong || metadata.truncated) && (
          <p className="note">
            {isLong && toolWords.firstRows(ROWS, output.length)}
            {metadata.truncated && toolWords.cut(metadata.total_bytes)}
          </p>
        )}
      </div>
    </section>
  );
}

function Refusal({ error, fields }: { error: Error; fields: readonly string[] }) {
  const approval = error instanceof ApiError ? error.approvalId : "";
  if (approval) return <ApprovalCard id={approval} />;
  const isDenied = error instanceof ApiError && error.status === 403;
  // Problems that stand at their fields already are not said again.
  const isAtFields =
    error instanceof ApiError &&
    error.problems.length > 0 &&
    error.problems.every(({ path }) => fields.includes(path));
  return (
    <section className="card result" aria-label={messages.result}>
      <div className="top">
        <span className={`state ${isDenied ? "off" : "bad"}`}>
          <MarkIcon mark={isDenied ? "off" : "bad"} small />{" "}
          {isDenied ? messages.denied : messages.failed}
        </span>
        {error instanceof ApiError && <span className="time mono">{error.code}</span>}
      </div>
      <div className="pad">
        <p className="pre">{isAtFields ? toolWords.seeFields : error.message}</p>
        {error instanceof ApiError && error.errorId && (
          <p className="faint mono">{messages.errorId(error.errorId)}</p>
        )}
      </div>
    </section>
  );
}
