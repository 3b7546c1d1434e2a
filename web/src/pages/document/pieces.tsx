import type { DocDetail, DocText } from "../../api/knowledge";
import { CitedIn } from "../../parts/document/cited_in";
import { evidence } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";

interface PiecesProps {
  document: DocDetail;
  page: DocText;
  span: [number, number] | null;
}

const MOST = 100;

/** The pieces of the page; of the one that a quote stands in, where it is. */
export function Pieces({ document, page, span }: PiecesProps) {
  const cited = span && page.pieces.find((item) => item.start < span[1] && item.end > span[0]);
  const at = Math.max(0, cited ? page.pieces.indexOf(cited) - MOST / 2 : 0);
  const listed = page.pieces.slice(at, at + MOST);
  return (
    <aside className="panel" aria-label={knowledge.pieces}>
      <div className="panel-top">
        <h2>{evidence.piecesHere}</h2>
        <span className="faint num">{evidence.piecesOf(page.pieces.length, document.pieces)}</span>
      </div>
      <ol className="plist">
        {listed.map((item) => (
          <li key={item.id}>
            <a
              className="piece"
              href={`#p${item.number}`}
              aria-current={item === cited ? "true" : undefined}
              onClick={(event) => {
                event.preventDefault();
                window.document
                  .getElementById(`p${item.number}`)
                  ?.scrollIntoView({ block: "center" });
              }}
            >
              <span className="pn num">{item.number}</span>
              <b className="cut">{lastHeading(item.heading) || evidence.untitled}</b>
            </a>
          </li>
        ))}
      </ol>
      {cited && span && (
        <div>
          <p className="mini">{evidence.pieceNumber(cited.number)}</p>
          <dl className="kv">
            {cited.heading && (
              <>
                <dt>{evidence.heading}</dt>
                <dd>{cited.heading.replaceAll(" > ", " › ")}</dd>
              </>
            )}
            <dt>{evidence.place}</dt>
            <dd className="num">
              {cited.page > 0 && `${knowledge.page(cited.page)} · `}
              {evidence.characters(cited.start, cited.end)}
            </dd>
            <dt>{evidence.citedQuote}</dt>
            <dd className="num">{evidence.range(span[0], span[1])}</dd>
          </dl>
        </div>
      )}
      <CitedIn base={document.base} document={document.id} />
    </aside>
  );
}

/** "3.4 Returns" of "3 Selling > 3.4 Returns". */
function lastHeading(heading: string): string {
  return heading.split(" > ").at(-1) ?? "";
}
