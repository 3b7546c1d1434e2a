import { CircleCheck, CircleX } from "lucide-react";
import type { Report } from "../../api/resources";
import { StateMark } from "../../parts/marks";
import { sharing } from "../../words/resources";

const MOST = 8;

interface TestCardProps {
  report: Report | undefined;
  isPending: boolean;
  /** What to do next. */
  children: React.ReactNode;
}

/** What a test of a source has seen. */
export function TestCard({ report, isPending, children }: TestCardProps) {
  const isGood = report?.status === "ok" || report?.status === "degraded";
  return (
    <section className="card" aria-label={sharing.test}>
      <header>
        <h2>{sharing.test}</h2>
        <span className="push" role="status">
          {isPending ? (
            <StateMark state="running" />
          ) : (
            report && (
              <StateMark
                state={isGood ? "done" : "failed"}
                word={isGood ? sharing.passed : sharing.failed}
              />
            )
          )}
        </span>
      </header>
      {isPending && <p className="quiet-row dim">{sharing.testing}</p>}
      {!report && !isPending && <p className="quiet-row dim">{sharing.testWhat}</p>}
      {report && !isPending && (
        <ul className="found">
          {isGood ? (
            <>
              <li>
                <CircleCheck className="i s ok" aria-hidden="true" />
                <div>
                  <b>{sharing.answers}</b>
                  {report.reason && <span>{report.reason}</span>}
                </div>
              </li>
              <li>
                <CircleCheck className="i s ok" aria-hidden="true" />
                <div>
                  <b>{sharing.toolsListed(report.tools.length)}</b>
                  {report.tools.slice(0, MOST).map((name) => (
                    <span className="mono" key={name}>
                      {name}
                    </span>
                  ))}
                  {report.tools.length > MOST && (
                    <span>{sharing.andMore(report.tools.length - MOST)}</span>
                  )}
                </div>
              </li>
            </>
          ) : (
            <li>
              <CircleX className="i s bad" aria-hidden="true" />
              <div>
                <b>{sharing.status[report.status]}</b>
                <span>{report.reason}</span>
              </div>
            </li>
          )}
        </ul>
      )}
      <div className="card-foot">{children}</div>
    </section>
  );
}
