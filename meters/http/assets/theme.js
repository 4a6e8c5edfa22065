/* The light or dark look of the pages for staff: as the person chose on this device, or else as the
   system has it. The page loads this script before it draws, so no other look is seen first. */

(() => {
  const isLight = matchMedia("(prefers-color-scheme: light)");
  const chosen = () => {
    try {
      return localStorage.getItem("pitlink.floor.theme");
    } catch {
      return null; // the browser keeps nothing
    }
  };
  const show = () => { document.documentElement.dataset.mode = chosen() ?? (isLight.matches ? "light" : "dark"); };
  isLight.addEventListener("change", show);
  addEventListener("storage", show);
  addEventListener("theme", show);
  show();
})();
