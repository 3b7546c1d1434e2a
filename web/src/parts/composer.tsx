import { ArrowUp, Paperclip, Square, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { type MessageFile, readFile } from "../stream/send_message";
import { messages } from "../words/messages";
import { keepDraft, readDraft } from "./drafts";

/** When a message reaches an agent that works: after its answer, at its next step, or instead. */
export type When = "queue" | "steer" | "stop";

const MOST_FILES = 20;

interface ComposerProps {
  label: string;
  placeholder: string;
  /** Under which a draft is kept until it is sent. */
  draftKey: string;
  isSlim?: boolean;
  isBusy?: boolean;
  isWorking?: boolean;
  autoFocus?: boolean;
  initial?: string;
  before?: ReactNode;
  /** Wishes that a click writes into the field. */
  examples?: readonly string[];
  onSend: (text: string, when: When, files: MessageFile[]) => Promise<boolean>;
  onStop?: () => void;
}

/** The field for a message; Enter sends, Shift Enter is a new line. */
export function Composer(props: ComposerProps) {
  const { draftKey, isSlim = false, isWorking = false, isBusy = false } = props;
  const [text, setText] = useState(() => readDraft(draftKey) ?? props.initial ?? "");
  const ref = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    keepDraft(draftKey, text);
    const field = ref.current;
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 240)}px`;
  }, [text, draftKey]);

  const [when, setWhen] = useState<When>("queue");
  const [files, setFiles] = useState<MessageFile[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const attach = async (chosen: Iterable<File>) => {
    const read = await Promise.all([...chosen].map(readFile));
    const names = new Set(read.map((file) => file.name));
    setFiles((before) =>
      [...before.filter((file) => !names.has(file.name)), ...read].slice(0, MOST_FILES),
    );
  };
  const submit = async () => {
    const wanted = text.trim();
    if (wanted === "" || isBusy) return;
    // The draft stays until the server has taken the message.
    if (await props.onSend(wanted, isWorking ? when : "queue", files)) {
      keepDraft(draftKey, ""); // the page may have gone to the answer
      setText("");
      setFiles([]);
    }
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    if (event.shiftKey) return;
    event.preventDefault();
    void submit();
  };
  const clip = (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={messages.files}
        onChange={(event) => {
          void attach(event.target.files ?? []);
          event.target.value = "";
        }}
      />
      <button
        type="button"
        className="icon-btn"
        aria-label={messages.attach}
        onClick={() => picker.current?.click()}
      >
        <Paperclip className="i" aria-hidden="true" />
      </button>
    </>
  );
  const chips = files.length > 0 && (
    <ul className="attached" aria-label={messages.filesOfMessage}>
      {files.map((file) => (
        <li key={file.name} className="tag">
          <span className="cut">{file.name}</span>
          <button
            type="button"
            aria-label={messages.remove(file.name)}
            onClick={() => setFiles(files.filter((item) => item !== file))}
          >
            <X className="i s" aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  );
  const isStop = isWorking && text.trim() === "";
  const button = isStop ? (
    <button className="send" type="button" aria-label={messages.stop} onClick={props.onStop}>
      <Square className="i s fill" aria-hidden="true" />
    </button>
  ) : (
    <button
      className="send"
      type="submit"
      aria-label={messages.send}
      disabled={isBusy || text.trim() === ""}
    >
      <ArrowUp className="i" aria-hidden="true" />
    </button>
  );
  const field = (
    <textarea
      ref={ref}
      rows={1}
      dir="auto"
      aria-label={props.label}
      placeholder={props.placeholder}
      value={text}
      autoFocus={props.autoFocus}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKey}
    />
  );
  const form = (
    <form
      className={isSlim ? "ask slim" : "ask"}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach(event.dataTransfer.files);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {isSlim ? (
        <>
          {props.before}
          {field}
          {chips}
          {clip}
          {isWorking && !isStop && (
            <select
              className="pick when"
              aria-label={messages.whenRead}
              value={when}
              onChange={(event) => setWhen(event.target.value as When)}
            >
              <option value="queue">{messages.afterAnswer}</option>
              <option value="steer">{messages.atNextStep}</option>
              <option value="stop">{messages.stopThenSend}</option>
            </select>
          )}
          {button}
        </>
      ) : (
        <>
          {field}
          {chips}
          <div className="foot">
            {props.before}
            {clip}
            <span className="go">{button}</span>
          </div>
        </>
      )}
    </form>
  );
  const { examples = [] } = props;
  if (examples.length === 0) return form;
  return (
    <>
      {form}
      <div className="tries">
        {examples.map((example) => (
          <button
            type="button"
            key={example}
            onClick={() => {
              setText(example);
              ref.current?.focus();
            }}
          >
            {example}
          </button>
        ))}
      </div>
    </>
  );
}
