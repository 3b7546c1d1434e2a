import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Base, type Doc, documentsQuery, STATES, type StateFilter } from "../../api/knowledge";
import { MarkIcon } from "../../parts/marks";
import { Failure, Skeleton } from "../../parts/states";
import { advanceBatch, groupOf, NO_BATCH } from "../../stream/base_events";
import { useBaseUploads } from "../../stream/use_base_uploads";
import { knowledge } from "../../words/knowledge";
import { messages } from "../../words/messages";
import { DocumentRow } from "./document_row";
import type { KnowledgeSearch } from "./knowledge_page";
import { ReplaceAll } from "./replace_dialog";
import { UploadRow } from "./upload_row";

/** The documents of a base, the worst first, with what is on its way above those that are ready. */
export function Documents({ base, count }: { base: Base; count: number }) {
  const search = useSearch({ strict: false }) as KnowledgeSearch;
  const state = STATES.find((item) => item === search.state);
  const list = useInfiniteQuery(documentsQuery(base.id, state, search.q ?? ""));
  const uploads = useBaseUploads(base.id);
  const documents = list.data?.pages.flatMap((page) => page.documents) ?? [];
  if (count === 0 && uploads.length === 0 && documents.length === 0) return null;
  // An upload stands where it will be a document: behind what needs somebody.
  const first = documents.findIndex((item) => !["failed", "held"].includes(groupOf(item)));
  const at = first < 0 ? documents.length : first;
  const row = (item: Doc) => <DocumentRow key={item.id} item={item} base={base} />;
  return (
    <div className="stack tight">
      {count > 0 && <Filters base={base} state={state} search={search} />}
      <ReplaceAll uploads={uploads} />
      {list.isPending && <Skeleton rows={4} />}
      {list.error && (
        <Failure
          what={knowledge.documentsFailed}
          error={list.error}
          retry={() => void list.refetch()}
        />
      )}
      {(list.data || uploads.length > 0) && (
        <section className="card" aria-label={knowledge.docs}>
          <TakingIn documents={documents} count={base.documents.working} />
          {documents.length === 0 && uploads.length === 0 ? (
            <p className="quiet-row dim">{knowledge.noneOfState}</p>
          ) : (
            <table className="tbl docs">
              <thead>
                <tr>
                  <th scope="col">{knowledge.document}</th>
                  <th scope="col">{knowledge.state}</th>
                  <th scope="col" className="r">
                    {knowledge.pieces}
                  </th>
                  <th scope="col">{knowledge.addedSeenBy}</th>
                  <th scope="col">
                    <span className="sr">{knowledge.action}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {documents.slice(0, at).map(row)}
                {uploads.map((item) => (
                  <UploadRow key={item.upload || item.id} upload={item} />
                ))}
                {documents.slice(at).map(row)}
              </tbody>
            </table>
          )}
          {list.hasNextPage && (
            <div className="card-foot">
              <button type="button" className="btn quiet" onClick={() => void list.fetchNextPage()}>
                {knowledge.showMore}
              </button>
            </div>
          )}
        </section>
      )}
    </div>
  );
}

interface FiltersProps {
  base: Base;
  state: StateFilter | undefined;
  search: KnowledgeSearch;
}

function Filters({ base, state, search }: FiltersProps) {
  const navigate = useNavigate();
  const { ready, working, held, failed } = base.documents;
  const chips: [StateFilter | undefined, string, number][] = [
    [undefined, messages.all, 1],
    ["failed", knowledge.failedTag(failed), failed],
    ["held", knowledge.heldTag(held), held],
    ["working", knowledge.underWay(working), working],
    ["ready", knowledge.readyCount(ready), ready],
  ];
  return (
    <div className="filters">
      {chips
        .filter(([value, , number]) => number > 0 || value === state)
        .map(([value, word]) => (
          <button
            key={value ?? "all"}
            type="button"
            className="chip"
            aria-pressed={state === value}
            onClick={() =>
              void navigate({
                to: "/knowledge/$base",
                params: { base: base.id },
                search: { ...search, state: value },
              })
            }
          >
            {word}
          </button>
        ))}
    </div>
  );
}

interface TakingInProps {
  /** Those that are listed, which may be fewer than all. */
  documents: readonly Doc[];
  /** How many are under way. */
  count: number;
}

/** All that is taken in now, together: those that became ready since it began count as done. */
function TakingIn({ documents, count }: TakingInProps) {
  const [shown, setShown] = useState(NO_BATCH);
  const batch = advanceBatch(shown, documents, count);
  if (batch.most !== shown.most || batch.share !== shown.share) setShown(batch);
  if (count === 0) return null;
  const share = Math.floor(100 * batch.share);
  return (
    <div className="taking" role="group" aria-label={knowledge.takenIn}>
      <div className="line">
        <span className="run">
          <MarkIcon mark="run" />
        </span>
        <b>{knowledge.takingIn(count)}</b>
        <span className="dim num">{share}%</span>
        <span className="faint leave">{knowledge.youCanLeave}</span>
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label={knowledge.takenIn}
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${share}%` }} />
      </div>
    </div>
  );
}
