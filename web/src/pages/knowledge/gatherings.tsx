import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleX, Globe } from "lucide-react";
import { useCallback, useState } from "react";
import type { Base, Gathering } from "../../api/knowledge";
import { useRunEnd } from "../../stream/use_run_end";
import { formatWhen } from "../../words/format";
import { describeFaults, knowledge } from "../../words/knowledge";

/** The folders and addresses that are being looked through, and why some could not be taken in. */
export function Gatherings({ base }: { base: Base }) {
  const client = useQueryClient();
  const [dismissed, setDismissed] = useState<readonly string[]>([]);
  const underWay = base.gatherings.filter((item) => item.ended_at === null);
  const failed = base.gatherings.filter(
    (item) => item.failed > 0 && !dismissed.includes(nameOf(item)),
  );
  const readAgain = useCallback(() => {
    for (const queryKey of [["base", base.id], ["bases"]])
      void client.invalidateQueries({ queryKey });
  }, [base.id, client]);
  // One at a time: a browser holds few connections to a server.
  useRunEnd(underWay.find((item) => item.run)?.run ?? "", readAgain);
  return (
    <>
      {underWay.map((item) => (
        <p key={nameOf(item)} className="note gathering" role="status">
          <Globe className="i s" aria-hidden="true" />
          <span>
            {knowledge.gathers(item.source)} <RunLink run={item.run} />
          </span>
        </p>
      ))}
      {failed.map((item) => (
        <Faults
          key={nameOf(item)}
          gathering={item}
          onDismiss={() => setDismissed([...dismissed, nameOf(item)])}
        />
      ))}
    </>
  );
}

const nameOf = (item: Gathering): string => `${item.source} ${item.ended_at}`;

function RunLink({ run }: { run: string }) {
  if (!run) return null;
  return (
    <Link to="/runs/$id" params={{ id: run }}>
      {knowledge.howFar}
    </Link>
  );
}

interface FaultsProps {
  gathering: Gathering;
  onDismiss: () => void;
}

function Faults({ gathering, onDismiss }: FaultsProps) {
  const { faults, source, run, ended_at, failed } = gathering;
  return (
    <div className="banner bad gathering" role="alert">
      <CircleX className="i" aria-hidden="true" />
      <div>
        <b>{describeFaults(gathering)}</b>
        <ul>
          {faults.map((fault) => (
            <li key={fault.place}>
              {fault.place !== source && <span className="mono">{fault.place}: </span>}
              {fault.message}
            </li>
          ))}
          {failed > faults.length && <li>{knowledge.moreFaults(failed - faults.length)}</li>}
        </ul>
        <p className="faint">
          {ended_at !== null && formatWhen(ended_at)}
          {run && (
            <>
              {" · "}
              <Link to="/runs/$id" params={{ id: run }}>
                {knowledge.openRun}
              </Link>
            </>
          )}
        </p>
      </div>
      <button type="button" className="btn sm" onClick={onDismiss}>
        {knowledge.dismiss}
      </button>
    </div>
  );
}
