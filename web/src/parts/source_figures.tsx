import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { totalsQuery } from "../api/audit";
import { boardWords } from "../words/board";
import { Figures } from "./figures";
import { Failure } from "./states";

const WEEK = 7 * 24;

/** What the records say of the calls of a source in the last week, and a way to them. */
export function SourceFigures({ source }: { source: string }) {
  const totals = useQuery(totalsQuery({ source, hours: WEEK }));
  if (totals.error)
    return (
      <Failure
        what={boardWords.figuresFailed}
        error={totals.error}
        retry={() => void totals.refetch()}
      />
    );
  if (!totals.data) return null;
  return (
    <div className="source-figures">
      <Figures title={boardWords.lastWeek} totals={totals.data} />
      {totals.data.calls > 0 && (
        <p className="figure-links">
          <Link className="link" to="/audit" search={{ source }}>
            {boardWords.itsCalls}
          </Link>
          {totals.data.failed > 0 && (
            <Link className="link" to="/audit" search={{ source, outcome: "failed" }}>
              {boardWords.itsFailures}
            </Link>
          )}
        </p>
      )}
    </div>
  );
}
