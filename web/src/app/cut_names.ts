/** Gives what is cut off at the edge its whole text as a tooltip, once the pointer or the focus is there. */
export function nameWhatIsCut(): void {
  for (const kind of ["pointerover", "focusin"])
    document.addEventListener(kind, (event) => {
      if (!(event.target instanceof Element)) return;
      const around = event.target.closest(".cut");
      const cut = around
        ? [around]
        : kind === "focusin"
          ? event.target.querySelectorAll(".cut")
          : [];
      for (const element of cut) nameCut(element as HTMLElement);
    });
}

/** Leaves alone a tooltip that the page itself has written. */
function nameCut(element: HTMLElement): void {
  if (element.title && element.dataset.named === undefined) return;
  const isCut = element.scrollWidth > element.clientWidth;
  element.dataset.named = "";
  if (isCut) element.title = element.innerText;
  else element.removeAttribute("title");
}
