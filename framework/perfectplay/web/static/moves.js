// The list of moves: best first, in groups win, draw, loss; equal distances on one line; and the best line.

import { h } from "./dom.js";
import { kind, LETTERS, long } from "./words.js";

const HEADINGS = { win: "Winning", draw: "Drawing", loss: "Losing", unknown: "Not in the table" };

function chip(move, hints, handlers) {
  const name = hints ? `${move.move}: ${long(move)}` : move.move;
  return h(
    "button",
    {
      class: "chip",
      type: "button",
      "data-move": move.move,
      "aria-label": name,
      onclick: () => handlers.play(move),
      onmouseenter: () => handlers.preview(move),
      onmouseleave: () => handlers.preview(null),
      onfocus: () => handlers.preview(move),
      onblur: () => handlers.preview(null),
    },
    move.move,
  );
}

/** Moves that are symmetric stand together, tied by a frame. */
function symmetric(moves, hints, handlers) {
  const groups = new Map();
  for (const move of moves) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  return [...groups.values()].map((group) =>
    group.length === 1
      ? chip(group[0], hints, handlers)
      : h("span", { class: "symmetric", title: "The same up to symmetry" }, ...group.map((move) => chip(move, hints, handlers))),
  );
}

export function drawMoves(container, answer, hints, handlers) {
  const { moves } = answer;
  if (!moves.length) {
    container.replaceChildren(h("p", { class: "empty" }, answer.result ? answer.result.text : "No moves."));
    return;
  }
  if (!hints || !answer.solved) {
    const sorted = [...moves].sort((a, b) => a.move.localeCompare(b.move));
    container.replaceChildren(h("div", { class: "chips" }, ...sorted.map((move) => chip(move, false, handlers))));
    return;
  }
  const sections = [];
  for (const outcome of ["win", "draw", "loss", "unknown"]) {
    const own = moves.filter((move) => kind(move) === outcome);
    if (!own.length) continue;
    const distances = [...new Set(own.map((move) => move.remoteness))];
    sections.push(
      h("section", { class: `group ${outcome}` },
        h("h3", {}, h("b", { class: `tag ${outcome}`, "aria-hidden": "true" }, LETTERS[outcome] ?? "?"), HEADINGS[outcome], h("span", { class: "count" }, String(own.length))),
        ...distances.map((distance) =>
          h("div", { class: "distance" },
            h("span", { class: "in" }, distance === null ? (outcome === "draw" ? "endless" : "") : `in ${distance}`),
            h("div", { class: "chips" }, ...symmetric(own.filter((move) => move.remoteness === distance), hints, handlers)),
          ),
        ),
      ),
    );
  }
  container.replaceChildren(...sections);
}

/** The best line from here: click a move to go there. */
export function drawLine(container, line, onJump) {
  if (!line.length) {
    container.replaceChildren(h("p", { class: "empty" }, "The game ends here."));
    return;
  }
  container.replaceChildren(
    h("ol", { class: "steps" },
      ...line.map((step, index) =>
        h("li", {}, h("button", { class: "chip step", type: "button", title: long(step), onclick: () => onJump(index) }, step.move)),
      ),
    ),
  );
}
