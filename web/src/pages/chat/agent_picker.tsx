import { useQuery } from "@tanstack/react-query";
import { agentsQuery } from "../../api/queries";
import { messages } from "../../words/messages";

/** Which agent answers: Auto first; nothing where the board has no agents of its own. */
export function AgentPicker({
  value,
  onChange,
}: {
  value: string;
  onChange: (name: string) => void;
}) {
  const { data: agents = [] } = useQuery(agentsQuery);
  if (agents.length === 0) return null;
  return (
    <select
      className="pick"
      aria-label={messages.agent}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{messages.auto}</option>
      {agents.map((agent) => (
        <option key={agent.name} value={agent.name} disabled={Boolean(agent.unavailable)}>
          {agent.name}
          {agent.unavailable ? messages.unavailable : ""}
        </option>
      ))}
    </select>
  );
}
