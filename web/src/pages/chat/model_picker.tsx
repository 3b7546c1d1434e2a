import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/queries";

interface ModelPickerProps {
  value: string;
  onChange: (name: string) => void;
}

/** Which model answers: that of the agent first; nothing where there is no choice. */
export function ModelPicker({ value, onChange }: ModelPickerProps) {
  const { data: models = [] } = useQuery(modelsQuery);
  if (models.length < 2 && value === "") return null;
  const isListed = value === "" || models.some((model) => model.name === value);
  return (
    <select
      className="pick"
      aria-label="Model"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Default model</option>
      {models.map((model) => (
        <option key={model.name} value={model.name}>
          {model.title}
          {model.role === "fast" ? " (fast)" : ""}
        </option>
      ))}
      {!isListed && <option value={value}>{value}</option>}
    </select>
  );
}
