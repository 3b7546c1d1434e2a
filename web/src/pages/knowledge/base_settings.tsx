import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Base, changeBase } from "../../api/knowledge";
import { resourceQuery } from "../../api/resources";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { InTheMarket, WhoSees } from "../../parts/who_sees";
import { changeWords } from "../../words/base_changes";
import { knowledge } from "../../words/knowledge";
import { people } from "../../words/people";

function useBaseChange(base: Base) {
  const client = useQueryClient();
  return async (change: Partial<Base>) => {
    const changed = await changeBase(base.id, change);
    client.setQueryData(["base", base.id], changed);
    await client.invalidateQueries({ queryKey: ["bases"] });
    return changed;
  };
}

/** Who sees a base, and its way into the market; a document may be seen by fewer, never by more. */
export function BaseSharing({ base }: { base: Base }) {
  const change = useBaseChange(base);
  const { data: resource } = useQuery(resourceQuery(base.id));
  return (
    <div className="stack">
      <WhoSees key={`${base.visibility} ${base.organisation}`} resource={base} save={change} />
      {resource && <InTheMarket resource={resource} />}
    </div>
  );
}

/** What a base is called and what it is for, and its end. */
export function BaseSettings({ base }: { base: Base }) {
  const [title, setTitle] = useState(base.title);
  const [description, setDescription] = useState(base.description);
  const change = useBaseChange(base);
  const save = useMutation({
    mutationFn: () => change({ title: title.trim(), description: description.trim() }),
  });
  const isChanged = title.trim() !== base.title || description.trim() !== base.description;
  return (
    <div className="stack">
      <form
        className="card padded"
        aria-label={knowledge.settings}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field id="base-title" label={knowledge.titleField} value={title} onChange={setTitle} />
        <Field
          id="base-description"
          label={knowledge.whatFor}
          value={description}
          onChange={setDescription}
        />
        <Problem error={save.error} />
        <div className="acts">
          <button type="submit" className="btn primary" disabled={!isChanged || save.isPending}>
            {people.save}
          </button>
        </div>
      </form>
      <Searched base={base} />
      <section className="card" aria-label={knowledge.deleteBase}>
        <header>
          <h2>{knowledge.deleteBase}</h2>
        </header>
        <div className="body">
          <p className="dim">{knowledge.deleteBaseWhat}</p>
          <div>
            <Link className="btn" to="/knowledge/$base/delete" params={{ base: base.id }}>
              {knowledge.deleteForGood}
            </Link>
          </div>
        </div>
      </section>
    </div>
  );
}

type Model = "board" | "own" | "none";

/** Which embedding model finds its pieces beside their words. */
function Searched({ base }: { base: Base }) {
  const { embedder = null } = base.settings;
  const before: Model = embedder === null ? "board" : embedder === "" ? "none" : "own";
  const [chosen, setChosen] = useState(before);
  const [name, setName] = useState(embedder ?? "");
  const change = useBaseChange(base);
  const wanted = { board: null, own: name.trim(), none: "" }[chosen];
  const save = useMutation({
    mutationFn: () => change({ settings: { ...base.settings, embedder: wanted } }),
  });
  const isChanged = wanted !== embedder && (chosen !== "own" || wanted !== "");
  const choices: [Model, string, string][] = [
    ["board", changeWords.boardsModel, changeWords.boardsModelWhat],
    ["own", changeWords.ownModel, changeWords.ownModelWhat],
    ["none", changeWords.wordsAlone, changeWords.wordsAloneWhat],
  ];
  return (
    <form
      className="card padded"
      aria-label={changeWords.searchedBy}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <fieldset className="pickone">
        <legend>{changeWords.searchedBy}</legend>
        {choices.map(([value, word, what]) => (
          <label key={value}>
            <input
              type="radio"
              name="embedder"
              checked={chosen === value}
              onChange={() => setChosen(value)}
            />
            <b>{word}</b>
            <small>{what}</small>
          </label>
        ))}
      </fieldset>
      {chosen === "own" && (
        <Field
          id="base-embedder"
          label={changeWords.modelName}
          hint={changeWords.modelNameHint}
          value={name}
          onChange={setName}
        />
      )}
      {isChanged && chosen !== "none" && base.pieces > 0 && (
        <p className="hint">{changeWords.embedsAgain}</p>
      )}
      <Problem error={save.error} />
      <div className="acts">
        <button type="submit" className="btn primary" disabled={!isChanged || save.isPending}>
          {people.save}
        </button>
      </div>
    </form>
  );
}
