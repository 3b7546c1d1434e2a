import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type Resource, resourcesQuery } from "../../api/resources";
import { ResourceName } from "../../parts/resource_rows";
import { Failure } from "../../parts/states";
import { modelWords } from "../../words/models";
import { sharing } from "../../words/resources";
import { ModelForm } from "./model_form";

/** The language models that people have added and the caller sees; a form for another. */
export function ModelsCard() {
  const navigate = useNavigate();
  const models = useQuery(resourcesQuery("model"));
  const [isAdding, setAdding] = useState(false);
  if (models.error)
    return (
      <Failure what={modelWords.failed} error={models.error} retry={() => void models.refetch()} />
    );
  if (isAdding)
    return (
      <ModelForm
        onDone={(saved) => void navigate({ to: "/agents/models/$id", params: { id: saved.id } })}
        onCancel={() => setAdding(false)}
      />
    );
  return (
    <section className="card" aria-label={modelWords.models}>
      <header>
        <h2>{modelWords.models}</h2>
        <button type="button" className="btn sm push" onClick={() => setAdding(true)}>
          <Plus className="i s" aria-hidden="true" /> {modelWords.add}
        </button>
      </header>
      <p className="body dim">{modelWords.what}</p>
      {(models.data?.length ?? 0) > 0 && (
        <ul className="rows">
          {models.data?.map((item) => (
            <Row key={item.id} model={item} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ model }: { model: Resource }) {
  return (
    <li className="resource-row">
      <ResourceName resource={model} />
      <span className="push acts">
        <Link className="btn quiet sm" to="/credentials" search={{ source: model.name }}>
          {modelWords.key}
        </Link>
        {model.may_change && (
          <Link className="btn sm" to="/agents/models/$id" params={{ id: model.id }}>
            {sharing.change}
          </Link>
        )}
      </span>
    </li>
  );
}
