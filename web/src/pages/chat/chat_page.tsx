import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { approvalsQuery, conversationsQuery } from "../../api/queries";
import { usePageTitle } from "../../parts/page_title";
import { Failure } from "../../parts/states";
import { isToday, isYesterday } from "../../words/format";
import { messages } from "../../words/messages";
import { StartComposer } from "./start_composer";
import { Thread } from "./thread";

/** All conversations, and one of them. */
export function ChatPage() {
  const { id = "" } = useParams({ strict: false });
  const { q = "", source } = useSearch({ strict: false }) as { q?: string; source?: string };
  return (
    <div className={source ? "chat with-source" : "chat"} data-open={id !== "" || undefined}>
      {!source && <Conversations chosen={id} text={q} />}
      {id ? <Thread key={id} id={id} /> : <NewChat />}
    </div>
  );
}

function Conversations({ chosen, text }: { chosen: string; text: string }) {
  const navigate = useNavigate();
  const list = useInfiniteQuery(conversationsQuery(text));
  const all = list.data?.pages.flatMap((page) => page.conversations) ?? [];
  const groups = [messages.today, messages.yesterday, messages.earlier]
    .map((name) => ({ name, items: all.filter((item) => dayOf(item.updated_at) === name) }))
    .filter((group) => group.items.length > 0);
  const { data: approvals = [] } = useQuery(approvalsQuery("pending"));
  const waiting = new Set(approvals.map((approval) => approval.conversation));
  return (
    <aside className="talks" aria-label={messages.conversations}>
      <Link to="/chat" className="btn">
        <Plus className="i s" aria-hidden="true" /> {messages.newChat}
      </Link>
      <input
        className="in"
        type="search"
        aria-label={messages.findConversation}
        placeholder={messages.findConversation}
        defaultValue={text}
        onChange={(event) => {
          const search = { q: event.target.value || undefined };
          void (chosen
            ? navigate({ to: "/chat/$id", params: { id: chosen }, search, replace: true })
            : navigate({ to: "/chat", search, replace: true }));
        }}
      />
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <h2>{group.name}</h2>
          {group.items.map((item) => (
            <Link
              key={item.id}
              to="/chat/$id"
              params={{ id: item.id }}
              activeOptions={{ exact: true }}
              aria-current={item.id === chosen ? "page" : undefined}
            >
              <span className="cut" dir="auto" title={item.title}>
                {item.title || messages.conversation}
              </span>
              {waiting.has(item.id) && (
                <span className="dot">
                  <span className="sr">{messages.waitsForYou}</span>
                </span>
              )}
            </Link>
          ))}
        </section>
      ))}
      {list.error && (
        <Failure
          what={messages.conversationsFailed}
          error={list.error}
          retry={() => void list.refetch()}
        />
      )}
      {list.isSuccess && all.length === 0 && (
        <p className="faint nothing">{text ? messages.noneSays : messages.nobodyAsked}</p>
      )}
      {list.hasNextPage && (
        <button type="button" className="btn quiet" onClick={() => void list.fetchNextPage()}>
          {messages.showOlder}
        </button>
      )}
    </aside>
  );
}

function dayOf(at: number): string {
  if (isToday(at)) return messages.today;
  return isYesterday(at) ? messages.yesterday : messages.earlier;
}

function NewChat() {
  usePageTitle(messages.newChat);
  const { tool } = useSearch({ strict: false }) as { tool?: string };
  return (
    <section className="thread new" aria-label={messages.newChat}>
      <div className="hero">
        <h1>{messages.ask}</h1>
        <StartComposer draftKey="chat" autoFocus initial={tool ? messages.useTool(tool) : ""} />
      </div>
    </section>
  );
}
