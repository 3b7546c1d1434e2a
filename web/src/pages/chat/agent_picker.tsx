import { useQuery } from "@tanstack/react-query";
import { agentsQuery } from "../../api/queries";

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
      aria-label="Agent"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Auto</option>
      {agents.map((agent) => (
        <option key={agent.name} value={agent.name} disabled={Boolean(agent.unavailable)}>
          {agent.name}
          {agent.unavailable ? " (unavailable)" : ""}
        </option>
      ))}
    </select>
  );
}
