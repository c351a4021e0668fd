// The position in every notation, and links to copy.

import { $, button, h, setText } from "./dom.js";

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

export function startNotations() {
  $("copy-link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
}
