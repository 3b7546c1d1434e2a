// Sets the theme before the first paint; the only script that is not a module.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch {}
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    const chosen = theme === "light" || theme === "dark" ? theme : null;
    document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
  };
  set();
  dark.addEventListener("change", set);
})();
