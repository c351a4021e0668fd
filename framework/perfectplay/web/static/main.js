// The page's state and what changes it. A game is a timeline of positions and a cursor in it; every view of it is
// one entry of the browser's history, so that Back works and any view can be shared as a link.

import * as api from "./api.js";
import { drawBoard, drawTrays, meanings } from "./board.js";
import { $, h, setText } from "./dom.js";
import { drawNotations, startEditor } from "./editor.js";
import { watchKeys } from "./keys.js";
import { drawLine, drawMoves } from "./moves.js";
import { bestMoves, choose, isTable, ROLES } from "./opponent.js";
import { endWatch, watchSolve } from "./solve.js";
import { drawChart, drawHistory } from "./timeline.js";
import { kind, LETTERS, plural, title } from "./words.js";

const REPETITIONS = 3;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const tablePause = () => (calm.matches ? 250 : 650);

const state = {
  game: null,
  games: [],
  timeline: [],
  cursor: 0,
  answer: null,
  selected: null,
  preview: null,
  hints: true,
  flipped: false,
  roles: ["you", "you"],
  auto: false,
};
let visit = 0; // answers to questions of an earlier view are dropped
let timer = null;
let clearEditor = () => {};

// ---- the timeline ----

function entryOf(answer, move = null) {
  const toMove = answer.board ? answer.board.to_move : (state.timeline.length && move ? 1 - here().toMove : 0);
  const { id, text, outcome, remoteness, verdict } = answer;
  return { id, text, move: move?.move ?? null, source: move?.source ?? null, target: move?.target ?? null, outcome, remoteness, verdict, toMove };
}

const here = () => state.timeline[state.cursor];

function timesSeen() {
  return state.timeline.slice(0, state.cursor + 1).filter((entry) => entry.id === here().id).length;
}

/** Why the game has ended: the server's word, or the third repetition. */
function ending() {
  if (state.answer.result) return state.answer.result.text;
  if (timesSeen() >= REPETITIONS) return "Game over: a draw, this position stands for the third time";
  return null;
}

// ---- the address ----

// Readable: none of these characters needs to be escaped in a query.
const escapeText = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|40|3B|24)/gi, decodeURIComponent);

function address() {
  const path = `/${encodeURIComponent(state.game)}`.replaceAll("%3D", "=");
  return here().id === startOf(state.game) ? path : `${path}?position=${escapeText(here().text)}`;
}

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
    clearEditor();
  } catch (error) {
    if (number === visit) fail(error);
  }
}

const startOf = (game) => state.games.find((each) => each.name === game).start;

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

const tableMoves = () => isTable(state.roles[here().toMove]);

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
  markPreview();
  if (!move?.target || !state.answer.board) return;
  const number = visit;
  const answer = await api.position(state.game, move.id).catch(() => null);
  if (number !== visit || state.preview?.move !== move.move) return;
  const stack = answer?.board?.cells.find((cell) => cell.id === move.target)?.stack;
  state.preview.ghost = stack?.[stack.length - 1];
  drawPlaces();
}

function markPreview() {
  if (state.answer.board) drawPlaces();
}

// ---- drawing ----

const placesView = (fresh) => ({ ...state, lastMove: state.cursor ? here() : null, fresh, onPlace });

function drawPlaces(fresh = false) {
  const { board } = state.answer;
  const view = placesView(fresh);
  const top = state.flipped ? 0 : 1;
  for (const [place, owner] of [["player-top", top], ["player-bottom", 1 - top]]) {
    const trays = $(place).querySelector(".trays");
    if (board) drawTrays(trays, owner, view);
    else trays.replaceChildren();
  }
  $("board").classList.toggle("text", !board);
  if (board) drawBoard($("board"), view);
  else $("board").replaceChildren(h("pre", { tabindex: "0", "aria-label": "Position" }, state.answer.text));
}

const players = () => state.answer.board?.players ?? ["First", "Second"];

function drawPlayers() {
  const top = state.flipped ? 0 : 1;
  for (const [place, owner] of [["player-top", top], ["player-bottom", 1 - top]]) {
    const moving = here().toMove === owner && !ending();
    const name = players()[owner];
    const select = h("select", { "aria-label": `Who plays ${name}`, onchange: (event) => setRole(owner, event.target.value) },
      ...ROLES.map((role) => h("option", { value: role.value, selected: state.roles[owner] === role.value }, role.label)));
    $(place).className = `player owner${owner}${moving ? " moving" : ""}`;
    $(place).replaceChildren(
      h("div", { class: "who" }, h("span", { class: "dot", "aria-hidden": "true" }), h("strong", {}, name), h("span", { class: "turn" }, moving ? "to move" : "")),
      h("div", { class: "trays" }),
      select,
    );
  }
}

function setRole(owner, role) {
  state.roles[owner] = role;
  halt();
  goOn();
}

function drawVerdict() {
  const sentence = ending() ?? state.answer.verdict;
  const element = $("verdict");
  const { outcome } = here();
  const winner = outcome === "win" ? here().toMove : outcome === "loss" ? 1 - here().toMove : null;
  element.className = `verdict ${winner === null ? kind(here()) : `owner${winner}`}`;
  setText(element.querySelector("p"), sentence);
  setText(element.querySelector(".mark"), winner === null ? (LETTERS[outcome] ?? "?") : players()[winner].charAt(0));
}

function drawControls() {
  const last = state.timeline.length - 1;
  $("first").disabled = $("undo").disabled = state.cursor === 0;
  $("last").disabled = $("redo").disabled = state.cursor === last;
  $("best").disabled = Boolean(ending()) || !bestMoves(state.answer.moves).length;
  $("auto").disabled = $("best").disabled;
  $("auto").setAttribute("aria-pressed", String(state.auto));
  setText($("auto"), state.auto ? "Pause" : "Auto-play");
  $("hints").setAttribute("aria-pressed", String(state.hints));
}

function draw(fresh = false) {
  const { answer } = state;
  drawGames();
  drawVerdict();
  drawPlayers();
  drawPlaces(fresh);
  drawControls();
  drawMoves($("moves"), answer, state.hints, { play, preview });
  setText($("moves-count"), answer.moves.length ? String(answer.moves.length) : "");
  drawHistory($("history"), state.timeline, state.cursor, go);
  setText($("history-count"), state.timeline.length > 1 ? plural(state.timeline.length - 1, "ply").replace("plys", "plies") : "");
  drawChart($("chart"), state.timeline, state.cursor, players(), go);
  drawNotations(answer);
  const repeated = timesSeen();
  notice(ending() || repeated < 2 ? advice() : `This position stands for the ${repeated === 2 ? "second" : "third"} time; the third is a draw.`);
}

/** What one can do, where there is nothing more urgent to say. */
function advice() {
  if (ending()) return "Undo to try something else, or begin a new game.";
  if (tableMoves()) return "The table is to move.";
  if (!state.answer.board) return "Choose a move from the list.";
  return state.answer.moves.some((move) => move.source) ? "Choose a piece, then where it goes." : "Choose where to move.";
}

function drawGames() {
  $("games").replaceChildren(
    ...state.games.map((game) => {
      const path = `/${encodeURIComponent(game.name)}`.replaceAll("%3D", "=");
      const current = game.name === state.game ? "page" : null;
      if (game.state === "broken") return h("span", { class: "broken", title: game.reason }, `${title(game.name)} (broken)`);
      return h("a", { href: path, "aria-current": current, title: game.verdict ?? "Not solved yet", onclick: (event) => follow(event, game.name) }, title(game.name));
    }),
  );
}

function follow(event, game) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openStart(game, "pushState");
}

async function showLine() {
  const { game, answer } = state;
  if (!answer.solved || answer.outcome === null || !state.hints) {
    return $("line").replaceChildren(h("p", { class: "empty" }, state.hints ? "Not known." : "Hidden with the hints."));
  }
  const { line } = await api.line(game, answer.id);
  if (state.answer !== answer || !state.hints) return;
  drawLine($("line"), line, (index) => playLine(line.slice(0, index + 1)));
}

/** Plays several moves of the best line at once. */
async function playLine(moves) {
  for (const step of moves) {
    const move = state.answer.moves.find((each) => each.move === step.move);
    if (!move || ending()) return;
    await play(move);
  }
}

function notice(text, strong = false) {
  setText($("notice"), text);
  $("notice").classList.toggle("strong", strong);
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
  for (const name of ["first", "last", "undo", "redo", "best", "auto", "hints", "flip", "new"]) $(name).addEventListener("click", () => state.answer && actions[name]());
  $("help-open").addEventListener("click", actions.help);
  watchKeys((name) => (state.answer || name === "help") && actions[name]());
  clearEditor = startEditor(() => state.game, (answer) => open(state.game, answer.id, "pushState"));
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
