import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronLeft, ChevronRight, ChevronUp } from "lucide-react";
import { useEffect, useState } from "react";
import type { DocText } from "../../api/knowledge";
import type { Mark } from "../../parts/document/layout";
import { evidence } from "../../words/evidence";
import type { DocumentSearch } from "./document_page";

interface LeafBarProps {
  page: DocText;
  search: DocumentSearch;
  hits: readonly Mark[];
}

/** Text or picture, the pages, and the hits of what is looked for; `[ ]` and `j k` by keyboard. */
export function LeafBar({ page, search, hits }: LeafBarProps) {
  const navigate = useNavigate();
  const [at, setAt] = useState(0);
  const go = (to: number) => {
    if (to < 1 || to > page.pages) return;
    void navigate({
      to: ".",
      search: { q: search.q, view: search.view, revision: search.revision, page: String(to) },
    });
  };
  const show = (index: number) => {
    const wanted = (index + hits.length) % Math.max(1, hits.length);
    setAt(wanted);
    const start = hits[wanted]?.start;
    window.document
      .querySelector(`mark.hit[data-mark="${start}"]`)
      ?.scrollIntoView({ block: "center" });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.matches("input, textarea, select") || event.ctrlKey || event.metaKey) return;
      if (event.key === "[") go(page.page - 1);
      else if (event.key === "]") go(page.page + 1);
      else if (event.key === "j" && hits.length > 0) show(at + 1);
      else if (event.key === "k" && hits.length > 0) show(at - 1);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
  const isPicture = search.view === "picture";
  return (
    <div className="leaf-bar">
      {page.page > 0 && (
        <nav className="seg" aria-label={evidence.viewOf}>
          <Link
            to="."
            search={{ ...search, view: undefined }}
            activeOptions={{ exact: true }}
            aria-current={isPicture ? undefined : "page"}
          >
            {evidence.asText}
          </Link>
          <Link
            to="."
            search={{ ...search, page: String(page.page), view: "picture" }}
            activeOptions={{ exact: true }}
            aria-current={isPicture ? "page" : undefined}
          >
            {evidence.asPicture}
          </Link>
        </nav>
      )}
      {page.pages > 1 && (
        <div className="turn">
          <button
            type="button"
            className="icon-btn"
            aria-label={evidence.previousPage}
            disabled={page.page <= 1}
            onClick={() => go(page.page - 1)}
          >
            <ChevronLeft className="i" aria-hidden="true" />
          </button>
          <span className="num">{evidence.pageOf(page.page, page.pages, page.label)}</span>
          <button
            type="button"
            className="icon-btn"
            aria-label={evidence.nextPage}
            disabled={page.page >= page.pages}
            onClick={() => go(page.page + 1)}
          >
            <ChevronRight className="i" aria-hidden="true" />
          </button>
        </div>
      )}
      <form
        className="turn hits"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          show(at + 1);
        }}
      >
        <input
          className="in sm"
          type="search"
          aria-label={evidence.findHere}
          placeholder={evidence.findHere}
          value={search.q ?? ""}
          onChange={(event) => {
            setAt(0);
            void navigate({
              to: ".",
              search: {
                ...search,
                page: page.page > 0 ? String(page.page) : undefined,
                span: undefined,
                q: event.target.value || undefined,
              },
              replace: true,
            });
          }}
        />
        {search.q && (
          <>
            <span className="num faint" role="status">
              {hits.length > 0 ? evidence.hitOf(at + 1, hits.length) : evidence.noHitHere}
            </span>
            <button
              type="button"
              className="icon-btn"
              aria-label={evidence.previousHit}
              disabled={hits.length === 0}
              onClick={() => show(at - 1)}
            >
              <ChevronUp className="i" aria-hidden="true" />
            </button>
            <button
              type="button"
              className="icon-btn"
              aria-label={evidence.nextHit}
              disabled={hits.length === 0}
              onClick={() => show(at + 1)}
            >
              <ChevronDown className="i" aria-hidden="true" />
            </button>
          </>
        )}
      </form>
    </div>
  );
}
