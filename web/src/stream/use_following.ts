import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

const NEAR_THE_END = 80;

interface Following {
  isAway: boolean;
  toEnd: () => void;
  turns: RefObject<HTMLDivElement | null>;
}

/** Stay at the end of the page while it grows, unless somebody has scrolled up. */
export function useFollowing(): Following {
  const isNear = useRef(true);
  const turns = useRef<HTMLDivElement>(null);
  const [isAway, setAway] = useState(false);
  const toEnd = useCallback(() => {
    isNear.current = true;
    window.scrollTo({ top: document.documentElement.scrollHeight });
  }, []);
  useEffect(() => {
    let before = window.scrollY;
    const onScroll = () => {
      const root = document.documentElement;
      const left = root.scrollHeight - root.clientHeight - window.scrollY;
      // What grows below moves nothing up: only a person scrolls up.
      if (left <= NEAR_THE_END) isNear.current = true;
      else if (window.scrollY < before) isNear.current = false;
      before = window.scrollY;
      setAway(left > NEAR_THE_END * 3);
    };
    const onResize = new ResizeObserver(() => {
      if (isNear.current) toEnd();
    });
    if (turns.current) onResize.observe(turns.current);
    window.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      onResize.disconnect();
      window.removeEventListener("scroll", onScroll);
    };
  }, [toEnd]);
  return { isAway, toEnd, turns };
}
