import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Globe, Search } from "lucide-react";
import { useState } from "react";
import { type Entry, entriesQuery } from "../../api/catalogues";
import { StateMark } from "../../parts/marks";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { catalogues } from "../../words/catalogues";
import { EntryDialog } from "./entry_dialog";

const STATES: Record<string, string> = { ok: "done", degraded: "waiting", failed: "failed" };

/** What catalogues of others list: a list of its own, since nobody here has reviewed it. */
export function Outside() {
  const { q = "" } = useSearch({ strict: false }) as { q?: string };
  const navigate = useNavigate();
  const list = useInfiniteQuery(entriesQuery(q.trim()));
  const [open, setOpen] = useState<Entry | null>(null);
  const places = list.data?.pages[0]?.marketplaces ?? [];
  const entries = list.data?.pages.flatMap((page) => page.entries) ?? [];
  if (list.isPending) return <Skeleton rows={4} />;
  if (list.error)
    return (
      <Failure what={catalogues.failed} error={list.error} retry={() => void list.refetch()} />
    );
  if (places.length === 0) return <Empty title={catalogues.none}>{catalogues.noneWhy}</Empty>;
  return (
    <>
      <div className="find">
        <Search className="i s" aria-hidden="true" />
        <input
          className="in"
          type="search"
          aria-label={catalogues.find}
          placeholder={catalogues.find}
          value={q}
          onChange={(event) => {
            const search = { from: "outside", q: event.target.value || undefined };
            void navigate({ to: "/market", search, replace: true });
          }}
        />
      </div>
      <p className="facts-line">
        {places.map((item) => (
          <span key={item.name} title={item.reason}>
            <StateMark
              state={STATES[item.status] ?? ""}
              word={`${item.name}: ${item.status === "ok" ? catalogues.entries(item.entries) : catalogues.status[item.status]}`}
            />
          </span>
        ))}
      </p>
      {entries.length === 0 && <p className="dim nothing">{catalogues.noEntryFits}</p>}
      {entries.length > 0 && (
        <section className="card" aria-label={catalogues.outside}>
          <ul className="rows">
            {entries.map((item) => (
              <li key={`${item.marketplace} ${item.entry}`} className="resource-row">
                <span className="tile">
                  <Globe className="i" aria-hidden="true" />
                </span>
                <span className="t">
                  <b>{item.title || item.entry}</b>
                  <span>
                    {item.kind} {item.publisher && catalogues.by(item.publisher)}{" "}
                    {catalogues.from(item.marketplace)}
                  </span>
                </span>
                {item.description && <span className="about">{item.description}</span>}
                <span className="push acts">
                  <span className="tag">{catalogues.notReviewed}</span>
                  <button
                    type="button"
                    className="btn sm"
                    aria-label={`${catalogues.look}: ${item.title || item.entry}`}
                    onClick={() => setOpen(item)}
                  >
                    {catalogues.look}
                  </button>
                </span>
              </li>
            ))}
          </ul>
          {list.hasNextPage && (
            <div className="card-foot">
              <button type="button" className="btn quiet" onClick={() => void list.fetchNextPage()}>
                {catalogues.showMore}
              </button>
            </div>
          )}
        </section>
      )}
      {open && <EntryDialog entry={open} onClose={() => setOpen(null)} />}
    </>
  );
}
