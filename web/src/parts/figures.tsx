import { boardWords } from "../words/board";
import { formatDuration, formatNumber } from "../words/format";
import { messages } from "../words/messages";

interface FiguresProps {
  title: string;
  /** Calls of a time, and those of each part of it. */
  totals: {
    calls: number;
    failed: number;
    p50_ms: number | null;
    p95_ms: number | null;
    slots: readonly { calls: number }[];
  };
}

/** Calls of a time: a line, and the figures that matter. */
export function Figures({ title, totals }: FiguresProps) {
  const facts: [string, string][] = [
    [messages.calls, formatNumber(totals.calls)],
    [
      messages.failed,
      totals.calls > 0 ? `${((100 * totals.failed) / totals.calls).toFixed(1)}%` : "–",
    ],
    [boardWords.halfWithin, totals.p50_ms === null ? "–" : formatDuration(totals.p50_ms)],
    [boardWords.mostWithin, totals.p95_ms === null ? "–" : formatDuration(totals.p95_ms)],
  ];
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {totals.calls > 0 && <Sparkline values={totals.slots.map((slot) => slot.calls)} />}
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const WIDTH = 320;
const HEIGHT = 56;
const PAD = 4;

function Sparkline({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const line = `M${values
    .map((value, index) => {
      const y = HEIGHT - PAD - ((HEIGHT - 2 * PAD) * value) / most;
      return `${(index * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("L")}`;
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="a" d={`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />
      <path className="l" d={line} />
    </svg>
  );
}
