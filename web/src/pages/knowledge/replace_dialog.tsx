import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Info } from "lucide-react";
import type { Check } from "../../api/knowledge";
import { uploadCheckQuery } from "../../api/uploads";
import { Dialog } from "../../parts/dialog";
import { Problem } from "../../parts/states";
import { confirmUpload, removeUpload, type Upload } from "../../stream/uploads";
import { useBaseUploads } from "../../stream/use_base_uploads";
import { changeWords } from "../../words/base_changes";

/** What a file would change of the document whose place it takes, before it is taken in. */
export function ReplaceDialog({ base, id }: { base: string; id: string }) {
  const navigate = useNavigate();
  const upload = useBaseUploads(base).find((item) => item.upload === id);
  const close = () =>
    void navigate({
      to: "/knowledge/$base",
      params: { base },
      search: (before: object) => ({ ...before, replace: undefined }),
    });
  return upload?.state === "changed" ? <Decision upload={upload} onClose={close} /> : null;
}

function Decision({ upload, onClose }: { upload: Upload; onClose: () => void }) {
  const { base, path } = upload;
  // After a reload it is compared again: the document may have changed, too.
  const compared = useQuery({
    ...uploadCheckQuery(base, upload.upload, path),
    enabled: upload.check === null,
  });
  const check = upload.check ?? compared.data;
  const isChange = check?.outcome === "changed";
  const decide = (make: (upload: Upload) => void) => {
    make(upload);
    onClose();
  };
  const title = check?.title || path;
  return (
    <Dialog label={isChange ? changeWords.replaceIt : changeWords.waitsForYou} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          decide(confirmUpload);
        }}
      >
        <h2>{isChange ? changeWords.replaceQuestion(title) : changeWords.takeInQuestion(path)}</h2>
        {!check && !compared.error && <p role="status">{changeWords.comparing}</p>}
        <Problem error={compared.error} />
        {isChange && <Changes check={check} />}
        {check && <Consequence check={check} title={title} />}
        <div className="acts">
          {check && check.outcome !== "already_here" && (
            <button type="submit" className="btn primary">
              {isChange ? changeWords.replaceIt : changeWords.takeIn}
            </button>
          )}
          <button type="button" className="btn" onClick={() => decide(removeUpload)}>
            {isChange ? changeWords.keepOld : changeWords.discard}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Consequence({ check, title }: { check: Check; title: string }) {
  const words = {
    new: changeWords.isNew,
    changed: changeWords.oldTextStays,
    already_here: changeWords.isHere(title),
  };
  return (
    <p className="note">
      <Info className="i s" aria-hidden="true" />
      <span>{words[check.outcome]}</span>
    </p>
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

/** One decision for several files that wait for one. */
export function ReplaceAll({ uploads }: { uploads: readonly Upload[] }) {
  const waiting = uploads.filter((item) => item.state === "changed");
  const count = waiting.length;
  if (count < 2) return null;
  const areCompared = waiting.every((item) => item.check);
  const decide = (make: (upload: Upload) => void) => {
    for (const upload of waiting) make(upload);
  };
  return (
    <div className="banner" role="status">
      <span>{areCompared ? changeWords.filesDiffer(count) : changeWords.filesWait(count)}</span>
      <div className="acts push">
        <button type="button" className="btn sm" onClick={() => decide(confirmUpload)}>
          {areCompared ? changeWords.replaceAll(count) : changeWords.takeInAll(count)}
        </button>
        <button type="button" className="btn sm quiet" onClick={() => decide(removeUpload)}>
          {areCompared ? changeWords.keepAll : changeWords.discardAll}
        </button>
      </div>
    </div>
  );
}
