import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client";
import { hasAccount, isOperator, organisationsQuery } from "../api/people";
import { sessionQuery } from "../api/queries";
import { changeResource, type Resource, type ResourceChange } from "../api/resources";
import { sharing } from "../words/resources";
import { StateMark } from "./marks";
import { useReadAgain } from "./read_again";
import { Problem } from "./states";

const SHARERS = ["administrator", "editor"];

interface WhoSeesProps {
  resource: Pick<Resource, "id" | "visibility" | "organisation">;
  /** How the change is stored; by default that of a resource. */
  save?: (change: Pick<ResourceChange, "visibility" | "organisation">) => Promise<unknown>;
}

/** Who sees a connector, an agent or a base; for those who may change it. */
export function WhoSees({ resource, save }: WhoSeesProps) {
  const read = useReadAgain();
  const { data: session } = useQuery(sessionQuery);
  const { data: organisations = [] } = useQuery(organisationsQuery);
  const shared = organisations.filter((item) => item.roles.some((role) => SHARERS.includes(role)));
  const now = resource.visibility === "organisation" ? resource.organisation : resource.visibility;
  const [chosen, setChosen] = useState(now);
  const share = useMutation({
    mutationFn: async (change: Pick<ResourceChange, "visibility" | "organisation">) =>
      save ? save(change) : changeResource(resource.id, change),
    onSettled: read,
  });
  if (!hasAccount(session)) return null;
  const places: [string, string, string][] = [
    ["private", sharing.onlyYou, sharing.onlyYouWhat],
    ...shared.map((item): [string, string, string] => [
      item.handle,
      item.title,
      sharing.theOrganisationWhat,
    ]),
  ];
  if (isOperator(session) || now === "global")
    places.push(["global", sharing.everybody, sharing.everybodyWhat]);
  if (now && !places.some(([value]) => value === now))
    places.push([now, now, sharing.theOrganisationWhat]);
  const submit = () =>
    share.mutate(
      chosen === "private" || chosen === "global"
        ? { visibility: chosen }
        : { visibility: "organisation", organisation: chosen },
    );
  return (
    <section className="card" aria-label={sharing.whoSees}>
      <header>
        <h2>{sharing.whoSees}</h2>
      </header>
      <form
        className="body"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <fieldset className="pickone">
          <legend className="sr">{sharing.whoSees}</legend>
          {places.map(([value, name, what]) => (
            <label key={value}>
              <input
                type="radio"
                name={`sees-${resource.id}`}
                checked={chosen === value}
                onChange={() => setChosen(value)}
              />
              <b>{name}</b>
              <small>{what}</small>
            </label>
          ))}
        </fieldset>
        <Problem error={share.error} />
        {chosen !== now && (
          <div>
            <button type="submit" className="btn primary" disabled={share.isPending}>
              {sharing.change}
            </button>
          </div>
        )}
      </form>
    </section>
  );
}

const MARKS: Record<string, string> = {
  none: "pending",
  draft: "pending",
  pending: "waiting",
  approved: "done",
  rejected: "failed",
};

/** The way of a connector or an agent into the market. */
export function InTheMarket({ resource }: { resource: Resource }) {
  const read = useReadAgain();
  const move = useMutation({
    mutationFn: (step: "publish" | "withdraw") => send("POST", `/resources/${resource.id}/${step}`),
    onSettled: read,
  });
  const { data: session } = useQuery(sessionQuery);
  if (!hasAccount(session)) return null;
  const status = resource.publish_status;
  const isShared = resource.visibility === "organisation";
  const isOut = status === "none" || status === "draft" || status === "rejected";
  return (
    <section className="card" aria-label={sharing.inTheMarket}>
      <header>
        <h2>{sharing.inTheMarket}</h2>
        <span className="push">
          <StateMark state={MARKS[status] ?? ""} word={sharing.publishStatus[status]} />
        </span>
      </header>
      <div className="body">
        {resource.reviewed_by && (
          <p>
            {sharing.reviewedBy(resource.reviewed_by)}
            {resource.review_note && `: “${resource.review_note}”`}
          </p>
        )}
        <p className="dim">{isShared ? sharing.publishWhat : sharing.shareFirst}</p>
        <Problem error={move.error} />
        {isShared && (
          <div>
            <button
              type="button"
              className="btn"
              disabled={move.isPending}
              onClick={() => move.mutate(isOut ? "publish" : "withdraw")}
            >
              {isOut
                ? sharing.sendForReview
                : status === "approved"
                  ? sharing.withdraw
                  : sharing.takeBack}
            </button>
          </div>
        )}
      </div>
    </section>
  );
}
