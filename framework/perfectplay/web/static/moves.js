// The list of moves: best first, in groups win, draw, loss; equal distances on one line; and the best line.

import { h, oneTabStop, redraw } from "./dom.js";
import { outcomesOnly } from "./state.js";
import { distance, heading, kind, letter, long, same } from "./words.js";

const SHOWN_OF_A_GROUP = 4;

const chip = (move, values, best) =>
  h(
    "button",
    {
      class: `chip ${values ? kind(move) : ""}${best ? " best" : ""}`,
      type: "button",
      tabindex: "-1",
      "data-move": move.move,
      "data-key": move.move,
      "aria-label": values ? `${move.move}: ${long(move)}${best ? ", best" : ""}` : move.move,
    },
    move.move,
  );

/** Moves that are symmetric stand together, tied by a frame; of many, a few are shown and the others one click away. */
function symmetric(moves, values, first) {
  const groups = new Map();
  for (const move of moves) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  return [...groups.values()].map((group) => {
    const chips = group.map((move) => chip(move, values, values && same(move, first)));
    if (chips.length === 1) return chips[0];
    const frame = h("span", { class: "symmetric", title: "The same up to symmetry" }, ...chips);
    if (chips.length > SHOWN_OF_A_GROUP + 1) {
      const rest = chips.slice(SHOWN_OF_A_GROUP);
      for (const each of rest) each.hidden = true;
      const more = h("button", { class: "chip more", type: "button", tabindex: "-1" }, `+${rest.length}`, h("span", { class: "visually-hidden" }, " more that are the same up to symmetry"));
      more.addEventListener("click", (event) => {
        event.stopPropagation();
        for (const each of rest) each.hidden = false;
        rest[0].focus();
        more.remove();
      });
      frame.append(more);
    }
    return frame;
  });
}

function section(outcome, own, first) {
  const distances = own.filter((move, index) => index === 0 || !same(move, own[index - 1]));
  return h("section", { class: `group ${outcome}` },
    h("h3", {}, h("b", { class: `tag ${outcome}`, "aria-hidden": "true" }, letter(outcome)), heading(outcome), h("span", { class: "count" }, String(own.length))),
    ...distances.map((value) =>
      h("div", { class: "distance" },
        h("span", { class: "in" }, distance(value)),
        h("div", { class: "chips" }, ...symmetric(own.filter((move) => same(move, value)), true, first)),
      ),
    ),
  );
}

export function drawMoves(container, answer, values) {
  const { moves } = answer;
  if (!moves.length) redraw(container, h("p", { class: "empty" }, answer.result ? answer.result.text : "No moves."));
  else if (!values) {
    const sorted = [...moves].sort((a, b) => a.move.localeCompare(b.move, "en", { numeric: true }));
    redraw(container, h("div", { class: "chips" }, ...sorted.map((move) => chip(move, false, false))));
  } else {
    const present = ["win", "draw", "loss", "unknown"].map((outcome) => [outcome, moves.filter((move) => kind(move) === outcome)]);
    redraw(container, ...present.filter(([, own]) => own.length).map(([outcome, own]) => section(outcome, own, moves[0])));
  }
  oneTabStop(container, ".chip");
  container.scrollTop = 0; // another list begins with its best
  if (container.contains(document.activeElement)) document.activeElement.scrollIntoView({ block: "nearest" });
}

/** Listens once for the whole list. A move is shown when the pointer moves onto it, not when the list moves under it. */
export function watchMoves(container, { play, preview }) {
  const moveAt = (event) => event.target.closest?.("[data-move]")?.dataset.move ?? null;
  let pointed = null;
  let at = "";
  const point = (move) => {
    if (move !== pointed) preview((pointed = move));
  };
  container.addEventListener("click", (event) => {
    const move = moveAt(event);
    pointed = null;
    if (move !== null) play(move);
  });
  container.addEventListener("pointermove", (event) => {
    const before = at;
    at = `${event.clientX} ${event.clientY}`;
    if (event.pointerType === "mouse" && at !== before) point(moveAt(event)); // a browser reports a list that moved, too
  });
  container.addEventListener("pointerleave", () => point(null));
  container.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && container.dataset.quiet === undefined && point(moveAt(event)));
  container.addEventListener("focusout", () => point(null));
}

/** The best line from here: click a move to go there. */
export function drawLine(container, line, onJump) {
  if (!line.length) return redraw(container, h("p", { class: "empty" }, "The game ends here."));
  redraw(container,
    h("ol", { class: "steps" },
      ...line.map((step, index) =>
        h("li", {}, h("button", { class: "chip step", type: "button", tabindex: "-1", "data-key": String(index), title: long(step), onclick: () => onJump(index) }, h("span", { class: "ply" }, `${index + 1}`), step.move)),
      ),
    ),
    ...(outcomesOnly() ? [h("p", { class: "empty" }, "Each move keeps the outcome, and need not come nearer to an end.")] : []),
  );
  oneTabStop(container, ".step");
}
