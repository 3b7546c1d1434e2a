import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client";
import { isSharedOnly, type Resource } from "../api/resources";
import { sharing } from "../words/resources";
import { formatWhen } from "../words/format";
import { messages } from "../words/messages";
import { Json } from "./json";
import { StateMark } from "./marks";
import { useReadAgain } from "./read_again";
import { Problem } from "./states";

/** One resource to review: for the Market, or where it is only shared for its organisation. */
export function ReviewCard({ resource }: { resource: Resource }) {
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
  const isShared = isSharedOnly(resource);
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
        {resource.config && (
          <div>
            <h3>{sharing.configuration}</h3>
            {resource.kind === "skill" ? (
              <SkillTexts of={resource.title} config={resource.config} />
            ) : (
              <Json value={resource.config} />
            )}
          </div>
        )}
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
            {isShared ? sharing.approveHere : sharing.approve}
          </button>
          <button
            type="button"
            className="btn"
            disabled={decide.isPending || note.trim() === ""}
            onClick={() => decide.mutate("reject")}
          >
            {isShared ? sharing.endSharing : sharing.reject}
          </button>
        </div>
      </div>
    </section>
  );
}

/** The files of a skill, as texts: models of others will read them. */
function SkillTexts({ of, config }: { of: string; config: Resource["config"] }) {
  const files = (config?.files ?? {}) as Record<string, string>;
  return Object.entries(files).map(([path, text]) => (
    <section key={path} aria-label={`${of}: ${path}`}>
      <h4 className="mono cut">{path}</h4>
      <pre className="json" tabIndex={0}>
        {text}
      </pre>
    </section>
  ));
}
