import type { CallPart } from "./answers";

/** More calls than these that are done in a row fold into one line. */
const MOST_OPEN = 5;

export interface CallRow {
  key: string;
  calls: CallPart[];
  isFolded: boolean;
}

/** The rows of a group: each call its own, but more than five that are done in a row share one. */
export function foldCalls(calls: readonly CallPart[]): CallRow[] {
  const rows: CallRow[] = [];
  let done: CallPart[] = [];
  const flush = () => {
    const [first] = done;
    if (first && done.length > MOST_OPEN)
      rows.push({ key: `fold ${first.key}`, calls: done, isFolded: true });
    else rows.push(...done.map((call) => ({ key: call.key, calls: [call], isFolded: false })));
    done = [];
  };
  for (const call of calls) {
    if (call.state === "completed") {
      done.push(call);
      continue;
    }
    flush();
    rows.push({ key: call.key, calls: [call], isFolded: false });
  }
  flush();
  return rows;
}
