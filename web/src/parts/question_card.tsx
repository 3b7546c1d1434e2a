import { useMutation } from "@tanstack/react-query";
import { ExternalLink, TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { send } from "../api/client";
import { ApiError } from "../api/errors";
import type { QuestionPart } from "../stream/answer_parts";
import { formatDuration } from "../words/format";
import { messages } from "../words/messages";
import { questionWords, whoAsks } from "../words/questions";
import { Confirm } from "./confirm";
import { Arguments } from "./decision";
import { MarkIcon } from "./marks";
import { labelFields, readPage, startAnswer } from "./question_form";
import { SchemaForm } from "./schema_form";
import { Problem } from "./states";

interface QuestionCardProps {
  question: QuestionPart;
  /** Where its answer is sent: `/conversations/c_1/questions`. */
  path: string;
  onAnswer?: () => void;
}

/** What a tool asks, and the answer: foreign text that says whose it is. */
export function QuestionCard({ question, path, onAnswer }: QuestionCardProps) {
  if (question.state !== "open") return <SettledLine question={question} />;
  return <OpenCard question={question} path={path} onAnswer={onAnswer} />;
}

function OpenCard({ question, path, onAnswer }: QuestionCardProps) {
  const [draft, setDraft] = useState<unknown>(() => startAnswer(question.schema));
  const answer = useMutation({
    mutationFn: (body: Record<string, unknown>) =>
      send("POST", `${path}/${encodeURIComponent(question.id)}`, body),
    onSettled: onAnswer,
  });
  const decline = () => answer.mutate({ action: "decline" });
  const isBusy = answer.isPending || answer.isSuccess;
  const left = question.expiresAt * 1000 - Date.now();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    answer.mutate({ action: "accept", content: draft });
  };
  return (
    <section
      className="approve question"
      aria-label={questionWords.label}
      data-question={question.id}
    >
      <header>
        <MarkIcon mark="wait" />
        <span>
          {whoAsks(question.source, question.sourceKind, question.tool)}
          {question.source && <code>{questionWords.byTool(question.tool)}</code>}
        </span>
        {left > 0 && <span className="time">{messages.expiresIn(formatDuration(left))}</span>}
      </header>
      <form className="in-card" onSubmit={onSubmit}>
        <blockquote className="foreign">{question.text}</blockquote>
        {question.url === "" && question.schema && (
          <SchemaForm
            schema={labelFields(question.schema)}
            value={draft}
            onChange={setDraft}
            problems={answer.error instanceof ApiError ? answer.error.problems : []}
          />
        )}
        <p className="note">
          <TriangleAlert className="i s" aria-hidden="true" />
          <span>{question.url ? questionWords.pageWarning : questionWords.warning}</span>
        </p>
        <Problem error={answer.error} />
        <div className="acts">
          {question.url ? (
            <OpenPage
              url={question.url}
              isBusy={isBusy}
              onOpen={() => answer.mutate({ action: "accept" })}
            />
          ) : (
            <button type="submit" className="btn primary" disabled={isBusy}>
              {questionWords.answer}
            </button>
          )}
          <button type="button" className="btn" disabled={isBusy} onClick={decline}>
            {questionWords.decline}
          </button>
        </div>
      </form>
    </section>
  );
}

/** A page that a tool asks to open: shown whole, and opened only by the person. */
function OpenPage({ url, isBusy, onOpen }: { url: string; isBusy: boolean; onOpen: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const page = readPage(url);
  if (!page) return <p className="bad">{questionWords.noAddress}</p>;
  const open = () => {
    window.open(page.href, "_blank", "noopener,noreferrer");
    setAsking(false);
    onOpen();
  };
  return (
    <>
      <p className="address">
        <span className="faint">{questionWords.address}</span> <code>{page.href}</code>
      </p>
      <button
        type="button"
        className="btn primary"
        disabled={isBusy}
        onClick={() => setAsking(true)}
      >
        <ExternalLink className="i s" aria-hidden="true" /> {questionWords.openPage}
      </button>
      {isAsking && (
        <Confirm
          title={questionWords.openTitle(page.host)}
          what={page.href}
          action={questionWords.openNow}
          error={null}
          isPending={false}
          onConfirm={open}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** A question that is settled: who asked, what was asked, and how it ended. */
function SettledLine({ question }: { question: QuestionPart }) {
  const isOpened = question.state === "accepted" && question.url !== "";
  const state = question.state as Exclude<QuestionPart["state"], "open">;
  return (
    <div className="question settled">
      <p className="faint">
        {whoAsks(question.source, question.sourceKind, question.tool)}:{" "}
        <span className="foreign">{question.text}</span>
      </p>
      <p className="dim">{isOpened ? questionWords.opened : questionWords[state]}</p>
      {question.content && <Arguments value={question.content} />}
    </div>
  );
}
