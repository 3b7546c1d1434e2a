import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { toolWords } from "../words/tools";

/** A name as programs take it, with a button that copies it. */
export function CopyName({ name, label = toolWords.copyName }: { name: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="wire">
      <code>{name}</code>
      <button
        type="button"
        className="icon-btn copy"
        aria-label={label}
        onClick={() => void navigator.clipboard?.writeText(name).then(() => setCopied(true))}
      >
        {isCopied ? (
          <Check className="i s" aria-hidden="true" />
        ) : (
          <Copy className="i s" aria-hidden="true" />
        )}
      </button>
    </div>
  );
}
