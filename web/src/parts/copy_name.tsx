import { toolWords } from "../words/tools";
import { CopyButton } from "./copy_button";

/** A name as programs take it, with a button that copies it. */
export function CopyName({ name, label = toolWords.copyName }: { name: string; label?: string }) {
  return (
    <div className="wire">
      <code>{name}</code>
      <CopyButton text={name} label={label} />
    </div>
  );
}
