import type { ReactNode } from "react";
import { formatFull, formatWhen } from "../words/format";
import { people } from "../words/people";

interface TableProps {
  /** What the rows are, for those who do not see the page around it. */
  caption: string;
  /** The heads of the columns; one that ends a row on phones has a class. */
  columns: readonly (string | { name: string; className: string })[];
  /** Whether the last cell of a row has buttons. */
  hasActions?: boolean;
  className?: string;
  children: ReactNode;
}

/** Rows below named columns; on phones each row is a card. */
export function Table({ caption, columns, hasActions, className = "", children }: TableProps) {
  return (
    <table className={`tbl ${className}`}>
      <caption className="cap">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) =>
            typeof column === "string" ? (
              <th key={column} scope="col">
                {column}
              </th>
            ) : (
              <th key={column.name} scope="col" className={column.className}>
                {column.name}
              </th>
            ),
          )}
          {hasActions && (
            <th scope="col">
              <span className="sr">{people.action}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** The cell of a person or an account: a letter, the name, and what tells it from others. */
export function WhoCell({ name, children }: { name: string; children: ReactNode }) {
  return (
    <td>
      <div className="who">
        <span className="face" aria-hidden="true">
          {name.charAt(0).toUpperCase()}
        </span>
        <div>
          <b>{name}</b>
          <small>{children}</small>
        </div>
      </div>
    </td>
  );
}

/** The cell of a time of use; null for never. */
export function UsedCell({ at, label }: { at: number | null; label: string }) {
  return (
    <td className="dim num" data-l={label} title={at === null ? undefined : formatFull(at)}>
      {at === null ? people.never : formatWhen(at)}
    </td>
  );
}

interface RowButtonProps {
  action: string;
  /** The row, for those who do not see which one the button is in. */
  of: string;
  isQuiet?: boolean;
  onClick: () => void;
}

/** A button in a row. */
export function RowButton({ action, of, isQuiet = false, onClick }: RowButtonProps) {
  return (
    <button
      type="button"
      className={isQuiet ? "btn sm quiet" : "btn sm"}
      aria-label={`${action}: ${of}`}
      onClick={onClick}
    >
      {action}
    </button>
  );
}
