import { Link } from "@tanstack/react-router";
import type { Schema } from "../api/client";
import type { Tool } from "../api/queries";
import { boardWords } from "../words/board";
import { formatCount } from "../words/format";
import { messages } from "../words/messages";

/** Ready, asks first, held back, unavailable, off: the classes of a peg. */
export type Peg = "" | "q" | "h" | "x" | "o";

const WORDS: Record<Peg, string> = {
  "": boardWords.ready.toLowerCase(),
  q: messages.asksFirst.toLowerCase(),
  h: boardWords.heldBack.toLowerCase(),
  x: boardWords.unavailable.toLowerCase(),
  o: boardWords.off.toLowerCase(),
};
const WORST: Peg[] = ["x", "h", "q", "o", ""];
const LEGEND: [Peg, string][] = [
  ["", boardWords.ready],
  ["q", messages.asksFirst],
  ["h", boardWords.heldBack],
  ["x", boardWords.unavailable],
  ["o", boardWords.off],
];
const MOST = 48;
const MOST_ROWS = 12;

/** The state of a tool as a peg. */
export function pegOf(tool: Tool): Peg {
  if (tool.unavailable || tool.status === "failed") return "x";
  if (tool.status === "disabled" || tool.verdict === "deny") return "o";
  return tool.verdict === "ask" ? "q" : "";
}

type BoardRow = Schema<"BoardRow">;

/**
 * The board: a row a source, a peg a tool; over 48 tools a peg stands for several. What does not answer comes
 * first, and of many sources the first twelve are drawn.
 */
export function PegBoard({ rows }: { rows: BoardRow[] }) {
  const shown = sortRows(rows).slice(0, rows.length > MOST_ROWS + 1 ? MOST_ROWS : undefined);
  return (
    <>
      <ul className="pegs">
        {shown.map((row) => (
          <li key={row.source}>
            <Link to="/tools" search={{ source: row.source }}>
              <span className="mono cut" title={row.source}>
                {row.source}
              </span>
              <span className="holes" aria-hidden="true">
                {foldPegs(pegsOf(row)).map((peg, index) => (
                  <i key={index} className={peg} />
                ))}
              </span>
              <span className="n">{row.tools}</span>
              <span className="sr">{describe(row)}</span>
            </Link>
          </li>
        ))}
        {shown.length < rows.length && (
          <li>
            <Link to="/sources" className="rest">
              {boardWords.moreSources(rows.length - shown.length)}
            </Link>
          </li>
        )}
      </ul>
      <div className="legend" aria-hidden="true">
        {LEGEND.map(([peg, word]) => (
          <span key={word}>
            <i className={peg} />
            {word}
          </span>
        ))}
      </div>
    </>
  );
}

/** The rows of the board, those that do not answer first. */
export function sortRows(rows: readonly BoardRow[]): BoardRow[] {
  return [...rows].sort((one, other) => Number(isSilent(other)) - Number(isSilent(one)));
}

function isSilent(row: BoardRow): boolean {
  return row.status === "failed";
}

/** What a source that answers cannot offer is not set up: off, and no failure. */
function countsOf(row: BoardRow): [Peg, number][] {
  const isFailing = row.status !== "ok";
  return [
    ["", row.ready],
    ["q", row.asks],
    ["h", row.held],
    ["x", isFailing ? row.unavailable : 0],
    ["o", isFailing ? row.off : row.off + row.unavailable],
  ];
}

/** The pegs of a source; one that does not answer has a mark also where its tools are not known. */
export function pegsOf(row: BoardRow): Peg[] {
  if (isSilent(row) && row.tools === 0) return ["x"];
  return countsOf(row).flatMap(([peg, count]) => new Array<Peg>(count).fill(peg));
}

/** At most 48 pegs; the worst state of those that one stands for wins. */
export function foldPegs(pegs: readonly Peg[]): Peg[] {
  if (pegs.length <= MOST) return [...pegs];
  const each = Math.ceil(pegs.length / MOST);
  return Array.from({ length: Math.ceil(pegs.length / each) }, (_, index) => {
    const group = pegs.slice(index * each, (index + 1) * each);
    return WORST.find((state) => group.includes(state)) ?? "";
  });
}

function describe(row: BoardRow): string {
  const said = countsOf(row)
    .filter(([, count]) => count > 0)
    .map(([peg, count]) => `${count} ${WORDS[peg]}`);
  if (isSilent(row)) said.unshift(boardWords.silent.toLowerCase());
  return ` ${formatCount(row.tools, "tool")}: ${said.join(", ")}`;
}
