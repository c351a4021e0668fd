// Shows positions. Every view is an entry in the browser's history, so Back works, and every view can be shared as a
// link that carries the whole game. Nothing here makes a move.

import * as api from "./api.js";
import { address, BASE, BOTH_USER, isComputer, linkName, state } from "./state.js";
import { addLine, continuationOf, findNode, loadTree, removeLine, saveTree } from "./variations.js";

/** Called with what happened: `leaving` before a request, `shown` after it, `failed` with an Error. */
export const handlers = { leaving: () => {}, shown: () => {}, failed: () => {} };

let pending = null; // the AbortController of the request under way; a later visit aborts it

const isSameLine = (one, other) => one.length === other.length && one.every((move, ply) => move === other[ply]);

/** The view's part of the state, for the browser's history. */
function historyState() {
  const { game, start, moves, ply, puzzle, roles, flipped, resigned } = state;
  return { game, start, moves, ply, puzzle, roles, flipped, resigned };
}

/** Stores the present view, after a change of roles, in the entry of the browser's history. */
export const replaceHistory = () => history.replaceState(historyState(), "", address());

function completeTarget(target) {
  const { game = state.game, start = state.start, moves = state.moves, puzzle = null } = target;
  const isSameGame = game === state.game;
  const isContinued = isSameGame && start === state.start && isSameLine(moves, state.moves) && !target.isNew;
  return {
    game,
    start,
    moves,
    puzzle,
    ply: target.ply ?? moves.length,
    roles: target.roles ?? (isSameGame ? state.roles : BOTH_USER),
    flipped: target.flipped ?? (isSameGame && state.flipped),
    resigned: target.resigned ?? (isContinued ? state.resigned : null),
    finished: isContinued && state.finished,
    revealed: isSameGame && !target.isNew && state.revealed,
  };
}

function growTree(isNew) {
  const { game, start, moves } = state;
  const key = JSON.stringify([game, start]);
  if (isNew) state.tree = { key, move: null, children: [] };
  else if (state.tree?.key !== key) state.tree = { ...loadTree(game, start), key };
  addLine(state.tree, moves);
  saveTree(state.tree, game, start);
}

/** Shows a game after `ply` of its moves. Returns whether that succeeded. `method` records the view in the browser's
 *  history: pushState, replaceState or null. `fresh` shows the last move in motion. `isNew` starts without old lines. */
export async function visit(target, { method = "pushState", fresh = false, onError = handlers.failed } = {}) {
  const next = completeTarget(target);
  handlers.leaving(fresh);
  pending?.abort();
  const { signal } = (pending = new AbortController());
  try {
    const { game, start, moves, ply } = next;
    const query = { ...target.extra, position: start, moves: moves.map(linkName).join(" "), ply };
    const replay = await api.replay(game, query, signal);
    if (signal.aborted) return false;
    const before = state.replay;
    if (game !== state.game) state.auto = false;
    const nothing = { selected: null, landing: null, preview: null, advised: null, solvedPuzzle: false };
    Object.assign(state, next, nothing, { game: replay.game, replay });
    state.finished ||= next.resigned !== null || (ply === moves.length && replay.result !== null);
    growTree(Boolean(target.isNew));
    if (method) history[method](historyState(), "", address());
    handlers.shown(fresh, before);
    return true;
  } catch (error) {
    if (error.name !== "AbortError") onError(error);
    return false;
  }
}

/** Shows the start of a game without the lines tried before. */
export const openStart = (game, options = {}, method = "pushState") =>
  visit({ game, start: null, moves: [], isNew: true, ...options }, { method });

export function goTo(ply) {
  const bounded = Math.max(0, Math.min(state.moves.length, ply));
  if (bounded !== state.ply) visit({ ply: bounded, puzzle: state.puzzle });
}

/** Goes one ply back or forth; against the computer, to the user's next turn. */
export function step(direction) {
  const { timeline } = state.replay;
  let ply = state.ply + direction;
  const hasOneComputer = isComputer(0) !== isComputer(1);
  while (hasOneComputer && timeline[ply + direction] && isComputer(timeline[ply].to_move)) ply += direction;
  goTo(ply);
}

/** Shows another line, after `ply` of its moves. */
export const showLine = (moves, ply) => visit({ moves, ply });

/** Removes the shown line from move `ply` on, and shows the main continuation instead. */
export function deleteLine(ply) {
  removeLine(state.tree, state.moves, ply);
  const before = state.moves.slice(0, ply);
  return visit({ moves: [...before, ...continuationOf(findNode(state.tree, before))], ply });
}

// ---- the page's address ----

/** The view in the page's address, as `visit` takes it. Parameters that other sites append are ignored. */
async function readAddress(name) {
  const query = new URLSearchParams(location.search);
  const [position, id] = [query.get("position"), query.get("id")];
  const moves = (query.get("moves") ?? "").split(" ").filter(Boolean);
  const ply = Math.min(Number(query.get("ply") ?? moves.length) || 0, moves.length);
  const start = position ?? (id === null ? null : (await api.position(name, id)).text);
  const extra = position !== null && id !== null ? { id } : {}; // the server explains the error
  return { game: name, start, moves, ply, extra, puzzle: query.has("puzzle") ? { ply: 0, found: 0 } : null };
}

/** Shows the game in the page's address. If the link is wrong, shows the start and calls `warn` with the reason. */
export async function visitAddress(warn) {
  const name =
    decodeURIComponent(location.pathname.slice(BASE.length)) || document.querySelector("meta[name=game]")?.content;
  if (!name) return handlers.failed(new Error("No games are installed."));
  const showStart = async (error) => {
    await openStart(name, {}, "replaceState");
    warn(error);
  };
  const onError = location.search ? showStart : handlers.failed;
  try {
    await visit(await readAddress(name), { method: "replaceState", onError });
  } catch (error) {
    await onError(error);
  }
}
