/** Why a try of a call failed, by the code of its error, to stand behind "after: ". */
const REASONS: Record<string, string> = {
  breaker_open: "out of order for now",
  host_unavailable: "its host did not answer",
  mcp_connection: "did not answer",
  overloaded: "too busy",
  rate_limited: "too many calls",
  source_unavailable: "its source did not answer",
  timeout: "no answer in time",
  unavailable: "did not answer",
};

export function reasonOf(code: string): string {
  return REASONS[code] ?? code.replaceAll("_", " ");
}
