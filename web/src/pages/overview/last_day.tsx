import type { Overview } from "../../api/queries";
import { boardWords } from "../../words/board";
import { formatDuration, formatNumber } from "../../words/format";
import { messages } from "../../words/messages";

/** Calls of the last 24 hours: a line by the hour, and the figures that matter. */
export function LastDay({ day }: { day: Overview["day"] }) {
  const facts: [string, string][] = [
    [messages.calls, formatNumber(day.calls)],
    [messages.failed, day.calls > 0 ? `${((100 * day.failed) / day.calls).toFixed(1)}%` : "–"],
    [boardWords.halfWithin, day.p50_ms === null ? "–" : formatDuration(day.p50_ms)],
    [boardWords.mostWithin, day.p95_ms === null ? "–" : formatDuration(day.p95_ms)],
  ];
  return (
    <section className="card">
      <header>
        <h2>{boardWords.lastDay}</h2>
      </header>
      {day.calls > 0 && <Sparkline values={day.hours.map((hour) => hour.calls)} />}
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
