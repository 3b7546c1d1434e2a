// Sets the theme before the first paint; the only script that is not a module.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    let theme = null;
    try {
      theme = localStorage.getItem("theme");
    } catch {}
    const chosen = theme === "light" || theme === "dark" ? theme : null;
    document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
  };
  set();
  dark.addEventListener("change", set);
})();
