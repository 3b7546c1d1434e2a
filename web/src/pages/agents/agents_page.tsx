import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import { type Agent, agentsQuery } from "../../api/queries";
import { type Resource, resourcesQuery } from "../../api/resources";
import { StateMark } from "../../parts/marks";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { sharing } from "../../words/resources";
import { AgentForm } from "./agent_form";
import { ModelsCard } from "./models_card";

/** The agents that the caller can choose; people make their own, and share them. */
export function AgentsPage() {
  usePageTitle(sharing.agents);
  const agents = useQuery(agentsQuery);
  const { data: owned = [] } = useQuery(resourcesQuery("agent"));
  const [isMaking, setMaking] = useState(false);
  return (
    <div className="page">
      <div className="wide stack">
        <div className="head">
          <div>
            <h1>{sharing.agents}</h1>
            <p>{sharing.agentsWhat}</p>
          </div>
          {!isMaking && (
            <div className="acts">
              <button type="button" className="btn primary" onClick={() => setMaking(true)}>
                <Plus className="i s" aria-hidden="true" /> {sharing.newAgent}
              </button>
            </div>
          )}
        </div>
        {isMaking && <AgentForm onDone={() => setMaking(false)} />}
        {agents.isPending && <Skeleton rows={3} />}
        {agents.error && (
          <Failure
            what={sharing.agentsFailed}
            error={agents.error}
            retry={() => void agents.refetch()}
          />
        )}
        {agents.data?.length === 0 && !isMaking && (
          <Empty title={sharing.noAgents} pegs>
            {sharing.noAgentsWhy}
          </Empty>
        )}
        {(agents.data?.length ?? 0) > 0 && (
          <section className="card">
            <ul className="rows">
              {agents.data?.map((agent) => (
                <Row
                  key={agent.name}
                  agent={agent}
                  resource={owned.find((item) => item.name === agent.name)}
                />
              ))}
            </ul>
          </section>
        )}
        <ModelsCard />
      </div>
    </div>
  );
}

interface RowProps {
  agent: Agent;
  /** Where a person has made it. */
  resource: Resource | undefined;
}

function Row({ agent, resource }: RowProps) {
  return (
    <li className="resource-row">
      <span className="tile">
        <Bot className="i" aria-hidden="true" />
      </span>
      <span className="t">
        <b>
          {resource ? (
            <Link className="row-link" to="/agents/$id" params={{ id: resource.id }}>
              {resource.title}
            </Link>
          ) : (
            <Link className="row-link" to="/agents/board/$name" params={{ name: agent.name }}>
              {agent.name}
            </Link>
          )}
        </b>
        <span>
          {resource
            ? resource.seen_as === "own"
              ? sharing.ofYou
              : sharing.byOwner(resource.organisation || resource.owner)
            : sharing.ofTheBoard}
          {agent.description && `. ${agent.description}`}
        </span>
        {agent.unavailable && (
          <StateMark state="failed" word={`${sharing.cannotAnswer}: ${agent.unavailable}`} />
        )}
      </span>
      <span className="push acts">
        <span className="dim num">{sharing.reaches(agent.tool_count)}</span>
      </span>
    </li>
  );
}
