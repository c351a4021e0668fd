// What changes the page's state. Every view of a game is one entry of the browser's history, so that Back works and
// any view can be shared as a link.

import * as api from "./api.js";
import { meanings } from "./board.js";
import { $, setText } from "./dom.js";
import { startEditor } from "./editor.js";
import { watchKeys } from "./keys.js";
import { bestMoves, choose, isTable } from "./opponent.js";
import { endWatch, watchSolve } from "./solve.js";
import { address, ending, entryOf, here, startOf, state, tableMoves } from "./state.js";
import { advice, draw, drawControls, drawPlaces, notice, on, showLine } from "./view.js";
import { title } from "./words.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const tablePause = () => (calm.matches ? 250 : 650);

let visit = 0; // answers to questions of an earlier view are dropped
let timer = null;
let fillEditor = () => {};

// ---- the address ----

function remember(how) {
  const { game, timeline, cursor } = state;
  history[how]({ game, timeline, cursor }, "", address());
}

// ---- going somewhere ----

/** Begins a new timeline at a position. */
async function open(game, id, how) {
  const number = ++visit;
  halt();
  if (game !== state.game) Object.assign(state, { game, selected: null, auto: false });
  try {
    const answer = await api.position(game, id);
    if (number !== visit) return;
    state.timeline = [];
    state.timeline = [entryOf(answer)];
    state.cursor = 0;
    if (how) remember(how);
    arrive(answer);
  } catch (error) {
    if (number === visit) fail(error);
  }
}

const openStart = (game, how) => open(game, startOf(game), how);

async function visitCursor(cursor, how = "pushState", fresh = false) {
  const number = ++visit;
  halt({ keepAuto: fresh });
  state.cursor = cursor;
  try {
    const answer = await api.position(state.game, here().id);
    if (number !== visit) return;
    if (how) remember(how);
    arrive(answer, fresh);
  } catch (error) {
    fail(error);
  }
}

async function play(move) {
  if (ending()) return notice(`${ending()}. Undo, or begin a new game.`);
  const number = ++visit;
  halt({ keepAuto: true });
  try {
    const answer = await api.position(state.game, move.id);
    if (number !== visit) return;
    const next = state.timeline[state.cursor + 1];
    if (next?.move !== move.move) state.timeline = [...state.timeline.slice(0, state.cursor + 1), entryOf(answer, move)];
    state.cursor += 1;
    remember("pushState");
    arrive(answer, true);
  } catch (error) {
    fail(error);
  }
}

function arrive(answer, fresh = false) {
  state.answer = answer;
  state.selected = null;
  state.preview = null;
  document.title = `${title(state.game)}: ${answer.verdict}`;
  draw(fresh);
  showLine();
  fillEditor(answer);
  if (!answer.solved) {
    const about = state.games.find((each) => each.name === state.game);
    watchSolve(state.game, about, reload).catch(fail);
  } else endWatch();
  goOn();
}

/** After a solve: the same place, now with values. */
async function reload() {
  state.games = await api.games();
  for (const entry of state.timeline) {
    const { outcome, remoteness, verdict } = await api.position(state.game, entry.id);
    Object.assign(entry, { outcome, remoteness, verdict });
  }
  visitCursor(state.cursor, "replaceState");
}

// ---- the table's turn ----

function halt({ keepAuto = false } = {}) {
  clearTimeout(timer);
  timer = null;
  if (!keepAuto) state.auto = false;
}

/** Lets the table move if it is its turn: at the end of the timeline only, so that one can look back in peace. */
function goOn() {
  const live = state.cursor === state.timeline.length - 1;
  if (ending() || !state.answer.moves.length) {
    state.auto = false;
    return drawControls();
  }
  if (state.auto) timer = setTimeout(playBest, tablePause());
  else if (live && tableMoves()) timer = setTimeout(() => play(choose(state.answer.moves, state.roles[here().toMove])), tablePause());
}

function playBest() {
  const [best] = bestMoves(state.answer.moves);
  if (best) play(best);
  else notice(state.answer.moves.length ? "No move here has a known value." : ending() ?? "There is no move.");
}

function step(by) {
  let cursor = state.cursor + by;
  const oneTable = state.roles.filter(isTable).length === 1;
  // Against the table one steps from one's own turn to one's own turn.
  if (oneTable && state.timeline[cursor] && isTable(state.roles[state.timeline[cursor].toMove])) {
    if (state.timeline[cursor + by]) cursor += by;
  }
  go(cursor);
}

function go(cursor) {
  const bounded = Math.max(0, Math.min(state.timeline.length - 1, cursor));
  if (bounded !== state.cursor) visitCursor(bounded);
}

// ---- clicking the board ----

function onPlace(id) {
  const { answer } = state;
  if (ending()) return notice(`${ending()}. Undo, or begin a new game.`);
  const meaning = meanings(answer, state.selected);
  const moves = meaning.targets.get(id);
  if (moves) return play(moves[0]);
  if (state.selected && id !== state.selected && meaning.barred[id] && !meaning.movesFrom(id).length) return notice(meaning.barred[id], true);
  if (state.selected === id) return select(null);
  if (meaning.sources.has(id)) return select(id);
  notice(state.selected ? "That is not a legal target." : meaning.sources.size ? "Choose one of your pieces first." : "There is no legal move here.", true);
}

function select(id) {
  state.selected = id;
  drawPlaces();
  const warning = id && state.answer.board.warnings[id];
  if (warning) notice(`⚠ ${warning}`, true);
  else if (id && !state.answer.moves.some((move) => move.source === id)) notice(Object.values(state.answer.board.blocked[id])[0] ?? "", true);
  else notice(advice());
}

async function preview(move) {
  state.preview = move && { ...move };
  if (!state.answer.board) return;
  drawPlaces();
  if (!move?.target) return;
  const number = visit;
  const answer = await api.position(state.game, move.id).catch(() => null);
  if (number !== visit || state.preview?.move !== move.move) return;
  const stack = answer?.board?.cells.find((cell) => cell.id === move.target)?.stack;
  state.preview.ghost = stack?.[stack.length - 1];
  drawPlaces();
}

function setRole(owner, role) {
  state.roles[owner] = role;
  halt();
  goOn();
}

function follow(event, game) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openStart(game, "pushState");
}

/** Plays several moves of the best line at once. */
async function playLine(moves) {
  for (const step of moves) {
    const move = state.answer.moves.find((each) => each.move === step.move);
    if (!move || ending()) return;
    await play(move);
  }
}

function fail(error) {
  notice(error.message, true);
  setText($("verdict").querySelector("p"), state.answer?.verdict ?? "Nothing to show");
}

// ---- controls ----

const actions = {
  first: () => go(0),
  last: () => go(state.timeline.length - 1),
  undo: () => step(-1),
  redo: () => step(1),
  best: playBest,
  auto: () => {
    state.auto = !state.auto;
    clearTimeout(timer);
    drawControls();
    if (state.auto) playBest();
  },
  hints: () => {
    state.hints = !state.hints;
    draw();
    showLine();
  },
  flip: () => {
    state.flipped = !state.flipped;
    draw();
  },
  new: () => openStart(state.game, "pushState"),
  help: () => ($("help").open ? $("help").close() : $("help").showModal()),
  release: () => state.selected && select(null),
};

function wire() {
  Object.assign(on, { place: onPlace, play, preview, go, role: setRole, follow, playLine });
  for (const name of ["first", "last", "undo", "redo", "best", "auto", "hints", "flip", "new"]) $(name).addEventListener("click", () => state.answer && actions[name]());
  $("help-open").addEventListener("click", actions.help);
  watchKeys((name) => (state.answer || name === "help") && actions[name]());
  fillEditor = startEditor(() => state.game, (answer) => open(state.game, answer.id, "pushState"));
  addEventListener("popstate", (event) => (event.state ? restore(event.state) : fromAddress()));
}

function restore({ game, timeline, cursor }) {
  Object.assign(state, { game, timeline, cursor });
  return visitCursor(cursor, null);
}

async function fromAddress() {
  const name = decodeURIComponent(location.pathname.slice(1));
  const ready = state.games.find((game) => game.state === "ready") ?? state.games.find((game) => game.state !== "broken");
  const game = state.games.find((each) => each.name === name && each.state !== "broken") ?? ready;
  if (!game) return fail(new Error("No games are installed."));
  const position = new URLSearchParams(location.search).get("position");
  if (!position || name !== game.name) return openStart(game.name, "replaceState");
  const { possible, reason, id } = await api.check(name, position);
  await open(name, possible ? id : game.start, "replaceState");
  if (!possible) notice(`The link's position is none: ${reason}. This is the start instead.`, true);
}

async function begin() {
  wire();
  try {
    state.games = await api.games();
    if (history.state?.timeline) await restore(history.state);
    else await fromAddress();
  } catch (error) {
    fail(error);
  }
}

begin();
