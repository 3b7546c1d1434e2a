import { useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleHelp, ListTree, MessageSquare } from "lucide-react";
import { useState } from "react";
import { type CitingAnswer, citingQuery } from "../../api/document";
import { documentWords } from "../../words/document";
import { formatFull, formatWhen } from "../../words/format";
import { Failure } from "../states";

const MOST = 3;

type MoreOf = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;

/** The answers of the caller that cite a document, each with the way to it. */
export function CitedIn({ base, document }: { base: string; document: string }) {
  const answers = useInfiniteQuery(citingQuery(base, document));
  const [isWhole, setWhole] = useState(false);
  if (answers.error)
    return (
      <Failure
        what={documentWords.answersFailed}
        error={answers.error}
        retry={() => void answers.refetch()}
      />
    );
  if (!answers.data) return null;
  const found = answers.data.pages.flatMap((page) => page.answers);
  const { length } = found;
  const { hasNextPage } = answers;
  const count = documentWords.citedIn(length, hasNextPage);
  return (
    <section aria-label={count}>
      <p className="mini">{length > 0 || hasNextPage ? count : documentWords.citedNowhere}</p>
      <CitingList base={base} answers={isWhole ? found : found.slice(0, MOST)} />
      {length > MOST && !isWhole ? (
        <button type="button" className="as-link link more-link" onClick={() => setWhole(true)}>
          {hasNextPage ? documentWords.showMore : documentWords.showAll(length)}
        </button>
      ) : (
        <MoreAnswers list={answers} />
      )}
    </section>
  );
}

/** Reads the next page, where there is one. */
export function MoreAnswers({ list }: { list: MoreOf }) {
  if (!list.hasNextPage) return null;
  return (
    <button
      type="button"
      className="as-link link more-link"
      disabled={list.isFetchingNextPage}
      onClick={() => void list.fetchNextPage()}
    >
      {documentWords.showMore}
    </button>
  );
}

/** Answers by their titles, the last first. */
export function CitingList({ base, answers }: { base: string; answers: readonly CitingAnswer[] }) {
  if (answers.length === 0) return null;
  return (
    <ul className="plist">
      {answers.map((item) => (
        <li key={`${item.id} ${item.exchange} ${item.at}`}>
          <AnswerLink base={base} answer={item} />
        </li>
      ))}
    </ul>
  );
}

function AnswerLink({ base, answer }: { base: string; answer: CitingAnswer }) {
  const Icon = { conversation: MessageSquare, ask: CircleHelp, run: ListTree }[answer.kind];
  const inside = (
    <>
      <Icon className="i s" aria-hidden="true" />
      <b className="cut" title={answer.question}>
        {answer.title}
      </b>
      <small className="num" title={formatFull(answer.at)}>
        {formatWhen(answer.at)}
      </small>
    </>
  );
  const className = "piece chatref";
  if (answer.kind === "ask")
    return (
      <Link
        className={className}
        to="/knowledge/$base/ask/$call"
        params={{ base, call: answer.id }}
      >
        {inside}
      </Link>
    );
  if (answer.kind === "run")
    return (
      <Link className={className} to="/runs/$id" params={{ id: answer.id }}>
        {inside}
      </Link>
    );
  return (
    <Link
      className={className}
      to="/chat/$id"
      params={{ id: answer.id }}
      search={{ source: String(answer.numbers[0] ?? ""), of: answer.exchange }}
    >
      {inside}
    </Link>
  );
}
