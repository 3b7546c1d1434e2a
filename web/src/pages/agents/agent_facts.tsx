import { Link } from "@tanstack/react-router";
import { MessageSquare } from "lucide-react";
import type { Agent } from "../../api/queries";
import { StateMark } from "../../parts/marks";
import { messages } from "../../words/messages";
import { sharing } from "../../words/resources";

/** Starts a chat with an agent; nothing where it cannot answer. */
export function ChatWith({ agent }: { agent: Agent | undefined }) {
  if (!agent || agent.unavailable) return null;
  return (
    <Link to="/chat" search={{ agent: agent.name }} className="btn primary">
      <MessageSquare className="i s" aria-hidden="true" /> {sharing.chatWithIt}
    </Link>
  );
}

/** The model of an agent, and the tools that it and the caller may use now. */
export function AgentFacts({ agent }: { agent: Agent }) {
  const missing = Object.entries(agent.missing);
  return (
    <section className="card padded" aria-label={sharing.worksWith}>
      <h2>{sharing.worksWith}</h2>
      {agent.unavailable && (
        <StateMark state="failed" word={`${sharing.cannotAnswer}: ${agent.unavailable}`} />
      )}
      <dl className="kv">
        <dt>{messages.model}</dt>
        <dd>{agent.model ? <code>{agent.model}</code> : sharing.modelOfBoard}</dd>
        <dt>{messages.tools}</dt>
        <dd>
          {sharing.reaches(agent.tool_count)}{" "}
          {agent.tools === null ? (
            <span className="faint">{sharing.allTools}</span>
          ) : (
            <span className="tags">
              {agent.tools.map((name) => (
                <code className="tag wrap" key={name}>
                  {name}
                </code>
              ))}
            </span>
          )}
        </dd>
      </dl>
      {missing.length > 0 && (
        <ul className="reasons" aria-label={sharing.missingTools}>
          {missing.map(([name, why]) => (
            <li key={name}>
              <code>{name}</code> <span className="dim">{why}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
