import type { Exchange } from "../../api/queries";
import { CopyButton } from "../../parts/copy_button";
import { messages } from "../../words/messages";

/** What a completed answer lacks; one that is whole can be copied. */
export function AnswerEnd({ exchange }: { exchange: Exchange }) {
  if (exchange.state !== "completed") return null;
  if (exchange.finish === "length") return <p className="faint">{messages.cutByLimit}</p>;
  if (exchange.finish === "content_filter") return <p className="faint">{messages.cutByFilter}</p>;
  return exchange.answer ? (
    <div className="answer-acts">
      <CopyButton text={exchange.answer} label={messages.copyAnswer} />
    </div>
  ) : (
    <p className="faint">{messages.noAnswer}</p>
  );
}
