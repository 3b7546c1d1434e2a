import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { API } from "../../api/address";
import { send } from "../../api/client";
import { Dialog } from "../../parts/dialog";
import { Problem } from "../../parts/states";

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
      <button type="button" className="icon-btn" aria-label="More" popoverTarget="chat-more">
        <Ellipsis className="i" aria-hidden="true" />
      </button>
      <div id="chat-more" popover="auto" className="menu">
        <button
          type="button"
          popoverTarget="chat-more"
          onClick={() => {
            setName(title);
            setOpen("rename");
          }}
        >
          Rename
        </button>
        <a href={`${API}/conversations/${id}/export?format=markdown`} download>
          Download as Markdown
        </a>
        <a href={`${API}/conversations/${id}/export`} download>
          Download as JSON
        </a>
        <button
          type="button"
          className="bad"
          popoverTarget="chat-more"
          onClick={() => setOpen("delete")}
        >
          Delete
        </button>
      </div>
      {open === "rename" && (
        <Dialog label="Rename the conversation" onClose={() => setOpen("")}>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              rename.mutate();
            }}
          >
            <h2>Rename the conversation</h2>
            <input
              className="in"
              aria-label="Title"
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
                Rename
              </button>
              <button type="button" className="btn quiet" onClick={() => setOpen("")}>
                Cancel
              </button>
            </div>
          </form>
        </Dialog>
      )}
      {open === "delete" && (
        <Dialog label="Delete the conversation" onClose={() => setOpen("")}>
          <div className="stack">
            <h2>Delete “{title}”?</h2>
            <p className="dim">
              Its messages and answers are removed. Calls that were made stay in the record.
            </p>
            <Problem error={remove.error} />
            <div className="acts">
              <button
                type="button"
                className="btn danger"
                disabled={remove.isPending}
                onClick={() => remove.mutate()}
              >
                Delete
              </button>
              <button type="button" className="btn quiet" onClick={() => setOpen("")}>
                Keep it
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
}
