// Lists of moves: all moves, best first, grouped by outcome and distance; and the best line.

import { button, emptyNote, h, hiddenText, redraw } from "./dom.js";
import { setTabStop } from "./keyboard.js";
import { pieceImage, pieceOfMove } from "./pieces.js";
import { currentPosition, outcomesOnly } from "./state.js";
import { formatDistance, formatLong, headingOf, isSameValue, kindOf, letterOf } from "./values.js";

const MAX_SYMMETRIC = 4;

/** A picture of the piece that a move of the current position moves, if there is one. */
export function drawMoved(move) {
  const { board } = currentPosition();
  const piece = board && pieceOfMove(move, board);
  return piece && pieceImage({ ...piece, label: "" });
}

function makeChip(move, values, isBest) {
  const value = `${formatLong(move)}${isBest ? ", best" : ""}`;
  return button(
    {
      class: `chip ${values ? kindOf(move) : ""}${isBest ? " best" : ""}`,
      tabindex: "-1",
      "data-move": move.move,
      "data-key": move.move,
      "aria-label": values ? `${move.move}: ${value}` : move.move,
    },
    drawMoved(move),
    move.move,
  );
}

/** A button that shows the hidden chips and then disappears. */
function makeMoreButton(hidden) {
  const more = button(
    { class: "chip more", tabindex: "-1" },
    `+${hidden.length}`,
    hiddenText(" more that are the same up to symmetry"),
  );
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    for (const chip of hidden) chip.hidden = false;
    hidden[0].focus();
    more.remove();
  });
  return more;
}

/** Symmetric moves in one frame. Of many, only a few are shown at first. */
function frameSymmetric(chips) {
  if (chips.length === 1) return chips[0];
  const frame = h("span", { class: "symmetric", title: "The same up to symmetry" }, chips);
  if (chips.length > MAX_SYMMETRIC + 1) {
    const hidden = chips.slice(MAX_SYMMETRIC);
    for (const chip of hidden) chip.hidden = true;
    frame.append(makeMoreButton(hidden));
  }
  return frame;
}

function makeChips(moves, best) {
  const groups = new Map();
  for (const move of moves) groups.set(move.group, [...(groups.get(move.group) ?? []), move]);
  const framed = [...groups.values()].map((group) =>
    frameSymmetric(group.map((move) => makeChip(move, true, isSameValue(move, best)))),
  );
  return h("div", { class: "chips" }, framed);
}

/** The moves of one outcome, with one line for each value. */
function makeSection(outcome, moves, best) {
  const values = moves.filter((move, index) => index === 0 || !isSameValue(move, moves[index - 1]));
  const makeLine = (value) => {
    const equal = moves.filter((move) => isSameValue(move, value));
    return h("div", { class: "distance" }, h("span", { class: "in" }, formatDistance(value)), makeChips(equal, best));
  };
  const tag = h("b", { class: `tag ${outcome}`, "aria-hidden": "true" }, letterOf(outcome));
  const heading = h("h3", {}, tag, headingOf(outcome), h("span", { class: "count" }, String(moves.length)));
  return h("section", { class: `group ${outcome}` }, heading, values.map(makeLine));
}

function makeSections(moves) {
  return ["win", "draw", "loss", "unknown"]
    .map((outcome) => [outcome, moves.filter((move) => kindOf(move) === outcome)])
    .filter(([, group]) => group.length)
    .map(([outcome, group]) => makeSection(outcome, group, moves[0]));
}

function makePlainList(moves) {
  const sorted = [...moves].sort((a, b) => a.move.localeCompare(b.move, "en", { numeric: true }));
  return h("div", { class: "chips" }, sorted.map((move) => makeChip(move, false, false))); // prettier-ignore
}

/** Makes the list as high as its content, but never lower than before, so that the page rarely moves. */
function fitHeight(container, key) {
  if (container.dataset.fitted !== key) container.style.minHeight = "";
  container.dataset.fitted = key;
  container.style.minHeight = `${container.offsetHeight}px`;
}

export function drawMoves(container, { moves, result }, values) {
  if (!moves.length) redraw(container, emptyNote(result ? result.text : "No moves."));
  else redraw(container, ...(values ? makeSections(moves) : [makePlainList(moves)]));
  setTabStop(container, ".chip");
  fitHeight(container, `${currentPosition().game} ${values} ${innerWidth}`);
  container.scrollTop = 0; // a new list starts with its best moves
  if (container.contains(document.activeElement)) document.activeElement.scrollIntoView({ block: "nearest" });
}

/** Handles clicks in the list, and previews the move under the pointer or with the keyboard focus. A move is previewed
 *  when the pointer moves onto it, not when the list moves under the pointer. */
export function watchMoves(container, { play, preview }) {
  const moveAt = (event) => event.target.closest?.("[data-move]")?.dataset.move ?? null;
  let previewed = null;
  let pointer = "";
  const show = (move) => {
    if (move !== previewed) preview((previewed = move));
  };
  container.addEventListener("click", (event) => {
    const move = moveAt(event);
    previewed = null;
    if (move !== null) play(move);
  });
  container.addEventListener("pointermove", (event) => {
    const before = pointer;
    pointer = `${event.clientX} ${event.clientY}`;
    if (event.pointerType === "mouse" && pointer !== before) show(moveAt(event));
  });
  container.addEventListener("pointerleave", () => show(null));
  container.addEventListener("focusin", (event) => {
    // `quiet` is set while the list is redrawn, which moves the focus.
    if (event.target.matches(":focus-visible") && container.dataset.quiet === undefined) show(moveAt(event));
  });
  container.addEventListener("focusout", () => show(null));
}

/** Draws the best line. A click on a move plays up to it. */
export function drawLine(container, line, onJump) {
  if (!line.length) return redraw(container, emptyNote("The game ends here."));
  const makeStep = (step, index) =>
    button(
      {
        class: "chip step",
        tabindex: "-1",
        "data-key": String(index),
        title: formatLong(step),
        onclick: () => onJump(index),
      },
      h("span", { class: "ply" }, `${index + 1}`),
      step.move,
    );
  const steps = line.map((step, index) => h("li", {}, makeStep(step, index)));
  const note = outcomesOnly() && emptyNote("Each move keeps the outcome but need not approach the end.");
  redraw(container, h("ol", { class: "steps" }, steps), note);
  setTabStop(container, ".step");
}
