import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { agentsQuery } from "../../api/queries";
import { CrumbLink, Crumbs } from "../../parts/crumbs";
import { usePageTitle } from "../../parts/page_title";
import { Empty, Failure, Skeleton } from "../../parts/states";
import { explaining } from "../../words/explain";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";
import { AgentFacts, ChatWith } from "./agent_facts";

/** One agent of the board file: what it is for and what it works with. */
export function BoardAgentPage() {
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const agents = useQuery(agentsQuery);
  const agent = agents.data?.find((item) => item.name === name);
  usePageTitle(name);
  return (
    <div className="page">
      <div className="wide stack">
        <Crumbs label={explaining.where} here={name}>
          <CrumbLink to="/agents">{sharing.agents}</CrumbLink>
        </Crumbs>
        {agents.isPending && <Skeleton rows={3} />}
        {agents.error && (
          <Failure
            what={sharing.agentsFailed}
            error={agents.error}
            retry={() => void agents.refetch()}
          />
        )}
        {agents.data && !agent && <Empty title={sharing.noAgent}>{messages.notForYou}</Empty>}
        {agent && (
          <>
            <div className="head">
              <div>
                <h1>{agent.name}</h1>
                <p>
                  {sharing.ofTheBoard}
                  {agent.description && `. ${agent.description}`}
                </p>
              </div>
              <div className="acts">
                <ChatWith agent={agent} />
              </div>
            </div>
            <AgentFacts agent={agent} />
          </>
        )}
      </div>
    </div>
  );
}
