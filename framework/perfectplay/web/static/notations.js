// The position in every notation, links, and games to save.

import { $, button, h, setText } from "./dom.js";
import { listedGame, state } from "./state.js";
import { SAVED_FORMAT } from "./vocabulary.js";

/** Copies a text. Where the browser does not allow that, it selects the text in `field` for the user to copy. */
async function copy(text, source, field) {
  const label = (source.dataset.label ??= source.textContent);
  try {
    await navigator.clipboard.writeText(text);
    setText(source, "Copied");
  } catch {
    field?.focus(); // which selects the text
    setText(source, field ? "Press Ctrl+C" : "Copy the URL from the address bar");
  }
  setTimeout(() => setText(source, label), 1200);
}

function makeNotationRow(name) {
  const field = h("input", {
    type: "text",
    readonly: true,
    "aria-label": `${name} notation`,
    onfocus: (event) => event.target.select(),
  });
  const copyField = (event) => copy(field.value, event.currentTarget, field);
  const copyButton = button({ "aria-label": `Copy ${name}`, onclick: copyField }, "Copy");
  return h("div", { class: "row" }, h("span", { class: "name" }, name), field, copyButton);
}

export function drawNotations({ notations }) {
  const container = $("notations");
  const names = Object.keys(notations);
  if (container.dataset.names !== names.join(" ")) {
    container.dataset.names = names.join(" ");
    container.replaceChildren(...names.map(makeNotationRow));
  }
  const fields = container.querySelectorAll("input");
  Object.values(notations).forEach((text, index) => (fields[index].value = text));
}

// ---- saved games ----

/** The game in the format of `Match.json` in match.py. */
function savedGame() {
  const { variant = {}, family = state.game } = listedGame() ?? {};
  const start = state.start === null ? {} : { start: state.start };
  return JSON.stringify(
    { format: SAVED_FORMAT, game: family, options: variant, ...start, moves: state.moves },
    null,
    2,
  );
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function startNotations() {
  $("copy-link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
  $("save-game").addEventListener("click", () => download(savedGame(), `${state.game}.json`));
}
