import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../../api/client";
import { type Organisation, organisationsQuery } from "../../api/people";
import { Field } from "../../parts/field";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Problem, Skeleton } from "../../parts/states";
import { nameRoles, people } from "../../words/people";

/** The organisations of the caller, a form to found one, and one to ask another to be let in. */
export function OrganisationsPage() {
  usePageTitle(people.organisations);
  const organisations = useQuery(organisationsQuery);
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{people.organisations}</h1>
            <p>{people.organisationsWhat}</p>
          </div>
        </div>
        {organisations.isPending && <Skeleton rows={2} />}
        {organisations.error && (
          <Failure
            what={people.organisationsFailed}
            error={organisations.error}
            retry={() => void organisations.refetch()}
          />
        )}
        {organisations.data?.length === 0 && (
          <Empty title={people.noneYet} pegs>
            {people.noneYetWhy}
          </Empty>
        )}
        {organisations.data && organisations.data.length > 0 && (
          <section className="card">
            <ul className="rows">
              {organisations.data.map((item) => (
                <Row key={item.handle} organisation={item} />
              ))}
            </ul>
          </section>
        )}
        <div className="two">
          <Found />
          <Ask />
        </div>
      </div>
    </div>
  );
}

function Row({ organisation }: { organisation: Organisation }) {
  return (
    <li className="go">
      <Link to="/organisations/$handle/members" params={{ handle: organisation.handle }}>
        <span className="face org" aria-hidden="true">
          {organisation.title.charAt(0).toUpperCase()}
        </span>
        <span className="t">
          <b>{organisation.title}</b>
          <span>{nameRoles(organisation.roles)}</span>
        </span>
        {organisation.waiting > 0 && (
          <StateMark state="waiting" word={people.peopleWait(organisation.waiting)} />
        )}
      </Link>
    </li>
  );
}

function Found() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [handle, setHandle] = useState("");
  const [title, setTitle] = useState("");
  const found = useMutation({
    mutationFn: () => send<Organisation>("POST", "/organisations", { handle, title }),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["organisations"] });
      await client.invalidateQueries({ queryKey: ["session"] });
      await navigate({ to: "/organisations/$handle/members", params: { handle: made.handle } });
    },
  });
  return (
    <form
      className="card padded"
      aria-label={people.found}
      onSubmit={(event) => {
        event.preventDefault();
        found.mutate();
      }}
    >
      <h2>{people.found}</h2>
      <Field
        id="found-handle"
        label={people.handle}
        value={handle}
        onChange={setHandle}
        hint={people.handleHint}
      />
      <Field id="found-title" label={people.titleOptional} value={title} onChange={setTitle} />
      <Problem error={found.error} />
      <div>
        <button type="submit" className="btn" disabled={found.isPending || handle === ""}>
          {people.found}
        </button>
      </div>
    </form>
  );
}

function Ask() {
  const [handle, setHandle] = useState("");
  const ask = useMutation({
    mutationFn: (asked: string) =>
      send("POST", `/organisations/${encodeURIComponent(asked)}/members`).then(() => asked),
    onSuccess: () => setHandle(""),
  });
  return (
    <form
      className="card padded"
      aria-label={people.askToJoin}
      onSubmit={(event) => {
        event.preventDefault();
        ask.mutate(handle.trim());
      }}
    >
      <h2>{people.askToJoin}</h2>
      <Field id="ask-handle" label={people.handle} value={handle} onChange={setHandle} />
      <Problem error={ask.error} />
      {ask.data && (
        <p className="dim" role="status">
          {people.askedToJoin(ask.data)}
        </p>
      )}
      <div>
        <button type="submit" className="btn" disabled={ask.isPending || handle.trim() === ""}>
          {people.askToJoin}
        </button>
      </div>
    </form>
  );
}
