import { RefreshCw } from "lucide-react";
import { useMemo, useState } from "react";
import {
  type Bar,
  depthOf,
  makeScale,
  type Scale,
  type Step,
  type Takeover,
} from "../stream/steps";
import { formatDuration, formatFull, formatSeconds, titleOf } from "../words/format";
import { messages } from "../words/messages";
import { runWords } from "../words/runs";
import { classOf, MarkIcon, markOf } from "./marks";

interface WaterfallProps {
  steps: readonly Step[];
  takeovers: readonly Takeover[];
  titles: ReadonlyMap<string, string>;
  /** Unix seconds. */
  start: number;
  end: number;
  chosen: string;
  onChoose: (id: string) => void;
}

const CLASSES: Record<string, string> = {
  failed: "f",
  in_progress: "r",
  waiting: "wt",
  paused: "wt",
  unknown: "u",
  cancelled: "cutoff",
};
const MOST_ROWS = 120;
const MOST_TAKEOVERS = 10;

/** The steps of a run over time: a bar a try, waits hatched, long waits folded. */
export function Waterfall({
  steps,
  takeovers,
  titles,
  start,
  end,
  chosen,
  onChoose,
}: WaterfallProps) {
  const [isFolding, setFolding] = useState(true);
  const [most, setMost] = useState(MOST_ROWS);
  const scale = useMemo(
    () => makeScale(steps, start, end, isFolding),
    [steps, start, end, isFolding],
  );
  const folded = scale.folds.reduce((sum, fold) => sum + fold.seconds, 0);
  return (
    <section className="card fall" aria-label={runWords.timeline}>
      {(scale.folds.length > 0 || !isFolding) && (
        <div className="tools">
          <span>
            {isFolding ? runWords.waitsFolded(formatDuration(folded * 1000)) : runWords.waitsInFull}
          </span>
          <button type="button" className="btn sm quiet" onClick={() => setFolding(!isFolding)}>
            {isFolding ? runWords.unfold : runWords.fold}
          </button>
        </div>
      )}
      <div className="axis" aria-hidden="true">
        <span />
        <div className="track">
          {marksOf(scale, start, end).map((at) => (
            <span key={at} style={{ "--x": `${scale.place(at)}%` } as React.CSSProperties}>
              {at === start ? "0" : formatDuration((at - start) * 1000)}
            </span>
          ))}
        </div>
        <span />
      </div>
      {steps.slice(0, most).map((step) => (
        <Row
          key={step.id}
          step={step}
          title={titles.get(step.tool) ?? ""}
          place={scale.place}
          end={end}
          isChosen={step.id === chosen}
          onChoose={onChoose}
        />
      ))}
      {steps.length > most && (
        <button type="button" className="btn quiet" onClick={() => setMost(most + MOST_ROWS)}>
          {messages.showMoreOf(steps.length)}
        </button>
      )}
      {takeovers.length > 0 && (
        <ul className="takeovers" aria-label={runWords.restarts}>
          {takeovers.slice(-MOST_TAKEOVERS).map(({ at, cause }) => (
            <li key={at} title={formatFull(at)}>
              <RefreshCw className="i s" aria-hidden="true" />
              <span className="num">{formatSeconds(at)}</span>
              <span>
                {cause === "stopped" ? runWords.takenOverStopped : runWords.takenOverLost}{" "}
                {runWords.notTwice}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const LABEL_SHARE = 14;

/** The times that the axis names: begin and end, and the middle where there is room for it. */
function marksOf(scale: Scale, start: number, end: number): number[] {
  const middle = (start + end) / 2;
  const at = scale.place(middle);
  const hasRoom = at > LABEL_SHARE && at < scale.place(end) - LABEL_SHARE;
  if (hasRoom) return [start, middle, end];
  return end > start ? [start, end] : [start];
}

/** The title of a step: its own, that of its tool, or the last part of its path. */
export function nameOfStep(step: Step, toolTitle = ""): string {
  if (step.title) return step.title;
  return step.tool ? titleOf(step.tool, toolTitle) : titleOf(step.id.split("/").at(-1) ?? step.id);
}

interface RowProps {
  step: Step;
  title: string;
  place: (at: number) => number;
  end: number;
  isChosen: boolean;
  onChoose: (id: string) => void;
}

function Row({ step, title, place, end, isChosen, onChoose }: RowProps) {
  const [mark, word] = markOf(step.state);
  const hasBegun = (bar: Bar) => bar.from <= end;
  const spent = step.bars.reduce((sum, bar) => sum + Math.max(0, (bar.to || end) - bar.from), 0);
  return (
    <button
      type="button"
      className="w"
      aria-current={isChosen ? "true" : undefined}
      onClick={() => onChoose(step.id)}
    >
      <div className="name" style={{ "--deep": depthOf(step) } as React.CSSProperties}>
        <span className={classOf(mark)}>
          <MarkIcon mark={mark} />
        </span>
        <span className="sr">{word}: </span>
        <div>
          <b className="cut">{nameOfStep(step, title)}</b>
          {(step.tool || step.id.includes("/")) && (
            <small className="mono cut">{step.tool || step.id}</small>
          )}
        </div>
      </div>
      <div className="track" aria-hidden="true">
        {step.bars.filter(hasBegun).map((bar) => {
          const x = place(bar.from);
          return (
            <i
              key={bar.from}
              className={`bit ${CLASSES[bar.state] ?? ""}`}
              style={
                {
                  "--x": `${x}%`,
                  "--w": `${Math.max(0.4, place(bar.to || end) - x)}%`,
                } as React.CSSProperties
              }
            />
          );
        })}
        {step.bars.length === 0 && (
          <i className="bit nx" style={{ "--x": "96%", "--w": "3.4%" } as React.CSSProperties} />
        )}
      </div>
      <div className="dur">
        {step.bars.length === 0 ? runWords.next : formatDuration(spent * 1000)}
      </div>
    </button>
  );
}
