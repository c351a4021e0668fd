// Clicks and drags on the board: selecting a piece, choosing its target and the piece it captures; and the preview of a
// move from the list, with the line that refutes it.

import * as api from "./api.js";
import { findClicks, showGhost } from "./board.js";
import { own } from "./dom.js";
import { watchDrags } from "./drag.js";
import { mayMove, play } from "./match.js";
import { describeStack } from "./pieces.js";
import { currentPosition, state, valuesShown } from "./state.js";
import { advice, drawPlaces, notice } from "./view.js";

let pendingPreview = null;

const cellsOf = (board) => new Map(board.cells.map((cell) => [cell.id, cell]));

/** The pieces on a cell with covered pieces, so that they can be read without a pointer; otherwise "". */
function describeCovered(id) {
  const { board } = currentPosition();
  const stack = cellsOf(board).get(id)?.stack ?? [];
  return stack.length > 1 ? `${describeStack(stack, board.players)}.` : "";
}

// ---- selecting and playing ----

/** Handles a click on a cell or a tray. */
export async function clickPlace(id) {
  if (!mayMove()) return;
  const clicks = findClicks(currentPosition(), state.selected, state.landing);
  const moves = clicks.targets.get(id);
  if (moves) return chooseAmong(moves, id);
  if (state.landing !== null) return cancelLanding();
  const { selected } = state;
  const reason = own(clicks.blocked, id);
  if (selected !== null && id !== selected && reason && !clicks.movesFrom(id).length) return notice(reason, true);
  if (selected === id) return select(null);
  if (clicks.sources.has(id)) return select(id);
  const hint = clicks.sources.size ? "Choose one of your pieces first." : "There is no legal move here.";
  notice(`${describeCovered(id)} ${selected !== null ? "That is not a legal target." : hint}`.trim(), true);
}

/** Plays the only move, or lets the user click the piece to capture or choose from a list. */
async function chooseAmong(moves, id) {
  const { replay } = state;
  if (moves.length === 1) return play(moves[0]);
  if (state.landing === null && moves.every((move) => move.capture)) return land(id);
  const { askForMove } = await import("./chooser.js");
  if (state.replay !== replay) return;
  const chosen = await askForMove(moves, valuesShown());
  if (chosen && state.replay === replay) play(chosen); // the position may have changed meanwhile
}

async function land(target) {
  const { replay, selected: source } = state;
  const { boardAfterLanding } = await import("./motion.js");
  if (state.replay !== replay || state.selected !== source) return;
  state.landing = target;
  state.preview = { board: boardAfterLanding(replay.position.board, source, target), source, target };
  drawPlaces();
  notice("Now choose the piece to capture.", true);
}

function cancelLanding() {
  state.landing = state.preview = null;
  drawPlaces();
  notice(advice());
}

export function select(id) {
  pendingPreview?.abort();
  Object.assign(state, { selected: id, landing: null, preview: null });
  drawPlaces();
  if (id === null) return notice(advice());
  const { board, moves } = currentPosition();
  const warning = own(board.warnings, id);
  if (warning) notice(`⚠ ${warning}`, true);
  else if (!moves.some((move) => move.source === id))
    notice(Object.values(own(board.blocked, id) ?? {})[0] ?? "", true);
  else notice(describeCovered(id) || advice());
}

export function deselect() {
  if (state.landing !== null) cancelLanding();
  else if (state.selected !== null) select(null);
}

// ---- dragging and pointing ----

/** Whether a piece can be dragged from here, or a move drawn. */
function canDrag(id) {
  const position = currentPosition();
  const clicks = findClicks(position, null);
  return clicks.sources.has(id) || clicks.targets.has(id) || position.moves.some((move) => move.ends?.includes(id));
}

function startDrag(id) {
  if (!mayMove()) return false;
  if (findClicks(currentPosition(), null).sources.has(id) && state.selected !== id) select(id);
  return true;
}

/** A piece dropped on its target; a line drawn between two cells; or a pit emptied anywhere. */
function drop(from, to) {
  const position = currentPosition();
  const drawn = position.moves.find((move) => move.ends?.includes(from) && move.ends.includes(to) && from !== to);
  if (drawn) return play(drawn);
  const clicks = findClicks(position, state.selected, state.landing);
  if (to !== null && clicks.targets.has(to)) return clickPlace(to);
  if (state.selected !== null) return to !== null && to !== from && clickPlace(to); // with the reason against it
  if (to !== null && clicks.targets.get(from)?.some((move) => move.path?.length)) clickPlace(from);
}

/** Connects dragging, and the ghost of the piece that a click would place. */
export function watchBoard(board) {
  watchDrags({ canDrag: (id) => state.replay !== null && canDrag(id), start: startDrag, drop });
  const place = (event) => event.target.closest?.("[data-place]")?.dataset.place ?? null;
  board.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && state.replay?.position.board) showGhost(board, place(event));
  });
  board.addEventListener("pointerleave", () => showGhost(board, null));
}

// ---- previews ----

/** Shows the board after a move; null shows the current one. */
export async function preview(name) {
  if (!currentPosition().board) return;
  pendingPreview?.abort();
  const { signal } = (pendingPreview = new AbortController());
  const { replay } = state;
  const move = currentPosition().moves.find((each) => each.move === name);
  const after = move && (await api.position(state.game, move.id, signal).catch(() => null));
  if (signal.aborted || state.replay !== replay) return;
  state.landing = null;
  state.preview = after?.board ? { board: after.board, source: move.source, target: move.target } : null;
  drawPlaces();
  if (move?.outcome !== "loss" || !valuesShown()) return;
  const { showRefutation } = await import("./refutation.js");
  showRefutation(move, replay);
}
