import { Bot, BrainCircuit, LibraryBig, Plug, ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import type { Resource } from "../api/resources";
import { sharing } from "../words/resources";

const ICONS = {
  connector: Plug,
  agent: Bot,
  skill: ScrollText,
  knowledge: LibraryBig,
  model: BrainCircuit,
};

/** The icon, the title and the owner of a connector, an agent or a skill. */
export function ResourceName({ resource }: { resource: Resource }) {
  const Icon = ICONS[resource.kind];
  return (
    <>
      <span className="tile">
        <Icon className="i" aria-hidden="true" />
      </span>
      <span className="t">
        <b>{resource.title}</b>
        <span>
          {sharing.kinds[resource.kind]}{" "}
          {resource.seen_as === "own"
            ? `· ${sharing.ofYou}`
            : sharing.byOwner(resource.organisation || resource.owner)}
        </span>
      </span>
    </>
  );
}

/** A list of them, each with what can be done. */
export function ResourceRows({
  resources,
  children,
}: {
  resources: readonly Resource[];
  children: (resource: Resource) => ReactNode;
}) {
  return (
    <section className="card">
      <ul className="rows">
        {resources.map((resource) => (
          <li key={resource.id} className="resource-row">
            <ResourceName resource={resource} />
            {children(resource)}
          </li>
        ))}
      </ul>
    </section>
  );
}
