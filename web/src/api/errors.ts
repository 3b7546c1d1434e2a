/** One argument or field that the server refused, and why. */
export interface Problem {
  path: string;
  message: string;
}

/** The answer of the API to a request that failed; its texts are safe to show. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errorId: string;
  /** The approval that the call waits for; empty for none. */
  readonly approvalId: string;
  readonly problems: Problem[];
  readonly missingScopes: string[];
  /** Seconds until the request may be repeated; 0 if the server did not say. */
  readonly retryAfter: number;

  constructor(status: number, body: unknown, retryAfter = 0) {
    const said = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
    super(String(said.detail ?? said.title ?? `The server answered with status ${status}.`));
    this.status = status;
    this.code = String(said.code ?? "");
    this.errorId = String(said.error_id ?? "");
    this.approvalId = String(said.approval_id ?? "");
    this.problems = Array.isArray(said.problems) ? (said.problems as Problem[]) : [];
    this.missingScopes = Array.isArray(said.missing_scopes) ? said.missing_scopes.map(String) : [];
    this.retryAfter = retryAfter;
  }
}

/** The server could not be reached at all. */
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer.");
  }
}
