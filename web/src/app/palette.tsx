import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { conversationsQuery, toolsQuery } from "../api/queries";
import { Dialog } from "../parts/dialog";
import { boardWords } from "../words/board";
import { titleOf } from "../words/format";
import { knowledge } from "../words/knowledge";
import { messages } from "../words/messages";
import { switchTheme } from "./theme";

interface Choice {
  key: string;
  name: string;
  hint: string;
  go: () => void;
}

const MOST = 12;

/** Ctrl K: pages, tools, conversations and a few actions, by name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { data: tools = [] } = useQuery(toolsQuery);
  const { data: pages } = useInfiniteQuery(conversationsQuery(""));
  const all: Choice[] = [
    { key: "h", name: messages.home, hint: boardWords.page, go: () => navigate({ to: "/" }) },
    {
      key: "n",
      name: messages.newChat,
      hint: boardWords.page,
      go: () => navigate({ to: "/chat" }),
    },
    { key: "t", name: messages.tools, hint: boardWords.page, go: () => navigate({ to: "/tools" }) },
    {
      key: "s",
      name: messages.sources,
      hint: boardWords.page,
      go: () => navigate({ to: "/sources" }),
    },
    {
      key: "k",
      name: knowledge.knowledge,
      hint: boardWords.page,
      go: () => navigate({ to: "/knowledge" }),
    },
    { key: "r", name: messages.runs, hint: boardWords.page, go: () => navigate({ to: "/runs" }) },
    {
      key: "a",
      name: messages.approvals,
      hint: boardWords.page,
      go: () => navigate({ to: "/approvals" }),
    },
    { key: "d", name: messages.switchTheme, hint: boardWords.action, go: switchTheme },
    ...(pages?.pages ?? []).flatMap((page) =>
      page.conversations.map((item) => ({
        key: item.id,
        name: item.title || messages.conversation,
        hint: boardWords.chat,
        go: () => navigate({ to: "/chat/$id", params: { id: item.id } }),
      })),
    ),
    ...tools.map((tool) => ({
      key: tool.name,
      name: titleOf(tool.name, tool.title),
      hint: tool.name,
      go: () => navigate({ to: "/tools/$name", params: { name: tool.name } }),
    })),
  ];
  const wanted = text.trim().toLowerCase();
  const found = all
    .filter((choice) => `${choice.name} ${choice.hint}`.toLowerCase().includes(wanted))
    .slice(0, MOST);
  const chosen = Math.min(at, found.length - 1);

  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    void choice.go();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else if (event.key === "Enter") take(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label={messages.searchOrGo} onClose={onClose} className="palette">
      <input
        className="in"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[chosen] ? `p-${found[chosen].key}` : undefined}
        aria-label={messages.searchOrGo}
        placeholder={boardWords.goWhere}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id="palette-list" aria-label={boardWords.found}>
        {found.map((choice, index) => (
          <div
            key={choice.key}
            id={`p-${choice.key}`}
            role="option"
            aria-selected={index === chosen}
            className="choice"
            onClick={() => take(choice)}
          >
            <span className="cut">{choice.name}</span>
            <span className="faint mono cut">{choice.hint}</span>
          </div>
        ))}
        {found.length === 0 && <p className="faint nothing">{boardWords.nothingNamed}</p>}
      </div>
    </Dialog>
  );
}

const KEYS: [string, string][] = [
  ["Ctrl K", messages.searchOrGo],
  ["g then h, c, t, s, k, r, a", boardWords.goToPages],
  ["n", messages.newChat],
  ["/", boardWords.searchPage],
  ["j, k", boardWords.moveInList],
  ["Ctrl Enter", boardWords.runOrSend],
  ["a, d, e", boardWords.inApproval],
  ["Esc", messages.close],
];

/** `?`: all keys. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label={boardWords.keys} onClose={onClose} className="keys-dialog">
      <h2>{boardWords.keys}</h2>
      <dl className="kv">
        {KEYS.map(([key, what]) => (
          <div key={key} className="pair">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" className="btn" onClick={onClose}>
        {messages.close}
      </button>
    </Dialog>
  );
}
