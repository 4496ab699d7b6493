// Before the first paint: the theme that was chosen here, else the system's.
(() => {
  const key = "recollect-theme";
  let chosen = null;
  try { chosen = localStorage.getItem(key); } catch { /* private windows may refuse */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  window.switchTheme = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const next = dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem(key, next); } catch { /* kept for this page only */ }
    document.dispatchEvent(new CustomEvent("themechange"));
  };
})();
