import { type RefObject, useEffect, useRef } from "react";

/** Brings a quote, or the place that the address names, into view, and the focus to it; once for each key. */
export function useFocusOnMark(key: string): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!key) return;
    const hash = window.location.hash.slice(1);
    const mark =
      ref.current?.querySelector<HTMLElement>("mark.quote, mark.hit") ??
      (/^[pf]\d+$/.test(hash) ? window.document.getElementById(hash) : null);
    if (!mark) return;
    mark.tabIndex = -1;
    mark.focus({ preventScroll: true });
    mark.scrollIntoView({ block: "center" });
  }, [key]);
  return ref;
}
