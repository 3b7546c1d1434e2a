import { Link } from "@tanstack/react-router";
import { ArrowLeft, X } from "lucide-react";
import type { ReactNode } from "react";
import { Json } from "../../parts/json";
import { auditWords } from "../../words/audit";
import { messages } from "../../words/messages";
import type { AuditSearch } from "./search";

interface PanelProps {
  label: string;
  /** What the address holds without the record. */
  back: AuditSearch;
  children: ReactNode;
}

/** One record beside the list; on narrow screens in its place. */
export function Panel({ label, back, children }: PanelProps) {
  return (
    <aside className="panel" aria-label={label}>
      <div className="panel-close">
        <Link to="/audit" search={back} className="btn quiet sm panel-back">
          <ArrowLeft className="i s" aria-hidden="true" /> {messages.back}
        </Link>
        <Link
          to="/audit"
          search={back}
          className="icon-btn panel-x"
          aria-label={auditWords.chooseNothing}
          activeOptions={{ exact: true }}
        >
          <X className="i" aria-hidden="true" />
        </Link>
      </div>
      {children}
    </aside>
  );
}

/** Facts by name; one without a value is left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="kv">
      {facts
        .filter(([, value]) => value !== "" && value !== null && value !== undefined)
        .map(([name, value]) => (
          <div className="pair" key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The whole record as JSON, folded. */
export function AsStored({ value }: { value: unknown }) {
  return (
    <details className="fold">
      <summary>{auditWords.asStored}</summary>
      <Json value={value} />
    </details>
  );
}
