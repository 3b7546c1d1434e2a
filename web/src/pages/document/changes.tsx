import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { EyeOff, Minus, PencilLine, Plus } from "lucide-react";
import { useMemo } from "react";
import { changesQuery, type Changes, type Passage, type Side } from "../../api/document";
import type { DocDetail } from "../../api/knowledge";
import { findDifference, type Words } from "../../parts/document/difference";
import { PlaceLink } from "../../parts/document/place_link";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { documentWords } from "../../words/document";
import { evidence } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";
import type { DocumentSearch } from "./document_page";

/** The revision of the last text: one that waits for its review counts. */
export function lastRevision(document: DocDetail): number {
  return document.state === "held" ? document.revision + 1 : document.revision;
}

/** What changed in a document between two of its texts: counts first, then the passages. */
export function ChangesView({ document }: { document: DocDetail }) {
  const search = useSearch({ strict: false }) as DocumentSearch;
  const since = Number(search.since) || undefined;
  const changes = useInfiniteQuery(changesQuery(document.base, document.id, since));
  const first = changes.data?.pages[0];
  if (changes.error)
    return (
      <Failure
        what={documentWords.changesFailed}
        missing={documentWords.noChanges}
        error={changes.error}
        retry={() => void changes.refetch()}
      />
    );
  if (!first) return <Skeleton rows={5} />;
  if (first.since === 0)
    return <Empty title={documentWords.firstText}>{documentWords.firstTextWhy}</Empty>;
  const passages = changes.data?.pages.flatMap((page) => page.passages) ?? [];
  return (
    <section className="card changes" aria-label={documentWords.changes}>
      <Counts changes={first} />
      {first.until > first.current_revision && (
        <p className="note quiet-row">{documentWords.waitsForReview}</p>
      )}
      {passages.length === 0 && <p className="dim quiet-row">{documentWords.nothingChangedWhy}</p>}
      <ol className="passages">
        {passages.map((item) => (
          <PassageView
            key={`${item.before?.start} ${item.after?.start}`}
            passage={item}
            changes={first}
            document={document}
          />
        ))}
      </ol>
      {changes.hasNextPage && (
        <div className="windowed">
          <button
            type="button"
            className="btn sm"
            disabled={changes.isFetchingNextPage}
            onClick={() => void changes.fetchNextPage()}
          >
            {knowledge.showMore}
          </button>
        </div>
      )}
    </section>
  );
}

function Counts({ changes }: { changes: Changes }) {
  const navigate = useNavigate();
  const count = changes.added + changes.removed + changes.changed;
  const earlier = Array.from({ length: changes.until - 1 }, (_, at) => changes.until - 1 - at);
  return (
    <header>
      <div>
        <h2>
          {count === 0
            ? documentWords.nothingChanged
            : changes.pages > 0
              ? documentWords.pagesChanged(changes.changed_pages, changes.pages)
              : documentWords.passagesChanged(count)}
        </h2>
        {count > 0 && (
          <p className="dim num">
            {documentWords.counts(changes.changed, changes.added, changes.removed)}
          </p>
        )}
      </div>
      <label className="push dim">
        {documentWords.comparedWith}{" "}
        <select
          className="pick"
          value={changes.since}
          onChange={(event) =>
            void navigate({ to: ".", search: { tab: "changes", since: event.target.value } })
          }
        >
          {earlier.slice(0, MOST_TEXTS).map((revision) => (
            <option key={revision} value={revision}>
              {documentWords.textOf(revision)}
            </option>
          ))}
        </select>
      </label>
    </header>
  );
}

const MOST_TEXTS = 50;
const ICONS = { added: Plus, removed: Minus, changed: PencilLine };

interface PassageProps {
  passage: Passage;
  changes: Changes;
  document: DocDetail;
}

function PassageView({ passage, changes, document }: PassageProps) {
  const { before, after, kind } = passage;
  const Icon = ICONS[kind];
  const place = after ?? before;
  const words = useMemo(
    () => findDifference(before?.text ?? "", after?.text ?? ""),
    [before?.text, after?.text],
  );
  const link = (side: Side, revision: number) => ({
    ...{ base: document.base, document: document.id, page: side.page },
    ...{ start: side.start, end: side.end, revision },
  });
  return (
    <li className={kind}>
      <p className="line">
        <span className="state">
          <Icon className="i s" aria-hidden="true" /> {documentWords.kinds[kind]}
        </span>
        {place && (
          <PlaceLink
            className="link num"
            place={link(place, after ? changes.until : changes.since)}
          >
            {place.page > 0 ? evidence.openPage(place.page) : evidence.showInText}
          </PlaceLink>
        )}
      </p>
      <div className="versions">
        {before && (
          <SideView side={before} word={documentWords.before} words={words.before} isOld />
        )}
        {after && <SideView side={after} word={documentWords.now} words={words.after} />}
      </div>
    </li>
  );
}

interface SideProps {
  side: Side;
  word: string;
  words: readonly Words[];
  isOld?: boolean;
}

/** One side of a passage as text; what only this side says is struck out, or underlined. */
function SideView({ side, word, words, isOld = false }: SideProps) {
  const { text, contains } = side;
  const isOdd = contains.length > 0;
  return (
    <div className={isOdd ? "version odd-version" : "version"}>
      <p className="mini">{word}</p>
      {isOdd && (
        <p className="odd">
          <EyeOff className="i s" aria-hidden="true" />{" "}
          {contains.map((kind) => documentWords.contains[kind] ?? kind).join(", ")}
        </p>
      )}
      <p className="said-here">
        {words.map((run, index) => {
          if (!run.isOwn) return <span key={index}>{run.text}</span>;
          const said = run.text.trimEnd();
          return (
            <span key={index}>
              {isOld ? <del>{said}</del> : <ins>{said}</ins>}
              {run.text.slice(said.length)}
            </span>
          );
        })}
      </p>
      {side.end - side.start > [...text].length && <p className="hint">{documentWords.isCut}</p>}
    </div>
  );
}
