import { useQuery } from "@tanstack/react-query";
import { CircleX, ShieldCheck } from "lucide-react";
import { api, unwrap } from "../../api/client";
import { CopyName } from "../../parts/copy_name";
import { Problem } from "../../parts/states";
import { auditWords } from "../../words/audit";

/** Whether the chain is whole, once somebody asks: the server reads all of it. */
export function VerifyBanner() {
  const report = useQuery({
    queryKey: ["audit", "verify"],
    queryFn: ({ signal }) => unwrap(api.GET("/audit/verify", { signal })),
    enabled: false,
    retry: false,
  });
  const { data } = report;
  return (
    <section className={data && !data.intact ? "banner bad verify" : "banner verify"} role="status">
      {data?.intact === false ? (
        <CircleX className="i" aria-hidden="true" />
      ) : (
        <ShieldCheck className={data ? "i ok" : "i faint"} aria-hidden="true" />
      )}
      <div>
        {report.isFetching ? (
          auditWords.verifying
        ) : data?.intact ? (
          <>
            <b>{auditWords.isWhole}</b> {auditWords.checked(data.checked)}
          </>
        ) : data ? (
          <>
            <b>{auditWords.isBroken}</b> {data.fault} {auditWords.wholeBefore}
          </>
        ) : (
          auditWords.verifyWhat
        )}
        <Problem error={report.error} />
        {data?.intact && data.last > 0 && (
          <div className="anchor">
            <span className="faint">{auditWords.anchor}</span>
            <CopyName name={`${data.last}:${data.head}`} label={auditWords.copyAnchor} />
          </div>
        )}
      </div>
      <button
        type="button"
        className="btn sm push"
        disabled={report.isFetching}
        onClick={() => void report.refetch()}
      >
        {data ? auditWords.verifyAgain : auditWords.verify}
      </button>
    </section>
  );
}
