import { Link } from "@tanstack/react-router";
import { type ChangeEvent, useRef, useState } from "react";
import { DocumentIcon } from "../../parts/document/document_icon";
import { MarkIcon } from "../../parts/marks";
import { removeUpload, resumeUpload, retryUpload, type Upload } from "../../stream/uploads";
import { changeWords, describeChange } from "../../words/base_changes";
import { formatBytes, formatFull } from "../../words/format";
import { knowledge } from "../../words/knowledge";

/** A file on its way to a base; it is a document once the server has all of it. */
export function UploadRow({ upload }: { upload: Upload }) {
  return (
    <tr>
      <td>
        <div className="doc">
          <span className="tile">
            <DocumentIcon mediaType="" name={upload.name} />
          </span>
          <div>
            <b>{upload.path}</b>
            <small>{formatBytes(upload.size)}</small>
          </div>
        </div>
      </td>
      <td className="st">
        <State upload={upload} />
      </td>
      <td className="opt" />
      <td className="opt" />
      <td className="r acts">
        {upload.state === "failed" && (
          <button type="button" className="btn sm" onClick={() => retryUpload(upload)}>
            {knowledge.tryAgain}
          </button>
        )}
        {upload.state === "lost" && <ChooseAgain upload={upload} />}
        {upload.document && (
          <Link
            className="btn sm"
            to="/knowledge/$base/$doc"
            params={{ base: upload.base, doc: upload.document.id }}
          >
            {knowledge.openIt}
          </Link>
        )}
        {upload.state === "changed" && (
          <Link
            className="btn sm"
            to="/knowledge/$base"
            params={{ base: upload.base }}
            search={(before) => ({ ...before, replace: upload.upload })}
          >
            {changeWords.seeChange}
          </Link>
        )}
        {!["changed", "adding"].includes(upload.state) && (
          <button type="button" className="btn sm quiet" onClick={() => removeUpload(upload)}>
            {endWord(upload)}
          </button>
        )}
      </td>
    </tr>
  );
}

function endWord({ state }: Upload): string {
  if (state === "lost") return changeWords.discard;
  return state === "done" || state === "failed" ? knowledge.dismiss : knowledge.stop;
}

function State({ upload }: { upload: Upload }) {
  if (upload.state === "failed")
    return (
      <>
        <span className="state bad">
          <MarkIcon mark="bad" small /> {knowledge.uploadFailed}
        </span>
        <small role="alert">{upload.error?.message}</small>
      </>
    );
  if (upload.state === "lost")
    return (
      <>
        <span className="state wait">
          <MarkIcon mark="pause" small /> {knowledge.interrupted}
        </span>
        <small>{knowledge.chooseAgain(upload.name, upload.sent)}</small>
        <Expiry upload={upload} />
      </>
    );
  if (upload.state === "done")
    return (
      <span className="state ok">
        <MarkIcon mark="ok" small /> {knowledge.alreadyHere}
      </span>
    );
  if (upload.state === "changed")
    return (
      <>
        <span className="state wait">
          <MarkIcon mark="pause" small />{" "}
          {upload.check ? changeWords.changedSince : changeWords.waitsForYou}
        </span>
        {upload.check && <small>{describeChange(upload.check)}</small>}
        <Expiry upload={upload} />
      </>
    );
  if (upload.state === "checking")
    return (
      <span className="state run">
        <MarkIcon mark="run" small /> {changeWords.comparing}
      </span>
    );
  if (upload.state === "waiting")
    return (
      <span className="state faint">
        <MarkIcon mark="next" small /> {knowledge.waitsToUpload}
      </span>
    );
  const share = upload.size > 0 ? Math.round((100 * upload.sent) / upload.size) : 0;
  return (
    <>
      <span className="state run">
        <MarkIcon mark="run" small /> {knowledge.uploading}
      </span>
      <small>{knowledge.uploaded(upload.sent, upload.size)}</small>
      <span className="prog" aria-hidden="true">
        <i className="r part" style={{ "--v": `${share}%` } as React.CSSProperties} />
      </span>
      <span className="sr">{share}%</span>
    </>
  );
}

/** Until when the server keeps what waits. */
function Expiry({ upload }: { upload: Upload }) {
  return upload.expiresAt === null ? null : (
    <small>{changeWords.deletedAt(formatFull(upload.expiresAt))}</small>
  );
}

function ChooseAgain({ upload }: { upload: Upload }) {
  const input = useRef<HTMLInputElement>(null);
  const [isOther, setOther] = useState(false);
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    if (file) setOther(!resumeUpload(upload, file));
    event.target.value = "";
  };
  return (
    <>
      <input ref={input} type="file" hidden onChange={onChange} />
      <button type="button" className="btn sm" onClick={() => input.current?.click()}>
        {knowledge.chooseFile}
      </button>
      {isOther && (
        <small className="bad" role="alert">
          {knowledge.anotherFile}
        </small>
      )}
    </>
  );
}
