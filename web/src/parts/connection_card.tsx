import { Link } from "@tanstack/react-router";
import type { Approval } from "../api/queries";
import { secrets } from "../words/credentials";
import { MarkIcon } from "./marks";

/** A call that acts with an account of its caller, who has none: it goes on once there is one. */
export function ConnectionCard({
  approval,
  heading: Heading,
}: {
  approval: Approval;
  heading: "h1" | "h2";
}) {
  const source = approval.source ?? "";
  return (
    <section className="approve" aria-label={secrets.needed} data-approval={approval.id}>
      <header>
        <MarkIcon mark="wait" />
        {secrets.needed}
      </header>
      <div className="in-card">
        <Heading>{secrets.neededFor(source)}</Heading>
        <p className="note">{secrets.neededWhy}</p>
        <div className="acts">
          <Link className="btn primary" to="/credentials" search={{ source }}>
            {secrets.add}
          </Link>
        </div>
      </div>
    </section>
  );
}
