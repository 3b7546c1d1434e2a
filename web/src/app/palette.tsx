import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { hasAccount } from "../api/people";
import { conversationsQuery, sessionQuery, toolsQuery } from "../api/queries";
import { Dialog } from "../parts/dialog";
import { boardWords } from "../words/board";
import { titleOf } from "../words/format";
import { messages } from "../words/messages";
import { BOARD, PAGES, PEOPLE, RECORDS, WORK } from "./navigation";
import { type Choice, rankChoices } from "./rank_choices";
import { switchTheme } from "../parts/theme";

const MOST = 12;

function choose(key: string, name: string, hint: string, go: () => void): Choice {
  return { key, name, hint, text: `${name} ${hint}`.toLowerCase(), go };
}

/** Ctrl K: pages, tools, conversations and a few actions, by name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const { data: session } = useQuery(sessionQuery);
  const { data: tools = [] } = useQuery(toolsQuery);
  const { data: pages } = useInfiniteQuery(conversationsQuery(""));
  const entries = [...PAGES, ...BOARD, ...WORK, ...RECORDS, ...(hasAccount(session) ? PEOPLE : [])];
  const fixed: Choice[] = [
    ...entries.map(({ to, name }) =>
      choose(`page${to}`, name, boardWords.page, () => navigate({ to })),
    ),
    choose("new-chat", messages.newChat, boardWords.action, () => navigate({ to: "/chat" })),
    choose("connect", boardWords.connectSource, boardWords.action, () =>
      navigate({ to: "/sources/connect" }),
    ),
    choose("theme", messages.switchTheme, boardWords.action, switchTheme),
  ];
  const talks = (pages?.pages ?? []).flatMap((page) =>
    page.conversations.map((item) =>
      choose(item.id, item.title || messages.conversation, boardWords.chat, () =>
        navigate({ to: "/chat/$id", params: { id: item.id } }),
      ),
    ),
  );
  // A board has thousands of tools, and each key looks through all of them.
  const named = useMemo(
    () =>
      tools.map(({ name, title }) =>
        choose(name, titleOf(name, title), name, () =>
          navigate({ to: "/tools/$name", params: { name } }),
        ),
      ),
    [tools, navigate],
  );
  const found = text.trim()
    ? rankChoices([fixed, named, talks], text, MOST)
    : rankChoices([fixed], "", fixed.length);
  const chosen = Math.min(at, found.length - 1);

  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

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
      <div ref={list} role="listbox" id="palette-list" aria-label={boardWords.found}>
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
  ["g then h, c, t, s, k, r, a, l", boardWords.goToPages],
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
