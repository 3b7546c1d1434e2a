import { useMutation, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../../api/client";
import { organisationsQuery } from "../../api/people";
import { type Resource, reviewsQuery } from "../../api/resources";
import { Json } from "../../parts/json";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { Empty, Failure, Problem, Skeleton } from "../../parts/states";
import { formatWhen } from "../../words/format";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
import { OrganisationTabs } from "./organisation_tabs";

/** What members have sent for the market, and the caller reviews. */
export function ReviewsPage() {
  const { handle = "" } = useParams({ strict: false }) as { handle?: string };
  const { data: organisations } = useQuery(organisationsQuery);
  const reviews = useQuery(reviewsQuery);
  const title = organisations?.find((item) => item.handle === handle)?.title ?? handle;
  usePageTitle(sharing.reviews);
  const found = reviews.data?.filter((item) => item.organisation === handle) ?? [];
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{title}</h1>
            <p>{sharing.reviewsOf(title)}</p>
          </div>
        </div>
        <OrganisationTabs handle={handle} title={title} current="reviews" />
        {reviews.isPending && <Skeleton rows={3} />}
        {reviews.error && (
          <Failure
            what={sharing.reviewsFailed}
            error={reviews.error}
            retry={() => void reviews.refetch()}
          />
        )}
        {reviews.isSuccess && found.length === 0 && (
          <Empty title={sharing.noReviews}>{sharing.noReviewsWhy}</Empty>
        )}
        {found.map((item) => (
          <Review key={`${item.id} ${item.revision}`} resource={item} />
        ))}
      </div>
    </div>
  );
}

function Review({ resource }: { resource: Resource }) {
  const read = useReadAgain();
  const [note, setNote] = useState("");
  const decide = useMutation({
    mutationFn: (decision: "approve" | "reject") =>
      send("POST", `/resources/${resource.id}/review`, {
        decision,
        note: note.trim(),
        revision: resource.revision,
      }),
    onSettled: read,
  });
  const field = `note-${resource.id}`;
  return (
    <section className="card review" aria-label={resource.title}>
      <header>
        <h2>{resource.title}</h2>
        <span className="push">
          <StateMark state="waiting" />
        </span>
      </header>
      <div className="body">
        <p className="dim">
          {sharing.kinds[resource.kind]} <code>{resource.name}</code>,{" "}
          {sharing.byOwner(resource.owner)}, {formatWhen(resource.updated_at)}
        </p>
        {resource.description && <p>{resource.description}</p>}
        {(resource.source?.tools.length ?? 0) > 0 && (
          <div>
            <h3>{messages.tools}</h3>
            <p className="tags">
              {resource.source?.tools.map((name) => (
                <code className="tag" key={name}>
                  {name}
                </code>
              ))}
            </p>
          </div>
        )}
        <div>
          <h3>{sharing.configuration}</h3>
          {resource.kind === "skill" ? (
            <SkillTexts config={resource.config} />
          ) : (
            <Json value={resource.config} />
          )}
        </div>
        <div className="field">
          <label htmlFor={field}>{sharing.note}</label>
          <input
            id={field}
            className="in"
            aria-describedby={`${field}-hint`}
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
          <span className="hint" id={`${field}-hint`}>
            {sharing.noteNeeded}
          </span>
        </div>
        <Problem error={decide.error} />
        <div className="acts">
          <button
            type="button"
            className="btn primary"
            disabled={decide.isPending}
            onClick={() => decide.mutate("approve")}
          >
            {sharing.approve}
          </button>
          <button
            type="button"
            className="btn"
            disabled={decide.isPending || note.trim() === ""}
            onClick={() => decide.mutate("reject")}
          >
            {sharing.reject}
          </button>
        </div>
      </div>
    </section>
  );
}

/** The files of a skill, as texts: models of others will read them. */
function SkillTexts({ config }: { config: Resource["config"] }) {
  const files = (config?.files ?? {}) as Record<string, string>;
  return Object.entries(files).map(([path, text]) => (
    <section key={path} aria-label={path}>
      <h4 className="mono cut">{path}</h4>
      <pre className="json" tabIndex={0}>
        {text}
      </pre>
    </section>
  ));
}
