import type { Exchange } from "../../api/queries";
import { messages } from "../../words/messages";

/** What a completed answer lacks; nothing for one that is whole. */
export function AnswerEnd({ exchange }: { exchange: Exchange }) {
  if (exchange.state !== "completed") return null;
  if (exchange.finish === "length") return <p className="faint">{messages.cutByLimit}</p>;
  if (exchange.finish === "content_filter") return <p className="faint">{messages.cutByFilter}</p>;
  return exchange.answer ? null : <p className="faint">{messages.noAnswer}</p>;
}
