import { useEffect, useRef, useState } from "react";
import { listDropped } from "../stream/chosen_files";
import type { ChosenFile } from "../stream/uploads";

/** Whether files are held over the page, which takes them wherever they are let go. */
export function usePageDrop(take: (chosen: readonly ChosenFile[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    let depth = 0;
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const onEnter = (event: DragEvent) => {
      if (!isFiles(event)) return;
      depth += 1;
      setOver(true);
    };
    const onLeave = (event: DragEvent) => {
      if (!isFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const onOver = (event: DragEvent) => {
      if (isFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      if (!isFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      void listDropped(event.dataTransfer).then((chosen) => latest.current(chosen));
    };
    const handlers = { dragenter: onEnter, dragleave: onLeave, dragover: onOver, drop: onDrop };
    for (const [name, handler] of Object.entries(handlers))
      window.addEventListener(name as "drop", handler);
    return () => {
      for (const [name, handler] of Object.entries(handlers))
        window.removeEventListener(name as "drop", handler);
    };
  }, []);
  return isOver;
}
