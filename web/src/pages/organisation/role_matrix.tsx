import { Plug, Regex, X } from "lucide-react";
import type { Schema } from "../../api/client";
import {
  type Draft,
  type Level,
  LEVELS,
  listLevels,
  setLevel,
  type SourceRow,
} from "../../stream/role_levels";
import { people } from "../../words/people";
import { roleWords } from "../../words/roles";

interface RoleMatrixProps {
  sources: readonly SourceRow[];
  roles: readonly Schema<"RoleAnswer">[];
  stored: Draft;
  draft: Draft;
  /** Left out where the caller may only look. */
  onChange?: (draft: Draft) => void;
  onRemove: (role: string) => void;
}

const SHIPPED = ["administrator", "editor", "member", "approver"] as const;

/** Roles as columns, sources as rows, levels as pegs. */
export function RoleMatrix(props: RoleMatrixProps) {
  const { sources, roles, draft, onChange, onRemove } = props;
  const known = new Set(sources.map((item) => item.name));
  const patterns = [
    ...new Set(Object.values(draft).flatMap((levels) => Object.keys(levels))),
  ].filter((name) => !known.has(name));
  return (
    <section className="card scrolls" tabIndex={0} aria-label={roleWords.whatRoles}>
      <table className="tbl matrix">
        <caption className="cap">{roleWords.whatRoles}</caption>
        <thead>
          <tr>
            <th scope="col">{roleWords.whatRole}</th>
            {SHIPPED.map((name) => (
              <th scope="col" key={name}>
                {people.roleWords[name]?.[0]}
              </th>
            ))}
            {roles.map((item) => (
              <th scope="col" key={item.name}>
                <span className="role-head">
                  {item.title || item.name}
                  {onChange && (
                    <button
                      type="button"
                      className="icon-btn"
                      aria-label={roleWords.removeRole(item.title || item.name)}
                      onClick={() => onRemove(item.name)}
                    >
                      <X className="i s" aria-hidden="true" />
                    </button>
                  )}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sources.map((item) => (
            <Row key={item.name} row={item} isPattern={false} {...props} />
          ))}
          {patterns.map((name) => (
            <Row key={name} row={{ name, tools: 0, strongest: "admin" }} isPattern {...props} />
          ))}
        </tbody>
      </table>
      {sources.length === 0 && patterns.length === 0 && (
        <p className="quiet-row dim">{roleWords.noSources}</p>
      )}
    </section>
  );
}

const FIXED: Record<string, Level | ""> = {
  administrator: "read",
  editor: "admin",
  member: "read",
  approver: "",
};

type RowProps = RoleMatrixProps & { row: SourceRow; isPattern: boolean };

function Row({ row, isPattern, roles, stored, draft, onChange }: RowProps) {
  const Icon = isPattern ? Regex : Plug;
  return (
    <tr>
      <th scope="row">
        <div className="who">
          <span className="tile">
            <Icon className="i" aria-hidden="true" />
          </span>
          <div>
            <b>{row.name}</b>
            <small>{isPattern ? roleWords.patternHint : roleWords.sourceTools(row.tools)}</small>
          </div>
        </div>
      </th>
      {SHIPPED.map((name) => {
        const level = cap(FIXED[name] ?? "", row.strongest);
        return (
          <td key={name} className="lvl" data-l={people.roleWords[name]?.[0]}>
            <span className="fixed">
              <Pegs level={level} /> {roleWords.levels[level || "none"]}
            </span>
          </td>
        );
      })}
      {roles.map((role) => {
        const level = draft[role.name]?.[row.name] ?? "";
        const before = stored[role.name]?.[row.name] ?? "";
        const title = role.title || role.name;
        return (
          <td key={role.name} className={level === before ? "lvl" : "lvl changed"} data-l={title}>
            {onChange ? (
              <label>
                <Pegs level={level} />
                <span className="sr">{roleWords.in(title, row.name)}</span>
                <select
                  value={level}
                  onChange={(event) =>
                    onChange({
                      ...draft,
                      [role.name]: setLevel(
                        draft[role.name] ?? {},
                        row.name,
                        event.target.value as Level | "",
                      ),
                    })
                  }
                >
                  <option value="">{roleWords.levels.none}</option>
                  {listLevels(row.strongest, before).map((item) => (
                    <option key={item} value={item}>
                      {roleWords.levels[item]}
                    </option>
                  ))}
                </select>
              </label>
            ) : (
              <span className="fixed">
                <Pegs level={level} /> {roleWords.levels[level || "none"]}
              </span>
            )}
          </td>
        );
      })}
    </tr>
  );
}

/** A shipped role gives no more than the source can do. */
function cap(level: Level | "", strongest: Level): Level | "" {
  if (level === "") return "";
  return LEVELS[Math.min(LEVELS.indexOf(level), LEVELS.indexOf(strongest))] ?? level;
}

function Pegs({ level }: { level: Level | "" }) {
  const count = level ? LEVELS.indexOf(level) + 1 : 0;
  return (
    <span className="lv" aria-hidden="true">
      {LEVELS.map((item, index) => (
        <i key={item} className={index < count ? "p" : ""} />
      ))}
    </span>
  );
}
