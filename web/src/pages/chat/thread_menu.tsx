import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { API } from "../../api/address";
import { send } from "../../api/client";
import { Dialog } from "../../parts/dialog";
import { Problem } from "../../parts/states";
import { messages } from "../../words/messages";

/** Rename, download or delete a conversation. */
export function ThreadMenu({ id, title }: { id: string; title: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"" | "rename" | "delete">("");
  const [name, setName] = useState(title);
  const rename = useMutation({
    mutationFn: () => send("PATCH", `/conversations/${id}`, { title: name }),
    onSuccess: async () => {
      setOpen("");
      await client.invalidateQueries({ queryKey: ["conversation", id] });
      await client.invalidateQueries({ queryKey: ["conversations"] });
    },
  });
  const remove = useMutation({
    mutationFn: () => send("DELETE", `/conversations/${id}`),
    onSuccess: async () => {
      await navigate({ to: "/chat" });
      await client.invalidateQueries({ queryKey: ["conversations"] });
    },
  });
  return (
    <>
      <button
        type="button"
        className="icon-btn"
        aria-label={messages.more}
        popoverTarget="chat-more"
      >
        <Ellipsis className="i" aria-hidden="true" />
      </button>
      <div id="chat-more" popover="auto" className="menu">
        <button
          type="button"
          popoverTarget="chat-more"
          popoverTargetAction="hide"
          onClick={() => {
            setName(title);
            setOpen("rename");
          }}
        >
          {messages.rename}
        </button>
        <a href={`${API}/conversations/${id}/export?format=markdown`} download>
          {messages.asMarkdown}
        </a>
        <a href={`${API}/conversations/${id}/export`} download>
          {messages.asJson}
        </a>
        <button
          type="button"
          className="bad"
          popoverTarget="chat-more"
          popoverTargetAction="hide"
          onClick={() => setOpen("delete")}
        >
          {messages.delete}
        </button>
      </div>
      {open === "rename" && (
        <Dialog label={messages.renameConversation} onClose={() => setOpen("")}>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              rename.mutate();
            }}
          >
            <h2>{messages.renameConversation}</h2>
            <input
              className="in"
              aria-label={messages.title}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <Problem error={rename.error} />
            <div className="acts">
              <button
                type="submit"
                className="btn primary"
                disabled={name.trim() === "" || rename.isPending}
              >
                {messages.rename}
              </button>
              <button type="button" className="btn quiet" onClick={() => setOpen("")}>
                {messages.cancel}
              </button>
            </div>
          </form>
        </Dialog>
      )}
      {open === "delete" && (
        <Dialog label={messages.deleteConversation} onClose={() => setOpen("")}>
          <div className="stack">
            <h2>{messages.deleteQuestion(title)}</h2>
            <p className="dim">{messages.deleteWhat}</p>
            <Problem error={remove.error} />
            <div className="acts">
              <button
                type="button"
                className="btn danger"
                disabled={remove.isPending}
                onClick={() => remove.mutate()}
              >
                {messages.delete}
              </button>
              <button type="button" className="btn quiet" onClick={() => setOpen("")}>
                {messages.keepIt}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
