import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../../api/client";
import { ApiError } from "../../api/errors";
import {
  changeResource,
  type Report,
  type Resource,
  resourceQuery,
  sourceKindsQuery,
} from "../../api/resources";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { Accounts } from "../../parts/accounts";
import { ConfigForm } from "../../parts/config_form";
import { Confirm } from "../../parts/confirm";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { SourceFigures } from "../../parts/source_figures";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { people } from "../../words/people";
import { sharing } from "../../words/resources";
import { TestCard } from "./test_card";
import { ToolList } from "./tool_list";

const STATES: Record<string, string> = { ok: "done", degraded: "waiting", failed: "failed" };

/** One connector: its tools, who sees it, its settings, and a test. */
export function ConnectorPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const resource = useQuery(resourceQuery(id));
  const title = resource.data?.title ?? "";
  usePageTitle(title);
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={title}>
          <CrumbLink to="/sources">{messages.sources}</CrumbLink>
        </Crumbs>
        {resource.isPending && <Skeleton rows={4} />}
        {resource.error && (
          <Failure
            what={sharing.connectorFailed}
            missing={sharing.noConnector}
            error={resource.error}
            retry={() => void resource.refetch()}
          />
        )}
        {resource.data && <Connector resource={resource.data} />}
      </div>
    </div>
  );
}

function Connector({ resource }: { resource: Resource }) {
  const navigate = useNavigate();
  const read = useReadAgain();
  const [isDeleting, setDeleting] = useState(false);
  const test = useMutation({
    mutationFn: () => send<Report>("POST", `/resources/${resource.id}/test`),
  });
  const remove = useMutation({
    mutationFn: () => send("DELETE", `/resources/${resource.id}`),
    onSuccess: async () => {
      await navigate({ to: "/sources" });
      await read();
    },
  });
  const status = resource.source?.status ?? "";
  return (
    <>
      <div className="head">
        <div>
          <h1>{resource.title}</h1>
          <p className="facts-line">
            {status && (
              <StateMark state={STATES[status] ?? "pending"} word={sharing.status[status]} />
            )}
            <code>{resource.name}</code>
            <span>
              {resource.seen_as === "own" ? sharing.ofYou : sharing.byOwner(resource.owner)}
            </span>
          </p>
          {resource.source?.reason && <p className="bad">{resource.source.reason}</p>}
          {resource.description && <p>{resource.description}</p>}
        </div>
        {resource.may_change && (
          <div className="acts">
            <button type="button" className="btn quiet" onClick={() => setDeleting(true)}>
              {sharing.deleteIt}
            </button>
          </div>
        )}
      </div>
      <div className={resource.may_change ? "beside" : "stack"}>
        <div className="stack">
          <SourceFigures source={resource.name} />
          <ToolList tools={resource.source?.tools ?? []} />
          <Accounts source={resource.name} />
          {resource.may_change && resource.config && (
            <Settings key={resource.revision} resource={resource} />
          )}
        </div>
        {resource.may_change && (
          <aside className="aside">
            <TestCard report={test.data} isPending={test.isPending}>
              <Problem error={test.error} />
              <button
                type="button"
                className="btn"
                disabled={test.isPending}
                onClick={() => test.mutate()}
              >
                {test.data ? sharing.testAgain : sharing.test}
              </button>
            </TestCard>
            <WhoSees key={`${resource.visibility} ${resource.organisation}`} resource={resource} />
            <InTheMarket resource={resource} />
          </aside>
        )}
      </div>
      {isDeleting && (
        <Confirm
          title={sharing.deleteQuestion(resource.title)}
          what={sharing.deleteWhat}
          action={messages.delete}
          error={remove.error}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setDeleting(false);
            remove.reset();
          }}
        />
      )}
    </>
  );
}

function Settings({ resource }: { resource: Resource }) {
  const read = useReadAgain();
  const { data: kinds } = useQuery(sourceKindsQuery);
  const [config, setConfig] = useState(resource.config ?? {});
  const save = useMutation({
    mutationFn: () => changeResource(resource.id, { config }),
    onSuccess: read,
  });
  const kind = kinds?.find((item) => item.kind === resource.source_kind);
  if (!kind) return null;
  const isChanged = JSON.stringify(config) !== JSON.stringify(resource.config);
  return (
    <form
      className="card"
      aria-label={sharing.settings}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <header>
        <h2>{sharing.settings}</h2>
      </header>
      <div className="body">
        <ConfigForm
          schema={kind.config_schema}
          value={config}
          onChange={setConfig}
          problems={save.error instanceof ApiError ? save.error.problems : []}
        />
        <Problem error={save.error} />
        <div>
          <button type="submit" className="btn" disabled={!isChanged || save.isPending}>
            {people.save}
          </button>
        </div>
      </div>
    </form>
  );
}
