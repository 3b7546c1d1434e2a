import { EyeOff } from "lucide-react";
import { memo, type ReactNode, useMemo, useState } from "react";
import type { DocText, Finding } from "../../api/knowledge";
import { evidence } from "../../words/evidence";
import {
  type Block,
  layOutBlocks,
  layOutRuns,
  layOutSections,
  type Mark,
  type Run,
  type Section,
} from "./layout";

interface DocumentTextProps {
  page: DocText;
  marks: readonly Mark[];
  /** Numbers of the pieces at the edge; without them the text stands alone. */
  isNumbered?: boolean;
  /** What can be decided about a finding. */
  decide?: (finding: Finding) => ReactNode;
}

/** The text of a page, as it was cut; nothing of it becomes markup, and its links are dead. */
export const DocumentText = memo(function DocumentText(props: DocumentTextProps) {
  const { page, marks, isNumbered = false, decide } = props;
  const sections = useMemo(() => layOutSections(page), [page]);
  const marked = Math.max(
    0,
    sections.findIndex((item) => marks.some((mark) => mark.start < item.end)),
  );
  const first = marks.length > 0 ? Math.max(0, marked - BEFORE) : 0;
  const [more, setMore] = useState({ before: 0, after: MOST });
  const from = Math.max(0, first - more.before);
  const to = first + more.after;
  const isCited = (section: Section) =>
    marks.some(
      (mark) => mark.kind === "quote" && mark.start < section.end && mark.end > section.start,
    );
  const shown = sections.slice(from, to).map((section) => {
    if (section.finding)
      return (
        <FindingBox key={section.key} section={section} text={page.text}>
          {decide?.(section.finding)}
        </FindingBox>
      );
    const blocks = layOutBlocks(page.text, section.start, section.end);
    const inside = blocks.map((block) => (
      <BlockView key={block.start} block={block} text={page.text} marks={marks} />
    ));
    if (!isNumbered) return <div key={section.key}>{inside}</div>;
    const number = section.piece?.number;
    const cited = isCited(section);
    return (
      <section
        key={section.key}
        className="cut-out"
        id={number ? `p${number}` : undefined}
        aria-label={
          number === undefined
            ? undefined
            : cited
              ? evidence.citedPiece(number)
              : evidence.pieceNumber(number)
        }
        aria-current={cited ? "true" : undefined}
      >
        <span className="pn num" aria-hidden="true">
          {number}
        </span>
        <div className="txt">{inside}</div>
      </section>
    );
  });
  return (
    <>
      {from > 0 && (
        <More
          word={evidence.showEarlier}
          onMore={() => setMore({ ...more, before: more.before + MOST })}
        />
      )}
      {shown}
      {to < sections.length && (
        <More
          word={evidence.showMore}
          onMore={() => setMore({ ...more, after: more.after + MOST })}
        />
      )}
    </>
  );
});

/** A text of many pieces is drawn in parts, around what is marked. */
const MOST = 120;
const BEFORE = 20;

function More({ word, onMore }: { word: string; onMore: () => void }) {
  return (
    <div className="windowed">
      <button type="button" className="btn sm" onClick={onMore}>
        {word}
      </button>
    </div>
  );
}

function FindingBox({
  section,
  text,
  children,
}: {
  section: Section;
  text: string;
  children?: ReactNode;
}) {
  const finding = section.finding as Finding;
  const title = evidence.finding[finding.kind] ?? finding.kind;
  return (
    <section className="cut-out left-out" id={`f${finding.start}`} aria-label={title}>
      <span className="pn" aria-hidden="true">
        <EyeOff className="i s" />
      </span>
      <div className="txt">
        <p className="tells">
          <b>{title}</b>
          {finding.reason && <span>{finding.reason}</span>}
        </p>
        <p className="quoted">{text.slice(section.start, section.end).trim()}</p>
        <div className="foot">
          <span>{finding.is_left_out ? evidence.isLeftOut : evidence.isUsed}</span>
          {children}
        </div>
      </div>
    </section>
  );
}

interface BlockProps {
  block: Block;
  text: string;
  marks: readonly Mark[];
}

function BlockView({ block, text, marks }: BlockProps) {
  const inside = <Runs start={block.start} end={block.end} text={text} marks={marks} />;
  switch (block.kind) {
    case "heading":
      return block.level < 3 ? <h3>{inside}</h3> : <h4>{inside}</h4>;
    case "item":
      return <p className="bulleted">{inside}</p>;
    case "code":
      return (
        <pre className="code" tabIndex={0}>
          {inside}
        </pre>
      );
    case "table":
      return <TableView block={block} text={text} marks={marks} />;
    default:
      return <p>{inside}</p>;
  }
}

function TableView({ block, text, marks }: BlockProps & { block: Block & { kind: "table" } }) {
  const [head = [], ...rows] = block.rows;
  const isHit = (row: { start: number; end: number }[]) => {
    const start = row[0]?.start ?? 0;
    const end = row.at(-1)?.end ?? 0;
    return marks.some((mark) => mark.kind === "quote" && mark.start < end && mark.end > start);
  };
  const cell = (range: { start: number; end: number }) => (
    <Runs start={range.start} end={range.end} text={text} marks={marks} />
  );
  const isNumber = (range: { start: number; end: number }) =>
    /^[-+]?[\d.,  ]+ ?[%€$£]?$/.test(text.slice(range.start, range.end));
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={evidence.asText}>
      <table className="in-text">
        <thead>
          <tr>
            {head.map((range) => (
              <th key={range.start}>{cell(range)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row[0]?.start ?? index} className={isHit(row) ? "hitrow" : undefined}>
              {row.map((range) => (
                <td key={range.start} className={isNumber(range) ? "r num" : undefined}>
                  {cell(range)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Runs({
  start,
  end,
  text,
  marks,
}: {
  start: number;
  end: number;
  text: string;
  marks: readonly Mark[];
}) {
  return groupByMark(layOutRuns(text, start, end, marks)).map(([mark, runs], index) => {
    const inside = runs.map((run, at) => {
      const bare = run.isCode ? <code>{run.text}</code> : run.text;
      return <span key={at}>{run.isBold ? <b>{bare}</b> : bare}</span>;
    });
    return mark ? (
      <mark key={index} className={mark.kind} data-mark={mark.start}>
        {inside}
      </mark>
    ) : (
      <span key={index}>{inside}</span>
    );
  });
}

/** Runs that follow each other in one mark are one element. */
function groupByMark(runs: readonly Run[]): [Mark | null, Run[]][] {
  const groups: [Mark | null, Run[]][] = [];
  for (const run of runs) {
    const last = groups.at(-1);
    if (last && last[0] === run.mark) last[1].push(run);
    else groups.push([run.mark, [run]]);
  }
  return groups;
}
