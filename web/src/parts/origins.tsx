import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MailWarning } from "lucide-react";
import type { Approval } from "../api/queries";
import { resourcesQuery } from "../api/resources";
import { approvalWords } from "../words/approvals";
import { formatClock } from "../words/format";
import { MarkIcon } from "./marks";

type Origin = NonNullable<Approval["origins"]>[number];

/** What a run had read before a call, and where each argument of the call comes from. */
export function Origins({ approval }: { approval: Approval }) {
  const { untrusted, origins = [] } = approval;
  return (
    <>
      {untrusted && (
        <div className="tainted">
          <MailWarning className="i s" aria-hidden="true" />
          {untrusted.kind === "call" || !untrusted.kind ? (
            <p>
              {approvalWords.readBefore} <ToolLink name={untrusted.tool} />
              {untrusted.at > 0 && `, ${formatClock(untrusted.at)}`}.
              <span className="hint">{approvalWords.readHint}</span>
            </p>
          ) : (
            <Described kind={untrusted.kind} name={untrusted.source} />
          )}
        </div>
      )}
      {origins.length > 0 && (
        <section aria-label={approvalWords.origins}>
          <p className="mini">{approvalWords.origins}</p>
          <ul className="origins">
            {origins.map((origin) => (
              <li key={origin.argument}>
                <code>{origin.argument}</code>
                <span>
                  <Place origin={origin} />
                </span>
                <span className={`state ${origin.is_named ? "ok" : "wait"}`}>
                  <MarkIcon mark={origin.is_named ? "ok" : "wait"} small />{" "}
                  {origin.is_named ? approvalWords.named : approvalWords.notNamed}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Whose description the model was shown, with the way to its review. */
function Described({ kind, name }: { kind: "skill" | "agent" | "author"; name: string }) {
  const isSkill = kind === "skill";
  const { data: found } = useQuery(resourcesQuery(isSkill ? "skill" : "agent"));
  const resource = found?.find((item) => item.name === name);
  const words = {
    skill: approvalWords.skillBefore,
    agent: approvalWords.agentBefore,
    author: approvalWords.authorBefore,
  };
  return (
    <p>
      {words[kind]}{" "}
      {!resource ? (
        <code>{name}</code>
      ) : isSkill ? (
        <Link className="link" to="/skills/$name" params={{ name: `${name}__read` }}>
          <code>{name}</code>
        </Link>
      ) : (
        <Link className="link" to="/agents/$id" params={{ id: resource.id }}>
          <code>{name}</code>
        </Link>
      )}
      .{" "}
      <span className="hint">
        {kind === "author" ? approvalWords.readHint : approvalWords.describedHint}
      </span>
      {kind !== "author" && resource?.may_review && (
        <Link
          className="link"
          to="/organisations/$handle/reviews"
          params={{ handle: resource.organisation }}
        >
          {approvalWords.reviewIt}
        </Link>
      )}
    </p>
  );
}

const WORDS: Record<Origin["origin"], string> = {
  caller: approvalWords.fromCaller,
  write: approvalWords.fromWrite,
  result: approvalWords.fromResult,
  text: approvalWords.fromText,
  unknown: approvalWords.fromNowhere,
};

function Place({ origin: { origin, tool } }: { origin: Origin }) {
  if (origin === "caller" || origin === "unknown") return WORDS[origin];
  return (
    <>
      {WORDS[origin]} {tool ? <ToolLink name={tool} /> : approvalWords.anotherCall}
    </>
  );
}

function ToolLink({ name }: { name: string }) {
  return (
    <Link className="link" to="/tools/$name" params={{ name }}>
      <code>{name}</code>
    </Link>
  );
}
