import { useNavigate } from "@tanstack/react-router";
import { Info } from "lucide-react";
import type { Check } from "../../api/knowledge";
import { Dialog } from "../../parts/dialog";
import { confirmUpload, rejectUpload, type Upload, useUploads } from "../../stream/uploads";
import { changeWords } from "../../words/base_changes";

/** What a file would change of the document whose place it takes, before it is taken in. */
export function ReplaceDialog({ base, id }: { base: string; id: string }) {
  const navigate = useNavigate();
  const upload = useUploads().find((item) => item.id === id);
  const close = () =>
    void navigate({
      to: "/knowledge/$base",
      params: { base },
      search: (before: object) => ({ ...before, replace: undefined }),
    });
  if (upload?.state !== "changed" || !upload.check) return null;
  return (
    <Dialog label={changeWords.replaceIt} onClose={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          confirmUpload(id);
          close();
        }}
      >
        <h2>{changeWords.replaceQuestion(upload.check.title || upload.path)}</h2>
        <Changes check={upload.check} />
        <p className="note">
          <Info className="i s" aria-hidden="true" />
          <span>{changeWords.oldTextStays}</span>
        </p>
        <div className="acts">
          <button type="submit" className="btn primary">
            {changeWords.replaceIt}
          </button>
          <button
            type="button"
            className="btn"
            onClick={() => {
              rejectUpload(id);
              close();
            }}
          >
            {changeWords.keepOld}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Changes({ check }: { check: Check }) {
  const { pages, passages, pieces, embedded, held } = check;
  const inPassages = passages.added + passages.removed + passages.changed;
  const isSame = inPassages + pages.new.length + pages.vanished.length === 0;
  const lines: [string, string, boolean][] = [
    [
      changeWords.pagesChanged(pages.changed.length, pages.total),
      changeWords.pageNumbers(pages.changed),
      pages.changed.length > 0,
    ],
    [
      changeWords.pagesNew(pages.new.length),
      changeWords.pageNumbers(pages.new),
      pages.new.length > 0,
    ],
    [
      changeWords.pagesGone(pages.vanished.length),
      changeWords.pageNumbers(pages.vanished),
      pages.vanished.length > 0,
    ],
    [
      changeWords.passagesChanged(inPassages),
      changeWords.passagesWhat(passages.added, passages.removed, passages.changed),
      inPassages > 0,
    ],
    [changeWords.sameText, changeWords.sameTextWhat, isSame],
    [changeWords.embeddedAnew(embedded, pieces), changeWords.embeddedWhat, embedded > 0],
    [changeWords.placesHeld(held), changeWords.placesHeldWhat, held > 0],
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

/** One decision for several files that would replace what is here. */
export function ReplaceAll({ uploads }: { uploads: readonly Upload[] }) {
  const changed = uploads.filter((item) => item.state === "changed");
  if (changed.length < 2) return null;
  const decide = (make: (id: string) => void) => {
    for (const { id } of changed) make(id);
  };
  return (
    <div className="banner" role="status">
      <span>{changeWords.filesDiffer(changed.length)}</span>
      <div className="acts push">
        <button type="button" className="btn sm" onClick={() => decide(confirmUpload)}>
          {changeWords.replaceAll(changed.length)}
        </button>
        <button type="button" className="btn sm quiet" onClick={() => decide(rejectUpload)}>
          {changeWords.keepAll}
        </button>
      </div>
    </div>
  );
}
