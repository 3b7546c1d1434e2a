import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { send } from "../../api/client";
import { type Resource, resourceQuery } from "../../api/resources";
import { Confirm } from "../../parts/confirm";
import { usePageTitle } from "../../parts/page_title";
import { useReadAgain } from "../../parts/read_again";
import { Failure, Skeleton } from "../../parts/states";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
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
        <nav className="crumb" aria-label={explaining.where}>
          <Link to="/agents">{sharing.agents}</Link>
          <ChevronRight className="i s" aria-hidden="true" />
          <span>{title}</span>
        </nav>
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
        {resource.may_change && (
          <div className="acts">
            <button type="button" className="btn quiet" onClick={() => setDeleting(true)}>
              {sharing.deleteIt}
            </button>
          </div>
        )}
      </div>
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
