import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/queries";
import { messages } from "../../words/messages";

interface ModelPickerProps {
  value: string;
  onChange: (name: string) => void;
  hasDefault?: boolean;
}

/** Which model answers: that of the agent first, where there is one; nothing where there is no choice. */
export function ModelPicker({ value, onChange, hasDefault = true }: ModelPickerProps) {
  const { data: models = [] } = useQuery(modelsQuery);
  if (models.length < 2 && (value === "" || !hasDefault)) return null;
  const isListed = value === "" || models.some((model) => model.name === value);
  return (
    <select
      className="pick"
      aria-label={messages.model}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {hasDefault && <option value="">{messages.defaultModel}</option>}
      {models.map((model) => (
        <option key={model.name} value={model.name}>
          {model.title}
          {model.role === "fast" ? messages.fast : ""}
        </option>
      ))}
      {!isListed && <option value={value}>{value}</option>}
    </select>
  );
}
