import { memo } from "react";
import { spellOrder } from "../words/format";

const LONGEST = 20_000;
const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g;

/** JSON with its keys, texts and numbers in colour; long ones are cut, and can be opened. */
export const Json = memo(function Json({ value }: { value: unknown }) {
  const text = spellOrder(
    typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""),
  );
  const isCut = text.length > LONGEST;
  return (
    <pre className="json" tabIndex={0}>
      {colour(isCut ? text.slice(0, LONGEST) : text)}
      {isCut && `\n… ${(text.length - LONGEST).toLocaleString("en")} more characters`}
    </pre>
  );
});

/** JSON text laid out on lines, or the text as it is when it is no JSON. */
export function layOut(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function colour(text: string) {
  const out: React.ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    out.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    const kind = match[3] !== undefined ? "n" : match[2] !== undefined ? "k" : "s";
    out.push(
      <span key={match.index} className={kind}>
        {match[1] ?? match[3]}
      </span>,
      match[2] ?? "",
    );
  }
  out.push(text.slice(end));
  return out;
}
