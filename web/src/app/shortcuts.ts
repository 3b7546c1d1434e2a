import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const PAGES = {
  h: "/",
  c: "/chat",
  t: "/tools",
  s: "/sources",
  r: "/runs",
  a: "/approvals",
  k: "/knowledge",
  l: "/audit",
} as const;

interface Shortcuts {
  onPalette: () => void;
  onHelp: () => void;
}

/** Keys that work on every page; none of them while somebody types. */
export function useShortcuts({ onPalette, onHelp }: Shortcuts): void {
  const navigate = useNavigate();
  const wentAt = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
        return;
      }
      const target = event.target as HTMLElement;
      const isTyped = target.matches("input, textarea, select, [contenteditable]");
      if (
        isTyped ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector("dialog[open]")
      )
        return;
      if (event.key === "g") {
        wentAt.current = event.timeStamp;
        return;
      }
      const page = PAGES[event.key as keyof typeof PAGES];
      if (page && event.timeStamp - wentAt.current < 1200) {
        event.preventDefault();
        wentAt.current = 0;
        void navigate({ to: page });
      } else if (event.key === "n") {
        event.preventDefault();
        void navigate({ to: "/chat" });
      } else if (event.key === "?") {
        event.preventDefault();
        onHelp();
      } else if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main input[type=search]");
        event.preventDefault();
        if (field) field.focus();
        else onPalette();
      } else if (event.key === "j" || event.key === "k") {
        moveInList(event.key === "j" ? 1 : -1);
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, onPalette, onHelp]);
}

function moveInList(by: number): void {
  const items = [
    ...document.querySelectorAll<HTMLElement>("main .item, main .rows a, main .tbl a.row-link"),
  ];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items.at(at < 0 ? 0 : Math.min(items.length - 1, Math.max(0, at + by)))?.focus();
}
