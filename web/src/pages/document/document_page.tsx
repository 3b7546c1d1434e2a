import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ChevronRight, Download, Ellipsis, EyeOff } from "lucide-react";
import { baseQuery, type DocDetail, documentQuery, fileAddress } from "../../api/knowledge";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { CitedIn } from "../../parts/document/cited_in";
import { DocumentState } from "../../parts/document/document_state";
import { usePageTitle } from "../../parts/page_title";
import { Failure, Skeleton } from "../../parts/states";
import "../../styles/knowledge.css";
import { documentWords } from "../../words/document";
import { evidence } from "../../words/evidence";
import { formatWhen } from "../../words/format";
import { describeFile, knowledge } from "../../words/knowledge";
import { ChangesView, lastRevision } from "./changes";
import { Leaf } from "./leaf";
import { DocumentSettings } from "./settings";

export interface DocumentSearch {
  page?: string;
  /** `start-end`, in characters of the text. */
  span?: string;
  /** Of the text that the span counts in. */
  revision?: string;
  q?: string;
  view?: string;
  /** Empty for the text. */
  tab?: string;
  /** The revision of an earlier text, to compare with. */
  since?: string;
}

/** One document: its text by pieces, with a quote marked, and what is not what it seems. */
export function DocumentPage() {
  const { base = "", doc = "" } = useParams({ strict: false }) as { base?: string; doc?: string };
  const { tab: wanted } = useSearch({ strict: false }) as DocumentSearch;
  const document = useQuery(documentQuery(base, doc));
  const { data: known } = useQuery(baseQuery(base));
  const title = document.data?.title || document.data?.name || "";
  const canSet = wanted === "settings" && document.data?.may_change;
  const tab = wanted === "changes" || canSet ? wanted : "";
  usePageTitle(title || evidence.wholeDocument);
  const trail = (
    <Crumbs label={evidence.whereYouAre}>
      <CrumbLink to="/knowledge">{knowledge.knowledge}</CrumbLink>
      <ChevronRight className="i s" aria-hidden="true" />
      <CrumbLink to="/knowledge/$base" params={{ base }}>
        {known?.title || known?.name || knowledge.base}
      </CrumbLink>
    </Crumbs>
  );
  if (!document.data)
    return (
      <div className="page">
        <div className="wide stack">
          {trail}
          {document.isPending && <Skeleton rows={6} />}
          {document.error && (
            <Failure
              what={evidence.documentFailed}
              missing={evidence.noDocument}
              error={document.error}
              retry={() => void document.refetch()}
            />
          )}
        </div>
      </div>
    );
  const shown = document.data;
  const head = (
    <>
      {trail}
      <Head document={shown} title={title} />
      <Tabs document={shown} tab={tab} />
    </>
  );
  if (tab === "") return <Leaf key={shown.id} document={shown} head={head} />;
  return (
    <div className="runpage docpage">
      <div className="runmain">
        {head}
        {tab === "changes" ? (
          <ChangesView document={shown} />
        ) : (
          <DocumentSettings key={shown.id} document={shown} />
        )}
      </div>
      <aside className="panel" aria-label={documentWords.about}>
        <CitedIn base={shown.base} document={shown.id} />
      </aside>
    </div>
  );
}

function Head({ document, title }: { document: DocDetail; title: string }) {
  const { revision } = useSearch({ strict: false }) as DocumentSearch;
  return (
    <>
      <div className="head">
        <div>
          <h1>{title}</h1>
          <div className="runfacts">
            <span className="facts-state">
              <DocumentState item={document} />
            </span>
            <span>{describeFile({ ...document, pages: 0 })}</span>
            <span>{evidence.facts(document.pages, document.pieces)}</span>
            <span>{evidence.addedBy(formatWhen(document.created_at), document.owner)}</span>
            {document.edition && <span>{evidence.edition(document.edition)}</span>}
          </div>
        </div>
        <div className="acts">
          <a className="btn" href={fileAddress(document.base, document.id)} download>
            <Download className="i s" aria-hidden="true" /> {evidence.download}
          </a>
          {document.may_change && <Menu document={document} />}
        </div>
      </div>
      {!revision && <Findings document={document} />}
      {document.receipt && document.receipt.gaps.length > 0 && (
        <details className="banner gaps">
          <summary>{evidence.gap(document.receipt.gaps.length)}</summary>
          <ul>
            {document.receipt.gaps.map((gap, index) => (
              <li key={index}>
                {gap.page > 0 ? `${knowledge.page(gap.page)}: ` : ""}
                {gap.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Tabs({ document, tab }: { document: DocDetail; tab: string }) {
  const link = (value: string, word: string) => (
    <Link
      to="/knowledge/$base/$doc"
      params={{ base: document.base, doc: document.id }}
      search={{ tab: value || undefined }}
      activeOptions={{ exact: true }}
      aria-current={tab === value ? "page" : undefined}
    >
      {word}
    </Link>
  );
  return (
    <nav className="tabs" aria-label={documentWords.about}>
      {link("", documentWords.text)}
      {(lastRevision(document) > 1 || tab === "changes") && link("changes", documentWords.changes)}
      {document.may_change && link("settings", documentWords.settings)}
    </nav>
  );
}

function Menu({ document }: { document: DocDetail }) {
  const params = { base: document.base, doc: document.id };
  return (
    <>
      <button
        type="button"
        className="icon-btn"
        aria-label={knowledge.moreFor(document.name)}
        popoverTarget="document-menu"
      >
        <Ellipsis className="i" aria-hidden="true" />
      </button>
      <div id="document-menu" popover="auto" className="menu below-button">
        {document.state === "held" && (
          <Link to="/knowledge/$base/$doc/review" params={params}>
            {knowledge.review}
          </Link>
        )}
        <Link className="bad" to="/knowledge/$base/$doc/delete" params={params}>
          {knowledge.deleteForGood}
        </Link>
      </div>
    </>
  );
}

/** Says first what a document contains that gives orders, is hidden, or could carry data out. */
function Findings({ document }: { document: DocDetail }) {
  const [first] = document.findings;
  if (!first) return null;
  const isOut = document.findings.every((item) => item.is_left_out);
  return (
    <div className="alert orders">
      <span className="unsure">
        <EyeOff className="i" aria-hidden="true" />
      </span>
      <span>
        <b>{evidence.contains[first.kind]}</b>{" "}
        {evidence.placesOn(document.findings.length, first.page)}{" "}
        {document.state === "held"
          ? knowledge.heldUntil
          : isOut
            ? evidence.isLeftOut
            : evidence.isUsed}
      </span>
      {document.state === "held" && document.may_change ? (
        <Link
          className="btn sm"
          to="/knowledge/$base/$doc/review"
          params={{ base: document.base, doc: document.id }}
        >
          {knowledge.review}
        </Link>
      ) : (
        <Link
          className="btn sm"
          to="."
          search={{ page: first.page > 0 ? String(first.page) : undefined }}
          hash={`f${first.start}`}
        >
          {evidence.showIt}
        </Link>
      )}
    </div>
  );
}
