/** Light or dark, as chosen here; `theme.js` sets it before the first paint. */
export function switchTheme(): void {
  const root = document.documentElement;
  const next = root.dataset.theme === "dark" ? "light" : "dark";
  root.dataset.theme = next;
  try {
    localStorage.setItem("theme", next);
  } catch {
    // A browser that stores nothing forgets the choice with the page.
  }
}
