import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { send } from "../../api/client";
import { agentsQuery } from "../../api/queries";
import { isSharedOnly, type Resource, resourceQuery } from "../../api/resources";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { ReviewCard } from "../../parts/review_card";
import { useReadAgain } from "../../parts/read_again";
import { Failure, Skeleton } from "../../parts/states";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
import { AgentFacts, ChatWith } from "./agent_facts";
import { AgentForm } from "./agent_form";

/** One agent of a person, for those who may change it. */
export function AgentPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const resource = useQuery(resourceQuery(id));
  const title = resource.data?.title ?? "";
  usePageTitle(title);
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={title}>
          <CrumbLink to="/agents">{sharing.agents}</CrumbLink>
        </Crumbs>
        {resource.isPending && <Skeleton rows={4} />}
        {resource.error && (
          <Failure
            what={sharing.agentsFailed}
            missing={sharing.noAgent}
            error={resource.error}
            retry={() => void resource.refetch()}
          />
        )}
        {resource.data && <Agent resource={resource.data} />}
      </div>
    </div>
  );
}

function Agent({ resource }: { resource: Resource }) {
  const navigate = useNavigate();
  const read = useReadAgain();
  const [isDeleting, setDeleting] = useState(false);
  const { data: agents = [] } = useQuery(agentsQuery);
  const agent = agents.find((item) => item.name === resource.name);
  const remove = useMutation({
    mutationFn: () => send("DELETE", `/resources/${resource.id}`),
    onSuccess: async () => {
      await navigate({ to: "/agents" });
      await read();
    },
  });
  return (
    <>
      <div className="head">
        <div>
          <h1>{resource.title}</h1>
          <p>
            <code>{resource.name}</code> {resource.description}
          </p>
        </div>
        <div className="acts">
          {resource.may_change && (
            <button type="button" className="btn quiet" onClick={() => setDeleting(true)}>
              {sharing.deleteIt}
            </button>
          )}
          <ChatWith agent={agent} />
        </div>
      </div>
      {agent && <AgentFacts agent={agent} />}
      {isSharedOnly(resource) && <ReviewCard resource={resource} />}
      {resource.may_change && (
        <div className="beside">
          <AgentForm key={resource.revision} resource={resource} onDone={() => undefined} />
          <aside className="aside">
            <WhoSees key={`${resource.visibility} ${resource.organisation}`} resource={resource} />
            <InTheMarket resource={resource} />
          </aside>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={sharing.deleteQuestion(resource.title)}
          what={sharing.deleteAgentWhat}
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
