import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { messages } from "../words/messages";

/** How long the button says that it copied. */
const SHOWN_MS = 2000;

interface CopyButtonProps {
  text: string;
  label: string;
  /** A word beside the icon, for a button that stands alone. */
  word?: string;
}

/** Copies a text, and says so for a moment. */
export function CopyButton({ text, label, word }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  // Without a secure connection a page cannot copy; a button that cannot work is not drawn.
  if (!navigator.clipboard) return null;
  const Icon = isCopied ? Check : Copy;
  return (
    <>
      <button
        type="button"
        className={word ? "btn quiet sm copy" : "icon-btn small copy"}
        aria-label={label}
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        <Icon className="i s" aria-hidden="true" />
        {word && (isCopied ? messages.copied : word)}
      </button>
      <span className="sr" role="status">
        {isCopied && messages.copied}
      </span>
    </>
  );
}
