export type Theme = "system" | "light" | "dark";

/** The theme that was chosen in this browser; that of the system where none was. */
export function readTheme(): Theme {
  try {
    const stored = localStorage.getItem("theme");
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

/** Choose a theme; `theme.js` sets it before the first paint of the next page. */
export function chooseTheme(theme: Theme): void {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "system" ? system : theme;
  try {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // A browser that stores nothing forgets the choice with the page.
  }
}

/** Light or dark: the other one than is shown now. */
export function switchTheme(): void {
  chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
}
