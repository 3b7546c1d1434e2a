import {
  Building2,
  Clock,
  Gauge,
  Hand,
  KeyRound,
  type LucideIcon,
  Power,
  ScrollText,
  Share2,
  ShieldCheck,
  Store,
  UserRoundCog,
} from "lucide-react";
import type { Schema } from "../api/client";
import { explaining } from "../words/explain";

type Step = Schema<"ToolExplanation">["remedies"][number];
type Kind = Step["any_of"][number]["kind"];

const ICONS: Record<Kind, LucideIcon> = {
  join_organisation: Building2,
  install: Store,
  share: Share2,
  review: ShieldCheck,
  switch: Power,
  wait: Clock,
  role: UserRoundCog,
  scope: KeyRound,
  key_scope: KeyRound,
  policy: ScrollText,
  quota: Gauge,
  approval: Hand,
};

/** What would let the caller in, and who may do it; nothing where nothing is in the way. */
export function Remedies({ steps }: { steps: readonly Step[] }) {
  const shown = steps.filter((step) => step.any_of.length > 0);
  if (shown.length === 0) return null;
  const isSeveral = shown.length > 1;
  return (
    <section className="card" aria-labelledby="remedies">
      <header>
        <h2 id="remedies">{explaining.wouldChange}</h2>
      </header>
      {isSeveral && <p className="hint would-all">{explaining.allNeeded(shown.length)}</p>}
      <ol className="would">
        {shown.map((step) => (
          <li key={step.check}>
            {(isSeveral || step.any_of.length > 1) && (
              <h3>
                {upper(step.check)}
                {step.any_of.length > 1 && <small>{explaining.oneIsEnough}</small>}
              </h3>
            )}
            <ul>
              {step.any_of.map((item) => {
                const Icon = ICONS[item.kind] ?? ScrollText;
                return (
                  <li key={item.text}>
                    <Icon className="i s" aria-hidden="true" />
                    <div>
                      <b>{explaining.remedies[item.kind] ?? step.check}</b>
                      <span>{upper(item.text)}.</span>
                    </div>
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
