import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { ApiError } from "../../api/errors";
import { Empty } from "../../parts/states";
import { messages } from "../../words/messages";

/** Whether the server has no events of a conversation; one that was read before was deleted. */
export function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** What is left of a conversation that was deleted elsewhere while it was open here. */
export function Deleted({ title }: { title: string }) {
  return (
    <section className="thread" aria-label={messages.conversation}>
      <div className="thread-top">
        <Link to="/chat" className="icon-btn back-btn" aria-label={messages.allConversations}>
          <ChevronLeft className="i" aria-hidden="true" />
        </Link>
        <h1 className="cut">{title}</h1>
      </div>
      <div className="page" role="status">
        <Empty
          title={messages.conversationDeleted}
          actions={
            <Link to="/chat" className="btn">
              {messages.newChat}
            </Link>
          }
        >
          {messages.conversationDeletedWhat}
        </Empty>
      </div>
    </section>
  );
}
