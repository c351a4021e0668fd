// Changes the page's state. Every view is an entry in the browser's history, so Back works and every view can be
// shared as a link that carries the whole game.

import * as api from "./api.js";
import { findClicks } from "./board.js";
import { $, own, setText } from "./dom.js";
import { startEditor } from "./editor.js";
import { startExplore } from "./explore.js";
import { startGames, stopWatching, watchSolve } from "./games.js";
import { useArrowKeys, watchShortcuts } from "./keyboard.js";
import { askForMove, watchMoves } from "./moves.js";
import { describeStack } from "./pieces.js";
import {
  address,
  computerToMove,
  currentEntry,
  currentPosition,
  ending,
  isComputer,
  linkName,
  listedGame,
  players,
  repetition,
  roleOf,
  saveSettings,
  settings,
  state,
  valuesShown,
} from "./state.js";
import { bestMoves, chooseMove, vocabulary } from "./values.js";
import {
  advice,
  announce,
  draw,
  drawAll,
  drawControls,
  drawPlaces,
  drawValueChart,
  notice,
  on,
  showLine,
} from "./view.js";

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const computerDelay = () => (reducedMotion.matches ? 250 : 650);

let pendingVisit = null; // the AbortController of the request under way; a later visit aborts it
let pendingPreview = null;
let timer = null;
let feedback = null; // on the user's last move; shown until the computer has answered
let serverReturned = false;
let fillEditor = () => {};
let refreshExplore = () => {};

// ---- visiting positions ----

/** Shows a game after `ply` of its moves. Returns whether that succeeded.
 *  `method` records the view in the browser's history: pushState, replaceState or null. */
async function visit(target, { method = "pushState", fresh = false, onError = fail } = {}) {
  const { game = state.game, start = state.start, moves = state.moves, puzzle = null, extra = {} } = target;
  const { ply = moves.length } = target;
  stopComputer({ keepAuto: fresh });
  if (!fresh) feedback = null;
  pendingVisit?.abort();
  const { signal } = (pendingVisit = new AbortController());
  try {
    const query = { ...extra, position: start, moves: moves.map(linkName).join(" "), ply };
    const replay = await api.replay(game, query, signal);
    if (signal.aborted) return false;
    if (game !== state.game) state.auto = false;
    Object.assign(state, { game, start, moves, ply, puzzle, replay, selected: null, preview: null });
    if (method) history[method]({ game, start, moves, ply, puzzle }, "", address());
    showPosition(fresh);
    return true;
  } catch (error) {
    if (error.name !== "AbortError") onError(error);
    return false;
  }
}

function showPosition(fresh) {
  $("chooser").close(); // its question was about another position
  draw(fresh);
  showLine();
  fillEditor(currentPosition(), state.game);
  refreshExplore();
  if (!currentPosition().solved) watchSolve(state.game, reload).catch(fail);
  else stopWatching();
  continueGame();
  if (serverReturned) notice(`The server answers again. ${$("notice").textContent}`, true);
  serverReturned = false;
}

const openStart = (game, method = "pushState") => visit({ game, start: null, moves: [] }, { method });

/** Shows the same position again after a solve, now with values. */
async function reload() {
  state.games = await api.games();
  await visit({ ply: state.ply }, { method: "replaceState" });
}

function goTo(ply) {
  const bounded = Math.max(0, Math.min(state.moves.length, ply));
  if (bounded !== state.ply) visit({ ply: bounded, puzzle: state.puzzle });
}

/** Goes one ply back or forth; against the computer, to the user's next turn. */
function step(direction) {
  const { timeline } = state.replay;
  let ply = state.ply + direction;
  const hasOneComputer = isComputer(0) !== isComputer(1);
  if (hasOneComputer && timeline[ply + direction] && isComputer(timeline[ply].to_move)) ply += direction;
  goTo(ply);
}

function fail(error) {
  stopComputer();
  notice(error.message, true);
  if (state.replay) drawControls();
  else setText($("verdict").querySelector("p"), "Nothing to show");
}

// ---- playing ----

async function play(move) {
  if (ending()) return notice(`${ending()}. Undo, or start a new game.`);
  const { ply, moves, puzzle } = state;
  const mover = currentEntry().to_move;
  const isRedo = moves[ply] === move.move; // then the moves after it are kept
  const isBest = bestMoves(currentPosition().moves).includes(move);
  const isSolved = puzzle && !ply && move.outcome === "win"; // until then a puzzle hides the values
  const next = isRedo ? moves : [...moves.slice(0, ply), move.move];
  if (!(await visit({ moves: next, ply: ply + 1, puzzle: isSolved ? null : puzzle }, { fresh: true }))) return;
  if (isComputer(mover)) announce(`${players()[mover]} plays ${move.move}`);
  else feedback = describeQuality(move, isBest, puzzle);
  if (feedback && (puzzle || (!ending() && state.replay.occurrences === 1))) notice(feedback, true);
}

/** How good the user's last move was, or null. While hints are off, its value is not revealed. */
function describeQuality(move, isBest, puzzle) {
  const { right, wrong } = vocabulary();
  const { comment } = currentEntry();
  if (puzzle && state.ply === 1) {
    return move.outcome === "win" ? `${move.move} ${right}.` : `${move.move} ${wrong}. Undo and try again.`;
  }
  if (!move.outcome) return null;
  if (valuesShown()) return comment ? `${move.move} ${comment}.` : null;
  return isBest ? `${move.move} was a best move.` : `There was a better move than ${move.move}.`;
}

function playNamed(name) {
  const move = currentPosition().moves.find((each) => each.move === name);
  if (move) play(move);
}

function playBest() {
  const { moves } = currentPosition();
  const [best] = bestMoves(moves);
  if (best) play(best);
  else notice(moves.length ? "No move here has a known value." : (ending() ?? "There is no move."));
}

function stopComputer({ keepAuto = false } = {}) {
  clearTimeout(timer);
  timer = null;
  if (!keepAuto) state.auto = false;
}

/** Lets the computer move if it is its turn. It moves only after the last move, so that the user can look back. */
function continueGame() {
  clearTimeout(timer);
  const { moves } = currentPosition();
  if (ending() || repetition() || !moves.length) {
    state.auto = false;
    drawControls();
  } else if (state.auto) {
    timer = setTimeout(playBest, computerDelay());
  } else if (state.ply === state.moves.length && computerToMove()) {
    timer = setTimeout(() => play(chooseMove(moves, roleOf(currentEntry().to_move))), computerDelay());
  }
}

function setRole(owner, role) {
  saveSettings({ roles: { ...settings.roles, [state.game]: { 0: roleOf(0), 1: roleOf(1), [owner]: role } } });
  stopComputer();
  draw();
  continueGame();
}

/** Starts a new game of the user against the computer. */
function playAs(owner) {
  const roles = { [owner]: "you", [1 - owner]: settings.strength };
  saveSettings({ roles: { ...settings.roles, [state.game]: roles }, flipped: owner === 1 });
  openStart(state.game);
}

// ---- clicks on the board ----

const stackAt = (id) => currentPosition().board.cells.find((cell) => cell.id === id)?.stack ?? [];

/** The pieces on a cell with covered pieces, so that they can be read without a pointer; otherwise "". */
const describeCovered = (id) =>
  stackAt(id).length > 1 ? `${describeStack(stackAt(id), currentPosition().board.players)}.` : "";

async function clickPlace(id) {
  if (ending()) return notice(`${ending()}. Undo, or start a new game.`);
  const { replay, selected } = state;
  const clicks = findClicks(currentPosition(), selected);
  const moves = clicks.targets.get(id);
  if (moves) {
    const chosen = moves.length === 1 ? moves[0] : await askForMove(moves, valuesShown());
    if (chosen && state.replay === replay) play(chosen); // the position may have changed meanwhile
    return;
  }
  const reason = own(clicks.blocked, id);
  if (selected !== null && id !== selected && reason && !clicks.movesFrom(id).length) return notice(reason, true);
  if (selected === id) return select(null);
  if (clicks.sources.has(id)) return select(id);
  const hint = clicks.sources.size ? "Choose one of your pieces first." : "There is no legal move here.";
  notice(`${describeCovered(id)} ${selected !== null ? "That is not a legal target." : hint}`.trim(), true);
}

function select(id) {
  pendingPreview?.abort();
  state.selected = id;
  state.preview = null;
  drawPlaces();
  if (id === null) return notice(advice());
  const { board, moves } = currentPosition();
  const warning = own(board.warnings, id);
  if (warning) notice(`⚠ ${warning}`, true);
  else if (!moves.some((move) => move.source === id))
    notice(Object.values(own(board.blocked, id) ?? {})[0] ?? "", true);
  else notice(describeCovered(id) || advice());
}

/** Shows the board after a move; null shows the current one. */
async function preview(name) {
  if (!currentPosition().board) return;
  pendingPreview?.abort();
  const { signal } = (pendingPreview = new AbortController());
  const { replay } = state;
  const move = currentPosition().moves.find((each) => each.move === name);
  const after = move && (await api.position(state.game, move.id, signal).catch(() => null));
  if (signal.aborted || state.replay !== replay) return;
  state.preview = after?.board ? { board: after.board, source: move.source, target: move.target } : null;
  drawPlaces();
}

// ---- controls ----

function toggleAuto() {
  const auto = !state.auto;
  stopComputer();
  state.auto = auto;
  drawControls();
  if (auto) playBest();
}

function toggleHints() {
  saveSettings({ hints: state.puzzle ? true : !settings.hints });
  state.puzzle = null;
  draw();
  showLine();
}

function flipBoard() {
  saveSettings({ flipped: !settings.flipped });
  draw();
}

const BUTTONS = {
  first: () => goTo(0),
  last: () => goTo(state.moves.length),
  undo: () => step(-1),
  redo: () => step(1),
  best: playBest,
  auto: toggleAuto,
  hints: toggleHints,
  flip: flipBoard,
  new: () => openStart(state.game),
};

const SHORTCUTS = {
  ...BUTTONS,
  help: () => ($("help").open ? $("help").close() : $("help").showModal()),
  deselect: () => state.selected !== null && select(null),
};

const ARROW_KEYS = {
  board: ".cell",
  moves: ".chip",
  history: ".entry",
  line: ".step",
  "player-top": ".tray",
  "player-bottom": ".tray",
  actions: ".action",
  "setup-board": ".cell",
};

function connect() {
  Object.assign(on, {
    place: clickPlace,
    play,
    go: goTo,
    role: setRole,
    open: openStart,
    tryMove: (ply, move) => visit({ moves: [...state.moves.slice(0, ply), move] }),
    playLine: (names) => visit({ moves: [...state.moves.slice(0, state.ply), ...names] }),
  });
  for (const [name, act] of Object.entries(BUTTONS)) $(name).addEventListener("click", () => state.replay && act());
  for (const [id, selector] of Object.entries(ARROW_KEYS)) useArrowKeys($(id), selector);
  $("help-open").addEventListener("click", SHORTCUTS.help);
  watchMoves($("moves"), { play: playNamed, preview });
  watchShortcuts((name) => (state.replay || name === "help") && SHORTCUTS[name]());
  fillEditor = startEditor(visit);
  refreshExplore = startExplore({ visit, playAs });
  startGames(openStart);
  api.connection.report = (text) => {
    serverReturned = !text;
    notice(text ?? "The server answers again.", true);
  };
  addEventListener("popstate", (event) => {
    if (event.state) visit(event.state, { method: null });
    else if (location.pathname + location.search !== address()) visitAddress(); // not the link that skips to the board
  });
  new ResizeObserver(() => state.replay && drawValueChart()).observe($("chart"));
}

// ---- starting ----

/** Shows the game in the page's address. */
async function visitAddress() {
  const name = decodeURIComponent(location.pathname.slice(1)) || document.querySelector("meta[name=game]")?.content;
  if (!name) return fail(new Error("No games are installed."));
  const query = Object.fromEntries(new URLSearchParams(location.search));
  const { position, id, moves: text = "", ply: number, ...extra } = query;
  if (position !== undefined && id !== undefined) extra.id = id; // the server explains the error
  const moves = text.split(" ").filter(Boolean);
  const ply = Math.min(Number(number ?? moves.length) || 0, moves.length);
  const showStart = async (error) => {
    await openStart(name, "replaceState");
    notice(`The link cannot be opened: ${error.message}. This is the start position instead.`, true);
  };
  const onError = location.search ? showStart : fail;
  try {
    const start = position ?? (id === undefined ? null : (await api.position(name, id)).text);
    await visit({ game: name, start, moves, ply, extra }, { method: "replaceState", onError });
  } catch (error) {
    await onError(error);
  }
}

async function start() {
  connect();
  const showGames = (games) => {
    state.games = games;
    if (state.replay) drawAll();
  };
  const listed = api.games().then(showGames, fail);
  const saved = history.state;
  if (saved?.game) await visit(saved, { method: null, onError: visitAddress });
  else await visitAddress();
  await listed;
}

start().catch(fail);
