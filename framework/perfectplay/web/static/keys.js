// The keyboard. Single keys can be turned off; none of them is one that scrolls. Fields and menus keep their own keys, and
// arrows inside the board and the lists walk there (dom.js).

import { $ } from "./dom.js";
import { keep, settings } from "./settings.js";

const KEYS = {
  ArrowLeft: "undo",
  ArrowRight: "redo",
  "Shift+ArrowLeft": "first",
  "Shift+ArrowRight": "last",
  b: "best",
  h: "hints",
  f: "flip",
  n: "new",
  "?": "help",
};

const keepsKeys = (element) => element.closest?.("input, select, textarea, dialog[open], [role=tablist]");

export function watchKeys(act) {
  const box = $("shortcuts");
  box.checked = settings.shortcuts;
  box.addEventListener("change", () => keep({ shortcuts: box.checked }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.target.closest?.("dialog[open]")) return act("release");
    if (!settings.shortcuts || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || keepsKeys(event.target)) return;
    const name = KEYS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key];
    if (!name) return;
    event.preventDefault();
    act(name);
  });
}
