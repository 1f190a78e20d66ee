// The cockpit takes keys as soon as it is drawn, and whenever its page is looked at again.
const drawn = () => document.body.classList.contains("-first-byte");
const take = () => drawn() && document.querySelector(".xterm-helper-textarea")?.focus();
addEventListener("focus", take);
addEventListener("load", () =>
  new MutationObserver((_, watch) => drawn() && (watch.disconnect(), take())).observe(document.body, { attributes: true }));
