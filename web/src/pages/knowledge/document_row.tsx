import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { type Base, type Doc, takeInAgain } from "../../api/knowledge";
import { DocumentIcon } from "../../parts/document/document_icon";
import { DocumentState } from "../../parts/document/document_state";
import { Problem } from "../../parts/states";
import { canRead } from "../../stream/base_events";
import { documentWords } from "../../words/document";
import { formatFull, formatNumber, formatWhen } from "../../words/format";
import { describeAudience, describeFile, knowledge } from "../../words/knowledge";

/** A document in the list: what it is, how far it is and why, and the one thing to do. */
export function DocumentRow({ item, base }: { item: Doc; base: Base }) {
  const again = useMutation({ mutationFn: () => takeInAgain(item) });
  const params = { base: item.base, doc: item.id };
  const title = item.title || item.name;
  return (
    <tr>
      <td>
        <div className="doc">
          <span className="tile">
            <DocumentIcon mediaType={item.media_type} name={item.name} />
          </span>
          <div>
            <b>
              {canRead(item) ? (
                <Link to="/knowledge/$base/$doc" params={params}>
                  {title}
                </Link>
              ) : (
                title
              )}
            </b>
            <small>{describeFile(item)}</small>
          </div>
        </div>
      </td>
      <td className="st">
        <DocumentState item={item} />
        <Problem error={again.error} />
      </td>
      <td className="opt dim num r">{item.pieces > 0 ? formatNumber(item.pieces) : ""}</td>
      <td className="opt dim added" title={formatFull(item.created_at)}>
        {formatWhen(item.created_at)}
        <small>{describeAudience(item, base)}</small>
      </td>
      <td className="r acts">
        {item.may_change && item.state === "failed" && (
          <button
            type="button"
            className="btn sm"
            disabled={again.isPending}
            onClick={() => again.mutate()}
          >
            {knowledge.tryAgain}
          </button>
        )}
        {item.may_change && item.state === "held" && (
          <Link className="btn sm" to="/knowledge/$base/$doc/review" params={params}>
            {knowledge.review}
          </Link>
        )}
        <RowMenu item={item} title={title} onAgain={() => again.mutate()} />
      </td>
    </tr>
  );
}

function RowMenu({ item, title, onAgain }: { item: Doc; title: string; onAgain: () => void }) {
  const id = `more-${item.id}`;
  const params = { base: item.base, doc: item.id };
  const canOpen = canRead(item);
  const canAgain = item.may_change && ["ready", "failed"].includes(item.state);
  if (!canOpen && !item.may_change) return null;
  return (
    <>
      <button
        type="button"
        className="icon-btn"
        aria-label={knowledge.moreFor(title)}
        popoverTarget={id}
      >
        <Ellipsis className="i" aria-hidden="true" />
      </button>
      <div id={id} popover="auto" className="menu below-button">
        {canOpen && (
          <Link to="/knowledge/$base/$doc" params={params}>
            {knowledge.open}
          </Link>
        )}
        {canOpen && item.revision > 1 && (
          <Link to="/knowledge/$base/$doc" params={params} search={{ tab: "changes" }}>
            {documentWords.changes}
          </Link>
        )}
        {canOpen && item.may_change && (
          <Link to="/knowledge/$base/$doc" params={params} search={{ tab: "settings" }}>
            {documentWords.settings}
          </Link>
        )}
        {canAgain && (
          <button type="button" popoverTarget={id} popoverTargetAction="hide" onClick={onAgain}>
            {knowledge.takeInAgain}
          </button>
        )}
        {item.may_change && (
          <Link className="bad" to="/knowledge/$base/$doc/delete" params={params}>
            {knowledge.deleteForGood}
          </Link>
        )}
      </div>
    </>
  );
}
