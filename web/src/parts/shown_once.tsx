import { Copy } from "lucide-react";
import { useState } from "react";
import { people } from "../words/people";
import { StateMark } from "./marks";

interface ShownOnceProps {
  title: string;
  /** What is shown: a key, or the address of a link. */
  value: string;
  what: string;
  done: string;
  state?: string;
  onDone: () => void;
}

/** A secret that the server has told once; it stays until its reader says that it is stored. */
export function ShownOnce({ title, value, what, done, state, onDone }: ShownOnceProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(value);
    setCopied(true);
  };
  return (
    <section className="card once" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {state && (
          <span className="push">
            <StateMark state="done" word={state} />
          </span>
        )}
      </header>
      <div className="body">
        <div className="keyline">
          <code>{value}</code>
          <button type="button" className="btn" onClick={() => void copy()}>
            <Copy className="i s" aria-hidden="true" /> {isCopied ? people.copied : people.copy}
          </button>
        </div>
        <div className="line">
          <span className="dim">{what}</span>
          <button type="button" className="btn sm" onClick={onDone}>
            {done}
          </button>
        </div>
      </div>
    </section>
  );
}
