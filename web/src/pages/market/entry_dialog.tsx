import { useMutation, useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { addEntry, type Entry, type EntryReview, entryQuery } from "../../api/catalogues";
import { Dialog } from "../../parts/dialog";
import { useReadAgain } from "../../parts/read_again";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { catalogues } from "../../words/catalogues";
import { toolWords } from "../../words/tools";

/** What an entry of an outside catalogue would bring; adding it adds exactly that. */
export function EntryDialog({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const review = useQuery(entryQuery(entry.marketplace, entry.entry));
  const title = entry.title || entry.entry;
  return (
    <Dialog label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        <p className="dim">
          {entry.description} <span className="tag">{catalogues.notReviewed}</span>
        </p>
        {review.isPending && <Skeleton rows={4} />}
        {review.error && (
          <Failure
            what={catalogues.entryFailed}
            missing={catalogues.noEntry}
            error={review.error}
            retry={() => void review.refetch()}
          />
        )}
        {review.data && <Review review={review.data} />}
        <div className="acts">
          <button type="button" className="btn" onClick={onClose}>
            {catalogues.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Review({ review }: { review: EntryReview }) {
  const read = useReadAgain();
  const add = useMutation({ mutationFn: () => addEntry(review), onSettled: read });
  return (
    <>
      <p>
        {review.runs === "here"
          ? catalogues.runsHere
          : catalogues.runsThere(review.address || review.homepage)}
      </p>
      {review.warnings.length > 0 && (
        <ul className="found" aria-label={catalogues.warnings}>
          {review.warnings.map((text) => (
            <li key={text}>
              <CircleAlert className="i s wait" aria-hidden="true" />
              <div>{text}</div>
            </li>
          ))}
        </ul>
      )}
      {review.needs.length > 0 && (
        <dl className="kv">
          {review.needs.map((item) => (
            <div className="pair" key={item.name}>
              <dt>
                <code>{item.variable || item.name}</code>
              </dt>
              <dd>
                {item.description} ({item.is_set ? catalogues.isSet : catalogues.notSet})
              </dd>
            </div>
          ))}
        </dl>
      )}
      {review.tools.length > 0 ? (
        <ul className="allowed" aria-label={catalogues.whatItBrings}>
          {review.tools.map((tool) => (
            <li key={tool.name}>
              <span className="tag">
                {tool.effect === "read" ? toolWords.reads : toolWords.writes}
              </span>
              <code>{tool.name}</code>
              {tool.unavailable && <small className="bad">{tool.unavailable}</small>}
            </li>
          ))}
        </ul>
      ) : (
        <p className="dim">{review.tools_note}</p>
      )}
      {review.board_file && (
        <details>
          <summary>{catalogues.inBoardFile}</summary>
          <pre className="json" tabIndex={0}>
            {review.board_file}
          </pre>
        </details>
      )}
      <Problem error={add.error} />
      {add.data ? (
        <p className="ok" role="status">
          {add.data.already ? catalogues.already : catalogues.added(add.data.registered.length)}
        </p>
      ) : review.can_be_registered ? (
        <div>
          <button
            type="button"
            className="btn primary"
            disabled={add.isPending}
            onClick={() => add.mutate()}
          >
            {catalogues.addIt}
          </button>
        </div>
      ) : (
        <p className="dim">
          {catalogues.cannotAdd}
          {review.why_not && `: ${review.why_not}`}
        </p>
      )}
    </>
  );
}
