import { Link } from "@tanstack/react-router";
import { ChevronRight, type LucideIcon, LayoutGrid, LibraryBig, Plug } from "lucide-react";
import type { Overview } from "../../api/queries";
import { MarkIcon } from "../../parts/marks";
import { firstSteps } from "../../words/first_steps";

/** What a board brings before anybody connects a source. */
const BROUGHT = new Set(["", "builtin", "knowledge"]);

/** What to do on a board on which nothing was done yet. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const isConnected = overview.board.some((row) => !BROUGHT.has(row.kind));
  return (
    <section className="card" aria-label={firstSteps.title}>
      <header>
        <h2>{firstSteps.title}</h2>
      </header>
      <ul className="rows">
        <li className="go">
          <Link to="/tools">
            <Step
              icon={LayoutGrid}
              title={firstSteps.tryTool}
              why={firstSteps.tryToolWhy}
              isDone={overview.day.calls > 0}
            />
          </Link>
        </li>
        <li className="go">
          <Link to="/sources/connect">
            <Step
              icon={Plug}
              title={firstSteps.connect}
              why={firstSteps.connectWhy}
              isDone={isConnected}
            />
          </Link>
        </li>
        <li className="go">
          <Link to="/knowledge" search={{ new: "yes" }}>
            <Step
              icon={LibraryBig}
              title={firstSteps.addDocuments}
              why={firstSteps.addDocumentsWhy}
            />
          </Link>
        </li>
      </ul>
    </section>
  );
}

interface StepProps {
  icon: LucideIcon;
  title: string;
  why: string;
  isDone?: boolean;
}

function Step({ icon: Icon, title, why, isDone = false }: StepProps) {
  return (
    <>
      <span className={isDone ? "tile ok" : "tile"}>
        {isDone ? <MarkIcon mark="ok" /> : <Icon className="i" aria-hidden="true" />}
      </span>
      <div className="t">
        <b>{title}</b>
        <span>{why}</span>
        {isDone && <span className="sr">{firstSteps.done}</span>}
      </div>
      <ChevronRight className="i s faint" aria-hidden="true" />
    </>
  );
}
