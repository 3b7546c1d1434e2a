import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Info } from "lucide-react";
import { useState } from "react";
import {
  baseQuery,
  type Deletion,
  deleteBase,
  deleteDocument,
  deletionQuery,
  documentQuery,
} from "../../api/knowledge";
import { citingQuery } from "../../api/document";
import { Dialog } from "../../parts/dialog";
import { CitingList, MoreAnswers } from "../../parts/document/cited_in";
import { Field } from "../../parts/field";
import { Failure, Problem, Skeleton } from "../../parts/states";
import { documentWords } from "../../words/document";
import { evidence } from "../../words/evidence";
import { knowledge } from "../../words/knowledge";

interface DeleteDialogProps {
  base: string;
  /** Empty to delete the base. */
  doc: string;
  onClose: () => void;
}

/** Names what goes, and deletes it for good; a base asks for its name first. */
export function DeleteDialog({ base, doc, onClose }: DeleteDialogProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const goes = useQuery(deletionQuery(base, doc));
  const { data: known } = useQuery(baseQuery(base));
  const { data: document } = useQuery({ ...documentQuery(base, doc), enabled: doc !== "" });
  const [typed, setTyped] = useState("");
  const remove = useMutation({
    mutationFn: () => (doc ? deleteDocument(base, doc) : deleteBase(base)),
    onSuccess: async () => {
      client.removeQueries({ queryKey: ["document", base, doc] });
      client.removeQueries({ queryKey: ["text", base, doc] });
      await client.invalidateQueries({ queryKey: ["documents", base] });
      void client.invalidateQueries({ queryKey: ["bases"] });
      if (doc) {
        void client.invalidateQueries({ queryKey: ["base", base] });
        onClose();
      } else {
        client.removeQueries({ queryKey: ["base", base] });
        await navigate({ to: "/knowledge" });
      }
    },
    // a deletion that fails has begun all the same
    onError: () => {
      void client.invalidateQueries({ queryKey: ["bases"] });
      void client.invalidateQueries({ queryKey: ["base", base] });
    },
  });
  const name = doc
    ? document?.title || document?.name || knowledge.document
    : known?.title || known?.name || knowledge.base;
  const isSure = doc !== "" || typed.trim() === known?.name;
  return (
    <Dialog label={knowledge.deleteForGood} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          remove.mutate();
        }}
      >
        <h2>{knowledge.deleteQuestion(name)}</h2>
        {goes.isPending && <Skeleton rows={3} />}
        {goes.error && (
          <Failure
            what={knowledge.deletionFailed}
            missing={doc ? evidence.noDocument : knowledge.noBase}
            error={goes.error}
            retry={() => void goes.refetch()}
          />
        )}
        {goes.data && <Goes deletion={goes.data} isBase={doc === ""} />}
        {doc && <Touched base={base} doc={doc} />}
        <p className="note">
          <Info className="i s" aria-hidden="true" />
          <span>{knowledge.cannotUndo}</span>
        </p>
        {!doc && known && (
          <Field
            id="base-typed"
            label={knowledge.typeName(known.name)}
            value={typed}
            onChange={setTyped}
          />
        )}
        <Problem error={remove.error} />
        <div className="acts">
          <button
            type="submit"
            className="btn danger"
            disabled={!goes.data || !isSure || remove.isPending}
          >
            {remove.isPending ? knowledge.deleting : knowledge.deleteForGood}
          </button>
          <button type="button" className="btn" onClick={onClose}>
            {knowledge.keepIt}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The answers that lose their quotes, by name. */
function Touched({ base, doc }: { base: string; doc: string }) {
  const list = useInfiniteQuery(citingQuery(base, doc));
  const answers = list.data?.pages.flatMap((page) => page.answers) ?? [];
  if (answers.length === 0 && !list.hasNextPage) return null;
  return (
    <div className="touched">
      <p className="mini">
        {answers.length === 1 ? documentWords.touchedOne : documentWords.touched(answers.length)}
      </p>
      <CitingList base={base} answers={answers} />
      <MoreAnswers list={list} />
    </div>
  );
}

function Goes({ deletion, isBase }: { deletion: Deletion; isBase: boolean }) {
  const lines: [string, string, boolean][] = [
    [
      isBase ? knowledge.theFiles(deletion.documents) : knowledge.theFile,
      knowledge.withText(deletion.bytes),
      true,
    ],
    [knowledge.piecesGo(deletion.pieces), knowledge.piecesGoWhat, deletion.pieces > 0],
    [knowledge.results(deletion.results), knowledge.resultsWhat, deletion.results > 0],
    [knowledge.answers(deletion.answers), knowledge.answersWhat, deletion.answers > 0],
  ];
  return (
    <dl className="goes">
      {lines
        .filter(([, , isShown]) => isShown)
        .map(([what, detail]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{detail}</dd>
          </div>
        ))}
    </dl>
  );
}
