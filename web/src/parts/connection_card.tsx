import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { type Approval, sessionQuery } from "../api/queries";
import { approvalWords, nameCaller } from "../words/approvals";
import { titleOf } from "../words/format";
import { MarkIcon } from "./marks";

interface ConnectionCardProps {
  approval: Approval;
  heading: "h1" | "h2";
}

/** A call that waits until its caller has connected an account, which only the caller can do. */
export function ConnectionCard({ approval, heading: Heading }: ConnectionCardProps) {
  const { data: session } = useQuery(sessionQuery);
  const { source = "", reason = "", principal } = approval;
  const isYours = session?.caller === principal;
  const title = titleOf(approval.tool, approval.title ?? "");
  return (
    <section className="approve" aria-label={approvalWords.waitsForAccount}>
      <header>
        <MarkIcon mark="wait" />
        {approvalWords.waitsForAccount}
      </header>
      <div className="in-card">
        <Heading>
          {isYours
            ? approvalWords.needsAccount(title)
            : approvalWords.needsAccountOf(title, nameCaller(approval))}
        </Heading>
        <p className="dim">
          {reason.charAt(0).toUpperCase() + reason.slice(1)}.{" "}
          {approval.run_id ? approvalWords.goesOn : approvalWords.thenAgain}
        </p>
        {isYours && source !== "" && (
          <div className="acts">
            <Link className="btn primary" to="/credentials" search={{ source }}>
              <Plug className="i s" aria-hidden="true" /> {approvalWords.connectOne}
            </Link>
          </div>
        )}
      </div>
    </section>
  );
}
