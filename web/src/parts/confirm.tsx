import { messages } from "../words/messages";
import { Dialog } from "./dialog";
import { Problem } from "./states";

interface ConfirmProps {
  title: string;
  what: string;
  /** The verb on the button. */
  action: string;
  error: Error | null;
  isPending: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm(props: ConfirmProps) {
  const { title, what, action, error, isPending, onConfirm, onClose } = props;
  return (
    <Dialog label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        <p className="dim">{what}</p>
        <Problem error={error} />
        <div className="acts">
          <button type="button" className="btn danger" disabled={isPending} onClick={onConfirm}>
            {action}
          </button>
          <button type="button" className="btn quiet" onClick={onClose}>
            {messages.cancel}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
