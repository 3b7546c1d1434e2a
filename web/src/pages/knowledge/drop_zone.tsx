import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ChevronDown, FolderOpen, Upload as UploadIcon } from "lucide-react";
import { type ChangeEvent, useRef, useState } from "react";
import { addDocuments, type Base } from "../../api/knowledge";
import { usePageDrop } from "../../parts/page_drop";
import { Problem } from "../../parts/states";
import { ACCEPTED, listChosen, sortChosen, type Sorted } from "../../stream/chosen_files";
import { type ChosenFile, startUploads } from "../../stream/uploads";
import { knowledge } from "../../words/knowledge";

interface DropZoneProps {
  base: Base;
  title: string;
  isEmpty: boolean;
}

/** Takes files and folders that are dropped anywhere on the page, or chosen; and web addresses. */
export function DropZone({ base, title, isEmpty }: DropZoneProps) {
  const [refused, setRefused] = useState<Sorted["refused"]>([]);
  const take = (chosen: readonly ChosenFile[]) => {
    const sorted = sortChosen(chosen);
    setRefused(sorted.refused);
    if (sorted.readable.length > 0) startUploads(base.id, sorted.readable);
  };
  const isOver = usePageDrop(take);
  const bits = ["", "p", "", "", "", "", "", "p", "", "", "", "k", "", "", "p"];
  return (
    <>
      <div
        className={`drop ${isEmpty ? "empty" : ""} ${isOver ? "over" : ""}`}
        role="group"
        aria-label={knowledge.add}
      >
        {isEmpty ? (
          <>
            <span className="bits" aria-hidden="true">
              {bits.map((kind, index) => (
                <i key={index} className={kind} />
              ))}
            </span>
            <h2>{isOver ? knowledge.letGo(title) : knowledge.noDocuments}</h2>
            <p>{knowledge.noDocumentsWhy}</p>
          </>
        ) : (
          <>
            <span className="tile">
              <UploadIcon className="i" aria-hidden="true" />
            </span>
            <div className="t">
              <b>{isOver ? knowledge.letGo(title) : knowledge.dropHere}</b>
              <span>{knowledge.kinds}</span>
            </div>
          </>
        )}
        <div className="acts">
          <Picker onTake={take} />
          {base.may_add_web && <WebAddress base={base} />}
        </div>
        {isEmpty && <p className="hint">{knowledge.kinds}</p>}
      </div>
      {refused.length > 0 && (
        <div className="banner" role="status">
          <span>{knowledge.notSent(refused.map((item) => item.name))}</span>
          <button type="button" className="btn sm" onClick={() => setRefused([])}>
            {knowledge.dismiss}
          </button>
        </div>
      )}
    </>
  );
}

function Picker({ onTake }: { onTake: (chosen: readonly ChosenFile[]) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    onTake(listChosen(event.target.files));
    event.target.value = "";
  };
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        onChange={onChange}
        data-testid="files"
      />
      <input
        ref={folder}
        type="file"
        hidden
        onChange={onChange}
        {...{ webkitdirectory: "" }}
        data-testid="folder"
      />
      <button type="button" className="btn primary" onClick={() => files.current?.click()}>
        {knowledge.chooseFiles}
      </button>
      <button type="button" className="btn" onClick={() => folder.current?.click()}>
        <FolderOpen className="i s" aria-hidden="true" /> {knowledge.folder}
      </button>
    </>
  );
}

function WebAddress({ base }: { base: Base }) {
  const [url, setUrl] = useState("");
  const [isBelow, setBelow] = useState(false);
  const [most, setMost] = useState(50);
  const client = useQueryClient();
  const menu = useRef<HTMLDivElement>(null);
  const add = useMutation({
    mutationFn: () =>
      addDocuments(base.id, { web: { url: url.trim(), below: isBelow, at_most: most } }),
    onSuccess: async () => {
      // The page says how it goes, and why if it cannot be taken in.
      await client.invalidateQueries({ queryKey: ["base", base.id] });
      setUrl("");
      menu.current?.hidePopover();
    },
  });
  const id = `web-${base.id}`;
  return (
    <>
      <button type="button" className="btn" popoverTarget={id}>
        {knowledge.webAddress} <ChevronDown className="i s" aria-hidden="true" />
      </button>
      <div ref={menu} id={id} popover="auto" className="menu below-button by-url">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
          }}
        >
          <div className="field">
            <label htmlFor={`${id}-url`}>{knowledge.webAddress}</label>
            <input
              id={`${id}-url`}
              className="in"
              type="url"
              required
              pattern="https?://.*"
              placeholder="https://"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          </div>
          <fieldset>
            <legend className="sr">{knowledge.howMuch}</legend>
            <label>
              <input
                type="radio"
                name={`${id}-r`}
                checked={!isBelow}
                onChange={() => setBelow(false)}
              />
              {knowledge.thisPage}
            </label>
            <label>
              <input
                type="radio"
                name={`${id}-r`}
                checked={isBelow}
                onChange={() => setBelow(true)}
              />
              {knowledge.andBelow}
              <input
                className="in sm num"
                type="number"
                min={1}
                max={500}
                aria-label={knowledge.andBelow}
                disabled={!isBelow}
                value={most}
                onChange={(event) => setMost(Number(event.target.value) || 1)}
              />
            </label>
          </fieldset>
          <Problem error={add.error} />
          <div className="acts">
            <button type="submit" className="btn" disabled={add.isPending || url.trim() === ""}>
              {knowledge.addIt}
            </button>
          </div>
        </form>
      </div>
    </>
  );
}
