import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { useState } from "react";
import { send } from "../../api/client";
import { ApiError } from "../../api/errors";
import { isOperator, type Session } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import {
  changeResource,
  type Report,
  type Resource,
  type SourceKind,
  sourceKindsQuery,
} from "../../api/resources";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { ConfigForm } from "../../parts/config_form";
import { Field } from "../../parts/field";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { chooseOperations } from "../../stream/operations";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { sharing } from "../../words/resources";
import { OperationChoice } from "./operation_choice";
import { TestCard } from "./test_card";

/** Connects a source by a form of its kind; it is tested before it stays. */
export function ConnectPage() {
  usePageTitle(sharing.connectTitle);
  const { kind = "" } = useSearch({ strict: false }) as { kind?: string };
  const kinds = useQuery(sourceKindsQuery);
  const { data: session } = useQuery(sessionQuery);
  const open = kinds.data ?? [];
  const chosen = open.find((item) => item.kind === kind) ?? open[0];
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={sharing.connect}>
          <CrumbLink to="/sources">{messages.sources}</CrumbLink>
        </Crumbs>
        <div className="head">
          <div>
            <h1>{sharing.connectTitle}</h1>
            <p>{sharing.connectWhat}</p>
          </div>
        </div>
        {kinds.isPending && <Skeleton rows={3} />}
        {kinds.error && (
          <Failure
            what={sharing.kindsFailed}
            error={kinds.error}
            retry={() => void kinds.refetch()}
          />
        )}
        <nav className="kinds" aria-label={sharing.kindOf}>
          {open.map((item) => (
            <Link
              key={item.kind}
              to="/sources/connect"
              search={{ kind: item.kind }}
              activeOptions={{ exact: true }}
              aria-current={item === chosen ? "true" : undefined}
            >
              <Plug className="i s" aria-hidden="true" />
              <b>{item.title}</b>
            </Link>
          ))}
        </nav>
        {chosen && <ConnectForm key={chosen.kind} kind={chosen} session={session} />}
      </div>
    </div>
  );
}

function ConnectForm({ kind, session }: { kind: SourceKind; session: Session | undefined }) {
  const navigate = useNavigate();
  const read = useReadAgain();
  const [name, setName] = useState("");
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [config, setConfig] = useState<Record<string, unknown>>({});
  // The draft is a row of its owner: leaving the page loses nothing.
  const [draft, setDraft] = useState<Resource | null>(null);
  // What the last test has seen, and all that the API had when nothing was chosen.
  const [tested, setTested] = useState("");
  const [operations, setOperations] = useState<string[]>([]);
  const test = useMutation({
    mutationFn: async (): Promise<Report | undefined> => {
      const texts = { title: title.trim(), description: description.trim(), config };
      const made = draft
        ? await changeResource(draft.id, texts)
        : await send<Resource>("POST", "/resources", {
            kind: "connector",
            source_kind: kind.kind,
            name: name.trim(),
            ...texts,
          });
      setDraft(made);
      setTested(JSON.stringify(config));
      return made.source?.status === "pending"
        ? send<Report>("POST", `/resources/${made.id}/test`)
        : (made.source ?? undefined);
    },
    onSuccess: (report) =>
      setOperations((before) => [...new Set([...before, ...(report?.tools ?? [])])]),
    onSettled: read,
  });
  const discard = useMutation({
    mutationFn: () => send("DELETE", `/resources/${draft?.id}`),
    onSuccess: async () => {
      setDraft(null);
      test.reset();
      await read();
    },
  });
  const open = () => navigate({ to: "/sources/connectors/$id", params: { id: draft?.id ?? "" } });
  const isOwner = session?.accounts === true && !isOperator(session);
  const start = `${isOwner ? `${session?.handle}--` : ""}${name.trim() || "name"}__`;
  const isTested = tested === JSON.stringify(config);
  const isGood = isTested && (test.data?.status === "ok" || test.data?.status === "degraded");
  const problems = test.error instanceof ApiError ? test.error.problems : [];
  return (
    <form
      className="beside"
      aria-label={kind.title}
      onSubmit={(event) => {
        event.preventDefault();
        test.mutate();
      }}
    >
      <div className="stack">
        <section className="card">
          <header>
            <h2>{sharing.whereItIs}</h2>
          </header>
          <div className="body">
            {draft ? (
              <p className="mono">{draft.name}</p>
            ) : (
              <Field
                id="connector-name"
                label={people.name}
                value={name}
                onChange={setName}
                hint={sharing.nameHint(start)}
              />
            )}
            <ConfigForm
              schema={kind.config_schema}
              value={config}
              onChange={setConfig}
              problems={problems}
            />
            <Field
              id="connector-title"
              label={people.titleOptional}
              value={title}
              onChange={setTitle}
            />
            <Field
              id="connector-description"
              label={sharing.descriptionField}
              value={description}
              onChange={setDescription}
            />
            <p className="hint">{sharing.noSecrets}</p>
          </div>
        </section>
        {kind.kind === "openapi" && operations.length > 0 && (
          <OperationChoice
            tools={operations}
            onChoose={(mode, names) => setConfig(chooseOperations(config, mode, names))}
          />
        )}
      </div>
      <aside className="aside">
        <TestCard report={test.data} isPending={test.isPending}>
          <Problem error={test.error ?? discard.error} />
          {draft && !isTested && <p className="hint">{sharing.choiceChanged}</p>}
          {isGood && (
            <button type="button" className="btn primary" onClick={() => void open()}>
              {sharing.connectTools(test.data?.tools.length ?? 0)}
            </button>
          )}
          <button
            type="submit"
            className={isGood ? "btn" : "btn primary"}
            disabled={test.isPending || (!draft && name.trim() === "")}
          >
            {draft ? sharing.testAgain : sharing.test}
          </button>
          {draft && !isGood && !test.isPending && (
            <>
              <button type="button" className="btn" onClick={() => void open()}>
                {sharing.keepDraft}
              </button>
              <button
                type="button"
                className="btn quiet"
                disabled={discard.isPending}
                onClick={() => discard.mutate()}
              >
                {sharing.discard}
              </button>
            </>
          )}
        </TestCard>
      </aside>
    </form>
  );
}
