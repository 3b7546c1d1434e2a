/** Times, durations and amounts as people read them. All times are Unix seconds. */

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const seconds = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dated = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const whole = new Intl.NumberFormat("en");

/** "now", "2 min ago" under an hour, then "09:41", "23 Nov", and "23 Nov 2025" of another year. */
export function formatWhen(at: number, now = Date.now() / 1000): string {
  const age = now - at;
  if (age < 45) return "now";
  if (age < 3600) return `${Math.max(1, Math.round(age / 60))} min ago`;
  if (isToday(at)) return clock.format(at * 1000);
  const isThisYear = new Date(at * 1000).getFullYear() === new Date(now * 1000).getFullYear();
  return (isThisYear ? day : dated).format(at * 1000);
}

export function formatClock(at: number): string {
  return clock.format(at * 1000);
}

/** "09:41:19". */
export function formatSeconds(at: number): string {
  return seconds.format(at * 1000);
}

export function formatFull(at: number): string {
  return full.format(at * 1000);
}

/** "23 Nov". */
export function formatDay(at: number): string {
  return day.format(at * 1000);
}

export function isToday(at: number): boolean {
  return new Date(at * 1000).toDateString() === new Date().toDateString();
}

export function isYesterday(at: number): boolean {
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  return new Date(at * 1000).toDateString() === yesterday.toDateString();
}

/** "3 ms", "1.4 s", "3 min 12 s", "2 h 5 min", "1 day". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1) return "under 1 ms";
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600)
    return joinUnits(Math.floor(seconds / 60), "min", Math.floor(seconds % 60), "s");
  if (seconds < 86_400)
    return joinUnits(Math.floor(seconds / 3600), "h", Math.floor((seconds % 3600) / 60), "min");
  return formatCount(Math.floor(seconds / 86_400), "day");
}

/** "3 min 12 s", "1 h": the smaller unit is left out where there is none of it. */
function joinUnits(large: number, unit: string, small: number, smaller: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;
}

/** "1 byte", "812 bytes", "1.4 kB", "23 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return formatCount(bytes, "byte");
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < SIZES.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${SIZES[unit]}`;
}

const SIZES = ["kB", "MB", "GB"];

export function formatNumber(value: number): string {
  return whole.format(value);
}

/** "1 tool", "3 tools". */
export function formatCount(count: number, word: string): string {
  return `${whole.format(count)} ${word}${count === 1 ? "" : "s"}`;
}

const ORDER = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text with the characters written out that would show its letters in another order than they are sent. */
export function spellOrder(text: string): string {
  return text.replaceAll(ORDER, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
}

const ACRONYMS = /\b(api|csv|html|http|id|json|kb|mcp|pdf|sql|ssh|url|xml|yaml)\b/gi;

/** A wire name as words, for a tool without a title: "shop__price_with_tax" is "Price with tax". */
export function titleOf(name: string, title = ""): string {
  if (title && title !== name) return spellOrder(title);
  const own = name.split("__").at(-1) ?? name;
  const words = own
    .replaceAll(/[_-]+/g, " ")
    .trim()
    .replaceAll(ACRONYMS, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a call does, in words; a meta-tool names what it is for, or the agent that it asks. */
export function describeCall(tool: string, title: string, given: unknown): string {
  const values = typeof given === "object" && given !== null ? given : {};
  const value = (name: string) => String((values as Record<string, unknown>)[name] ?? "");
  if (tool === "call_agent" && value("agent_id")) return `Ask the agent ${value("agent_id")}`;
  if (tool === "find_tools" && value("query")) return `Find tools: ${value("query")}`;
  return titleOf(tool, title);
}
