// The position in every notation, links, the whole game to take away and bring back, and an editor that says at once why a
// text is not a position.

import * as api from "./api.js";
import { drawCells } from "./board.js";
import { $, debounced, h, setText } from "./dom.js";
import { startSetup } from "./setup.js";
import { about, hints, state } from "./state.js";

/** Where a browser does not let a page copy, people can, from `field`. */
async function copy(text, button, field) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    setText(button, "Copied");
  } catch {
    field?.focus(); // selected, too
    setText(button, field ? "Press Ctrl+C" : "It is the page's address");
  }
  setTimeout(() => setText(button, label), 1200);
}

export function drawNotations(answer) {
  const names = Object.keys(answer.notations).join(" ");
  const container = $("notations");
  if (container.dataset.names !== names) {
    container.dataset.names = names;
    container.replaceChildren(
      ...Object.keys(answer.notations).map((name) => {
        const field = h("input", { type: "text", readonly: true, "aria-label": `${name} notation`, onfocus: (event) => event.target.select() });
        return h("div", { class: "row" }, h("span", { class: "name" }, name), field, h("button", { type: "button", "aria-label": `Copy ${name}`, onclick: (event) => copy(field.value, event.currentTarget, field) }, "Copy"));
      }),
    );
  }
  Object.values(answer.notations).forEach((text, index) => (container.querySelectorAll("input")[index].value = text));
}

/** The game as `solve play` saves it, for its `--load` and for this page. */
function savedGame() {
  const { variant = {}, family = state.game } = about() ?? {};
  const start = state.start === null ? {} : { start: state.start };
  return JSON.stringify({ format: "perfectplay game", game: family, options: variant, ...start, moves: state.moves }, null, 2);
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** What a file that `Save game` or `solve play` wrote holds, as `visit` takes it; an Error says what is wrong with it. */
function readSaved(text) {
  const saved = JSON.parse(text);
  if (saved?.format !== "perfectplay game" || !Array.isArray(saved.moves)) throw new Error("it is not a saved game");
  const inOrder = (options) => JSON.stringify(Object.entries(options ?? {}).sort());
  const of = state.games.find((game) => game.family === saved.game && inOrder(game.variant) === inOrder(saved.options));
  if (!of) throw new Error(`it is a game of ${saved.game} in a variant that is not open here`);
  return { game: of.name, start: saved.start ?? null, moves: saved.moves.map(String) };
}

/** Wires the editor up: `current` gives the game's name, `visit` goes somewhere.
 *  Returns what puts another position into it, to begin editing from. */
export function startEditor(current, visit) {
  const field = $("editor-text");
  const reason = $("editor-reason");
  let found = null;
  let asked = 0;
  let edited = false; // a text somebody is working on is left alone, while it is of the same game
  let game = null;

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
    const of = current();
    if (!text) return show(null, "", false);
    try {
      const { possible, reason: why, id } = await api.check(of, text);
      const answer = possible ? await api.position(of, id) : null;
      if (number !== asked || of !== current()) return;
      show(answer, answer ? (hints() ? `A position: ${answer.verdict}` : "A position") : why, possible);
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
    visit({ start: found.text, moves: [] });
  });
  $("copy-link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
  $("save-game").addEventListener("click", () => download(savedGame(), `${current()}.json`));
  $("load-game").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    try {
      visit(readSaved(await file.text()));
    } catch (error) {
      show(null, `${file.name} cannot be loaded: ${error.message}`, false);
    }
    event.target.value = ""; // the same file may be chosen again
  });
  show(null, "", false);
  return (answer, name) => {
    if (edited && name === game) return;
    game = name;
    edited = false;
    asked += 1; // what is still being asked is of another position
    field.value = answer.text;
    show(null, "", false);
    showBoard(answer.board);
  };
}
