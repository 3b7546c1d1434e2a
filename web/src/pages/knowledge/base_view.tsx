import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronLeft, Info, RotateCw } from "lucide-react";
import { type Base, baseQuery, deleteBase, refreshBase } from "../../api/knowledge";
import { hasAccount } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { CopyName } from "../../parts/copy_name";
import { usePageTitle } from "../../parts/page_title";
import { ConnectionBanner, Failure, Problem, Skeleton } from "../../parts/states";
import { useBaseEvents } from "../../stream/use_base_events";
import { describeViewers, knowledge } from "../../words/knowledge";
import { BaseSettings, BaseSharing } from "./base_settings";
import { Documents } from "./documents";
import { DropZone } from "./drop_zone";
import { Gatherings } from "./gatherings";
import type { KnowledgeSearch } from "./knowledge_page";

/** One base: what is in it, how far it is, who sees it. */
export function BaseView({ id }: { id: string }) {
  const base = useQuery(baseQuery(id));
  const connection = useBaseEvents(id);
  const title = base.data ? base.data.title || base.data.name : "";
  usePageTitle(title || knowledge.knowledge);
  return (
    <section className="detail" aria-label={title || knowledge.base}>
      <div className="in-col">
        <Link className="back" to="/knowledge">
          <ChevronLeft className="i" aria-hidden="true" /> {knowledge.knowledge}
        </Link>
        {base.isPending && <Skeleton rows={5} />}
        {base.error && (
          <Failure
            what={knowledge.baseFailed}
            missing={knowledge.noBase}
            error={base.error}
            retry={() => void base.refetch()}
          />
        )}
        <ConnectionBanner connection={connection} />
        {base.data && <View base={base.data} title={title} />}
      </div>
    </section>
  );
}

function View({ base, title }: { base: Base; title: string }) {
  const { tab = "" } = useSearch({ strict: false }) as KnowledgeSearch;
  const { ready, working, held, failed } = base.documents;
  const count = ready + working + held + failed;
  const client = useQueryClient();
  const refresh = useMutation({
    mutationFn: () => refreshBase(base.id),
    onSuccess: () => client.invalidateQueries({ queryKey: ["base", base.id] }),
  });
  return (
    <>
      <div className="title">
        <div className="title-row">
          <div>
            <h1>{title}</h1>
            <CopyName name={base.name} />
          </div>
          <div className="acts">
            {base.may_change && !base.is_being_deleted && (count > 0 || base.is_declared) && (
              <button
                type="button"
                className="btn"
                disabled={refresh.isPending}
                onClick={() => refresh.mutate()}
              >
                <RotateCw className="i s" aria-hidden="true" /> {knowledge.takeInChanged}
              </button>
            )}
          </div>
        </div>
        {base.description && <p className="desc">{base.description}</p>}
        <div className="tags">
          <span className="tag">{describeViewers(base)}</span>
          {base.pieces > 0 && <span className="tag">{knowledge.piecesReady(base.pieces)}</span>}
          {count > 0 && (
            <span className="tag">
              {base.stages.includes("meaning") ? knowledge.byBoth : knowledge.byWords}
            </span>
          )}
        </div>
      </div>
      <Tabs base={base} tab={tab} count={count} />
      <Problem error={refresh.error} />
      {refresh.data && !refresh.data.run && (
        <p className="note" role="status">
          {knowledge.nothingToLook}
        </p>
      )}
      {base.is_being_deleted && <DeletionBanner base={base} />}
      <Gatherings base={base} />
      {tab === "settings" && base.may_change ? (
        <BaseSettings key={base.revision} base={base} />
      ) : tab === "sharing" && base.may_change ? (
        <BaseSharing base={base} />
      ) : (
        <>
          <ModelBanner base={base} count={count} />
          {base.may_change && !base.is_being_deleted && (
            <DropZone base={base} title={title} isEmpty={count === 0} />
          )}
          <Documents base={base} count={count} />
        </>
      )}
    </>
  );
}

function Tabs({ base, tab, count }: { base: Base; tab: string; count: number }) {
  const { data: session } = useQuery(sessionQuery);
  const link = (value: string, word: string, number?: number) => (
    <Link
      to="/knowledge/$base"
      params={{ base: base.id }}
      search={{ tab: value || undefined }}
      activeOptions={{ exact: true }}
      aria-current={tab === value ? "page" : undefined}
    >
      {word}
      {number !== undefined && <span className="n">{number}</span>}
    </Link>
  );
  return (
    <nav className="tabs" aria-label={knowledge.aboutBase}>
      {link("", knowledge.docs, count)}
      <Link to="/knowledge/$base/ask" params={{ base: base.id }}>
        {knowledge.ask}
      </Link>
      {base.may_change &&
        !base.is_declared &&
        hasAccount(session) &&
        link("sharing", knowledge.whoMaySee)}
      {base.may_change && !base.is_declared && link("settings", knowledge.settings)}
    </nav>
  );
}

/** Says that a deletion has not ended, and tries it again at once. */
function DeletionBanner({ base }: { base: Base }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteBase(base.id),
    onSuccess: async () => {
      void client.invalidateQueries({ queryKey: ["bases"] });
      client.removeQueries({ queryKey: ["base", base.id] });
      await navigate({ to: "/knowledge" });
    },
  });
  return (
    <>
      <div className="banner" role="status">
        <Info className="i faint" aria-hidden="true" />
        <span>
          <b>{knowledge.isBeingDeleted}</b> {knowledge.isBeingDeletedWhy}
        </span>
        {base.may_change && (
          <button
            type="button"
            className="btn"
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
          >
            {remove.isPending ? knowledge.deleting : knowledge.deleteNow}
          </button>
        )}
      </div>
      <Problem error={remove.error} />
    </>
  );
}

function ModelBanner({ base, count }: { base: Base; count: number }) {
  const again = base.reembedding;
  if (again) {
    const share = again.total > 0 ? Math.floor((100 * again.done) / again.total) : 0;
    return (
      <div className="banner" role="status">
        <Info className="i faint" aria-hidden="true" />
        <span>
          <b>{knowledge.embedsAnew(share)}</b> {knowledge.embedsAnewWhy}
        </span>
      </div>
    );
  }
  if (count === 0 || base.stages.includes("meaning")) return null;
  return (
    <div className="banner">
      <Info className="i faint" aria-hidden="true" />
      <span>
        <b>{knowledge.worksByWords}</b> {knowledge.worksByWordsWhy}
      </span>
    </div>
  );
}
