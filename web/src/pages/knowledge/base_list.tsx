import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { LibraryBig, Lock, Search, Users } from "lucide-react";
import type { Base } from "../../api/knowledge";
import { knowledge } from "../../words/knowledge";

/** The field that narrows the list. */
export function FindBase() {
  const navigate = useNavigate();
  const { find = "" } = useSearch({ strict: false }) as { find?: string };
  return (
    <div className="find">
      <Search className="i" aria-hidden="true" />
      <input
        className="in"
        type="search"
        aria-label={knowledge.findBase}
        placeholder={knowledge.findBase}
        value={find}
        onChange={(event) => {
          const wanted = event.target.value || undefined;
          void navigate({
            to: ".",
            search: (before) => ({ ...before, find: wanted }),
            replace: true,
          });
        }}
      />
    </div>
  );
}

interface BaseListProps {
  bases: readonly Base[];
  chosen: string;
  wanted: string;
}

/** The bases by who sees them, with what needs somebody. */
export function BaseList({ bases, chosen, wanted }: BaseListProps) {
  const words = wanted.trim().toLowerCase();
  const found = bases.filter((item) =>
    `${item.title} ${item.name} ${item.description}`.toLowerCase().includes(words),
  );
  const groups: [string, Base[]][] = [
    [knowledge.everyones, found.filter((item) => item.visibility === "global")],
    [knowledge.sharedWithSome, found.filter((item) => item.visibility === "organisation")],
    [knowledge.yours, found.filter((item) => item.visibility === "private")],
  ];
  return (
    <div className="items">
      {words && found.length === 0 && <p className="dim nothing">{knowledge.noBaseFits}</p>}
      {groups
        .filter(([, items]) => items.length > 0)
        .map(([name, items]) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            {items.map((item) => (
              <BaseItem key={item.id} base={item} isChosen={item.id === chosen} wanted={wanted} />
            ))}
          </section>
        ))}
    </div>
  );
}

const ICONS = { global: LibraryBig, organisation: Users, private: Lock };

function BaseItem({ base, isChosen, wanted }: { base: Base; isChosen: boolean; wanted: string }) {
  const Icon = ICONS[base.visibility];
  const { ready, working, held, failed } = base.documents;
  const count = ready + working + held + failed;
  return (
    <Link
      className="item with-tile"
      to="/knowledge/$base"
      params={{ base: base.id }}
      search={{ find: wanted || undefined }}
      activeOptions={{ exact: true }}
      aria-current={isChosen ? "true" : undefined}
    >
      <span className="tile">
        <Icon className="i" aria-hidden="true" />
      </span>
      <b className="cut">{base.title || base.name}</b>
      <span className="faint cut">{count > 0 ? knowledge.documents(count) : knowledge.empty}</span>
      <span className="side-tag">
        {base.is_being_deleted ? (
          <span className="tag unsure">{knowledge.beingDeleted}</span>
        ) : failed > 0 ? (
          <span className="tag bad">{knowledge.failedTag(failed)}</span>
        ) : held > 0 ? (
          <span className="tag unsure">{knowledge.heldTag(held)}</span>
        ) : (
          count > 0 &&
          !base.stages.includes("meaning") && <span className="tag">{knowledge.wordsOnly}</span>
        )}
      </span>
    </Link>
  );
}
