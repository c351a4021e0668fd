// The keyboard: one key for each thing one does all the time. Fields and menus keep their own keys.

import { $ } from "./dom.js";

const KEYS = {
  ArrowLeft: "undo",
  ArrowRight: "redo",
  Home: "first",
  End: "last",
  " ": "best",
  h: "hints",
  f: "flip",
  n: "new",
  "?": "help",
  Escape: "release",
};

const keepsKeys = (element) => element.closest("input:not([readonly]), select, textarea, dialog[open]");

/** Space presses a button that the keyboard went to; after a mouse click it plays the best move. */
const spacePresses = (element) => element.closest("button, a, summary") && element.matches(":focus-visible");

function walkMoves(by) {
  const chips = [...$("moves").querySelectorAll(".chip")];
  const next = chips[chips.indexOf(document.activeElement) + by] ?? chips[by > 0 ? 0 : chips.length - 1];
  next?.focus();
}

export function watchKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    if (event.key === " " && spacePresses(event.target)) return;
    const name = KEYS[event.key];
    if (event.key === "ArrowDown" || event.key === "ArrowUp") walkMoves(event.key === "ArrowDown" ? 1 : -1);
    else if (name) act(name);
    else return;
    event.preventDefault();
  });
}
