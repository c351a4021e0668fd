// The position in every notation, a link to it, and an editor that says at once why a text is no position.

import * as api from "./api.js";
import { drawCells } from "./board.js";
import { $, debounced, h, setText } from "./dom.js";
import { startSetup } from "./setup.js";

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    setText(button, "Copied");
  } catch {
    setText(button, "Press Ctrl+C");
  }
  setTimeout(() => setText(button, label), 1200);
}

export function drawNotations(answer) {
  $("notations").replaceChildren(
    ...Object.entries(answer.notations).map(([name, text]) => {
      const button = h("button", { type: "button", "aria-label": `Copy ${name}` }, "Copy");
      button.addEventListener("click", () => copy(text, button));
      const field = h("input", { type: "text", readonly: true, value: text, "aria-label": `${name} notation`, onfocus: (event) => event.target.select() });
      return h("div", { class: "row" }, h("span", { class: "name" }, name), field, button);
    }),
  );
}

/** Wires the editor up: `current` gives the game's name, `onSetUp` takes the answer for the position to go to.
 *  Returns what puts another position into it, to begin editing from. */
export function startEditor(current, onSetUp) {
  const field = $("editor-text");
  const reason = $("editor-reason");
  let found = null;
  let asked = 0;
  let edited = false; // a text somebody is working on is left alone

  const show = (answer, text, good) => {
    found = answer;
    $("editor-go").disabled = !answer;
    setText(reason, text);
    reason.classList.toggle("good", good);
    const plain = answer?.board && !answer.board.spelling; // else the board to click on shows it
    $("editor-board").hidden = !plain;
    if (plain) drawCells($("editor-board"), answer.board, () => h("span", { class: "cell" }));
    else if (answer) showBoard(answer.board);
  };

  const showBoard = startSetup((text) => {
    field.value = text;
    edited = true;
    check();
  });

  const check = async () => {
    const text = field.value.trim();
    const number = ++asked;
    if (!text) return show(null, "", false);
    try {
      const { possible, reason: why, id } = await api.check(current(), text);
      const answer = possible ? await api.position(current(), id) : null;
      if (number === asked) show(answer, answer ? `A position: ${answer.verdict}` : why, possible);
    } catch (error) {
      if (number === asked) show(null, error.message, false);
    }
  };

  field.addEventListener("input", () => (edited = field.value !== ""));
  field.addEventListener("input", debounced(150, check));
  $("editor").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!found) return;
    edited = false;
    onSetUp(found);
  });
  $("copy-link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
  show(null, "", false);
  return (answer) => {
    if (edited) return;
    field.value = answer.text;
    show(null, "", false);
    showBoard(answer.board);
  };
}
