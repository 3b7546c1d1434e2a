import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changeDocument } from "../../api/document";
import { type DocDetail, documentsQuery } from "../../api/knowledge";
import { hasAccount, organisationsQuery } from "../../api/people";
import { sessionQuery } from "../../api/queries";
import { Field } from "../../parts/field";
import { Problem } from "../../parts/states";
import { documentWords } from "../../words/document";
import { people } from "../../words/people";

/** What is said of a document, and who sees it; its text stays as it is. */
export function DocumentSettings({ document }: { document: DocDetail }) {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [title, setTitle] = useState(document.title);
  const [edition, setEdition] = useState(document.edition);
  const [replaces, setReplaces] = useState(document.replaces);
  const [sees, setSees] = useState(seenBy(document));
  const save = useMutation({
    mutationFn: () =>
      changeDocument(document, {
        ...(title.trim() !== document.title ? { title: title.trim() } : {}),
        ...(edition.trim() !== document.edition ? { edition: edition.trim() } : {}),
        ...(replaces !== document.replaces ? { replaces } : {}),
        ...(sees !== seenBy(document) ? audienceOf(sees) : {}),
      }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["document", document.base] });
      await client.invalidateQueries({ queryKey: ["documents", document.base] });
    },
  });
  const isChanged =
    title.trim() !== document.title ||
    edition.trim() !== document.edition ||
    replaces !== document.replaces ||
    sees !== seenBy(document);
  return (
    <form
      className="card padded doc-settings"
      aria-label={documentWords.settings}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Field id="doc-title" label={documentWords.titleField} value={title} onChange={setTitle} />
      <Field
        id="doc-edition"
        label={documentWords.edition}
        hint={documentWords.editionHint}
        value={edition}
        onChange={setEdition}
      />
      <Replaces document={document} value={replaces} onChange={setReplaces} />
      {hasAccount(session) && <Audience document={document} value={sees} onChange={setSees} />}
      <Problem error={save.error} />
      <div className="acts">
        <button type="submit" className="btn primary" disabled={!isChanged || save.isPending}>
          {people.save}
        </button>
        {save.isSuccess && !isChanged && (
          <span className="dim" role="status">
            {documentWords.saved}
          </span>
        )}
      </div>
    </form>
  );
}

interface ChoiceProps {
  document: DocDetail;
  value: string;
  onChange: (value: string) => void;
}

function Replaces({ document, value, onChange }: ChoiceProps) {
  const { data } = useInfiniteQuery(documentsQuery(document.base, undefined, ""));
  const others = (data?.pages ?? [])
    .flatMap((page) => page.documents)
    .filter((item) => item.id !== document.id);
  const isListed = others.some((item) => item.id === value);
  return (
    <div className="field">
      <label htmlFor="doc-replaces">{documentWords.replaces}</label>
      <select
        id="doc-replaces"
        className="in"
        aria-describedby="doc-replaces-hint"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{documentWords.replacesNone}</option>
        {value && !isListed && <option value={value}>{value}</option>}
        {others.map((item) => (
          <option key={item.id} value={item.id}>
            {[item.title || item.name, item.edition].filter(Boolean).join(", ")}
          </option>
        ))}
      </select>
      <span className="hint" id="doc-replaces-hint">
        {documentWords.replacesHint}
      </span>
    </div>
  );
}

function Audience({ document, value, onChange }: ChoiceProps) {
  const { data: organisations = [] } = useQuery(organisationsQuery);
  const choices: [string, string, string][] = [
    ["base", documentWords.everyone, documentWords.everyoneWhat],
    ...organisations.map((item): [string, string, string] => [
      `organisation ${item.handle}`,
      documentWords.members(item.title),
      documentWords.membersWhat,
    ]),
    ["private", documentWords.owner, documentWords.ownerWhat],
  ];
  if (!choices.some(([known]) => known === value))
    choices.splice(1, 0, [
      value,
      documentWords.members(document.organisation),
      documentWords.membersWhat,
    ]);
  return (
    <fieldset className="pickone">
      <legend>{documentWords.whoSees}</legend>
      {choices.map(([choice, name, what]) => (
        <label key={choice}>
          <input
            type="radio"
            name="doc-sees"
            checked={value === choice}
            onChange={() => onChange(choice)}
          />
          <b>{name}</b>
          <small>{what}</small>
        </label>
      ))}
    </fieldset>
  );
}

/** "base", "private", or "organisation" with its handle. */
function seenBy({ audience, organisation }: DocDetail): string {
  return audience === "organisation" ? `organisation ${organisation}` : audience;
}

function audienceOf(sees: string): Pick<DocDetail, "audience" | "organisation"> {
  const [audience, organisation = ""] = sees.split(" ");
  return { audience: audience as DocDetail["audience"], organisation };
}
