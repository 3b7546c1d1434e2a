import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { conversationsQuery } from "../../api/queries";
import { usePageTitle } from "../../parts/page_title";
import { isToday } from "../../words/format";
import { StartComposer } from "./start_composer";
import { Thread } from "./thread";

/** All conversations, and one of them. */
export function ChatPage() {
  const { id = "" } = useParams({ strict: false });
  const { q = "" } = useSearch({ strict: false }) as { q?: string };
  return (
    <div className="chat" data-open={id !== "" || undefined}>
      <Conversations chosen={id} text={q} />
      {id ? <Thread key={id} id={id} /> : <NewChat />}
    </div>
  );
}

function Conversations({ chosen, text }: { chosen: string; text: string }) {
  const navigate = useNavigate();
  const list = useInfiniteQuery(conversationsQuery(text));
  const all = list.data?.pages.flatMap((page) => page.conversations) ?? [];
  const groups = [
    { name: "Today", items: all.filter((item) => isToday(item.updated_at)) },
    { name: "Earlier", items: all.filter((item) => !isToday(item.updated_at)) },
  ].filter((group) => group.items.length > 0);
  return (
    <aside className="talks" aria-label="Conversations">
      <Link to="/chat" className="btn">
        <Plus className="i s" aria-hidden="true" /> New chat
      </Link>
      <input
        className="in"
        type="search"
        aria-label="Find a conversation"
        placeholder="Find a conversation"
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
              aria-current={item.id === chosen ? "page" : undefined}
            >
              <span className="cut">{item.title || "Conversation"}</span>
            </Link>
          ))}
        </section>
      ))}
      {list.isSuccess && all.length === 0 && (
        <p className="faint nothing">
          {text ? "No conversation says this." : "Nobody has asked yet."}
        </p>
      )}
      {list.hasNextPage && (
        <button type="button" className="btn quiet" onClick={() => void list.fetchNextPage()}>
          Show older
        </button>
      )}
    </aside>
  );
}

function NewChat() {
  usePageTitle("New chat");
  const { tool } = useSearch({ strict: false }) as { tool?: string };
  return (
    <section className="thread new" aria-label="New chat">
      <div className="hero">
        <h1>What should the board do?</h1>
        <StartComposer draftKey="chat" autoFocus initial={tool ? `Use ${tool} to ` : ""} />
      </div>
    </section>
  );
}
