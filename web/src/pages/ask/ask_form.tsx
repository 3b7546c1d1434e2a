import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import type { Ask } from "../../api/knowledge";
import { sessionQuery } from "../../api/queries";
import { evidence } from "../../words/evidence";

interface AskFormProps {
  initial: Ask | undefined;
  isPending: boolean;
  onAsk: (question: string, mode: Ask["mode"]) => void;
}

/** The question, and how it is answered; nothing is asked while somebody types. */
export function AskForm({ initial, isPending, onAsk }: AskFormProps) {
  const { data: session } = useQuery(sessionQuery);
  const [typed, setTyped] = useState<string | null>(null);
  const [picked, setPicked] = useState<Ask["mode"] | null>(null);
  const text = typed ?? initial?.question ?? "";
  const mode = picked ?? initial?.mode ?? "grounding";
  const submit = () => {
    if (text.trim() !== "" && !isPending) onAsk(text.trim(), mode);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing || event.shiftKey) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="ask"
      aria-label={evidence.question}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        rows={1}
        maxLength={4000}
        aria-label={evidence.question}
        placeholder={evidence.askHint}
        autoFocus={!initial}
        value={text}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKey}
      />
      <div className="foot">
        <select
          className="pick"
          aria-label={evidence.mode}
          value={mode}
          onChange={(event) => setPicked(event.target.value as Ask["mode"])}
        >
          <option value="grounding">{evidence.grounded}</option>
          <option value="simple">{evidence.simple}</option>
        </select>
        <span className="faint as">
          {mode === "grounding" ? evidence.groundedWhat : evidence.simpleWhat}
          {session && ` · ${evidence.asWho(session.name || session.caller)}`}
        </span>
        <button type="submit" className="btn primary go" disabled={isPending || text.trim() === ""}>
          {isPending ? evidence.asking : evidence.askIt}
        </button>
      </div>
    </form>
  );
}
