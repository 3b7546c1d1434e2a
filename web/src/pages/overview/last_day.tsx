import type { Overview } from "../../api/queries";
import { Figures } from "../../parts/figures";
import { boardWords } from "../../words/board";

/** Calls of the last 24 hours: a line by the hour, and the figures that matter. */
export function LastDay({ day }: { day: Overview["day"] }) {
  return <Figures title={boardWords.lastDay} totals={{ ...day, slots: day.hours }} />;
}
