// What changes the page's state. Every view of a game is one entry of the browser's history, so that Back works and
// any view, with the whole game that led to it, can be shared as a link.

import * as api from "./api.js";
import { meanings } from "./board.js";
import { chooseMove } from "./chooser.js";
import { $, own, roving, setText } from "./dom.js";
import { startEditor } from "./editor.js";
import { startExplore } from "./explore.js";
import { startGames } from "./games.js";
import { watchKeys } from "./keys.js";
import { watchMoves } from "./moves.js";
import { bestMoves, choose } from "./opponent.js";
import { stackWords } from "./pieces.js";
import { keep, settings } from "./settings.js";
import { endWatch, watchSolve } from "./solve.js";
import { about, address, answer, ending, here, isTable, players, repeated, roleOf, spelled, state, tableMoves, valuesShown } from "./state.js";
import { advice, announce, draw, drawAll, drawControls, drawPlaces, drawValueChart, notice, on, showLine } from "./view.js";
import { vocabulary } from "./words.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const tablePause = () => (calm.matches ? 250 : 650);

let asking = null; // the question under way; a later one makes it void
let previewing = null; // the same, of a move that is pointed at
let timer = null;
let remark = null; // what was said of one's own last move: it stands while the table answers
let answersAgain = false; // the server, after it did not
let fillEditor = () => {};
let showExplore = () => {};

// ---- going somewhere ----

/** Shows a game after some of its moves; whether that went well. `how` is how the browser remembers it: pushState,
 *  replaceState or null; `otherwise` is told the error if it cannot be shown. */
async function visit({ game = state.game, start = state.start, moves = state.moves, ply = moves.length, puzzle = null, wrong = {} }, { how = "pushState", fresh = false, otherwise = fail } = {}) {
  halt({ keepAuto: fresh });
  if (!fresh) remark = null;
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const replay = await api.replay(game, { ...wrong, position: start, moves: moves.map(spelled).join(" "), ply }, mine.signal);
    if (mine.signal.aborted) return false;
    if (game !== state.game) state.auto = false;
    Object.assign(state, { game, start, moves, ply, puzzle, replay, selected: null, preview: null });
    if (how) history[how]({ game, start, moves, ply, puzzle }, "", address());
    arrive(fresh);
    if (answersAgain) notice(`The server answers again. ${$("notice").textContent}`, true);
    answersAgain = false;
    return true;
  } catch (error) {
    if (error.name !== "AbortError") otherwise(error);
    return false;
  }
}

const openStart = (game, how = "pushState") => visit({ game, start: null, moves: [] }, { how });

async function play(move) {
  if (ending()) return notice(`${ending()}. Undo, or begin a new game.`);
  const { ply, moves, puzzle } = state;
  const mover = here().to_move;
  const again = moves[ply] === move.move; // the move that was taken back: those after it are still there
  const judged = { best: bestMoves(answer().moves).includes(move), known: Boolean(move.outcome), wins: move.outcome === "win" };
  const still = judged.wins && !ply ? null : puzzle; // a puzzle hides the values until it is solved
  const went = await visit({ moves: again ? moves : [...moves.slice(0, ply), move.move], ply: ply + 1, puzzle: still }, { fresh: true });
  if (!went) return;
  if (mover !== null && isTable(roleOf(mover))) announce(`${players()[mover]} plays ${move.move}`);
  else remark = feedback(move, judged, puzzle);
  if (remark && (puzzle || (!ending() && state.replay.occurrences === 1))) notice(remark, true);
}

/** After one's own move: how good it was, or null; with the hints off without saying what it is worth. */
function feedback(move, { best, known, wins }, puzzle) {
  const { comment } = here();
  if (puzzle && state.ply === 1) return wins ? `${move.move} is right: ${vocabulary().right}.` : `${move.move} ${vocabulary().wrong}. Undo and try again.`;
  if (!known) return null;
  if (valuesShown()) return comment ? `${move.move} ${comment}.` : null;
  return best ? `${move.move} was a best move.` : `There was a better move than ${move.move}.`;
}

const playNamed = (name) => {
  const move = answer().moves.find((each) => each.move === name);
  if (move) play(move);
};

function arrive(fresh) {
  $("chooser").close(); // it asked about another position
  draw(fresh);
  showLine();
  fillEditor(answer(), state.game);
  showExplore();
  if (!answer().solved) watchSolve(state.game, about, reload).catch(fail);
  else endWatch();
  goOn();
}

/** After a solve: the same place, now with values. */
async function reload() {
  state.games = await api.games();
  await visit({ ply: state.ply }, { how: "replaceState" });
}

// ---- the table's turn ----

function halt({ keepAuto = false } = {}) {
  clearTimeout(timer);
  timer = null;
  if (!keepAuto) state.auto = false;
}

/** Lets the table move if it is its turn: at the end of the game only, so that one can look back in peace. */
function goOn() {
  clearTimeout(timer);
  if (ending() || repeated() || !answer().moves.length) {
    state.auto = false;
    return drawControls();
  }
  if (state.auto) timer = setTimeout(playBest, tablePause());
  else if (state.ply === state.moves.length && tableMoves()) timer = setTimeout(() => play(choose(answer().moves, roleOf(here().to_move))), tablePause());
}

function playBest() {
  const [best] = bestMoves(answer().moves);
  if (best) play(best);
  else notice(answer().moves.length ? "No move here has a known value." : ending() ?? "There is no move.");
}

function step(by) {
  const { timeline } = state.replay;
  let ply = state.ply + by;
  const oneTable = [0, 1].filter((owner) => isTable(roleOf(owner))).length === 1;
  // Against the table one steps from one's own turn to one's own turn.
  if (oneTable && timeline[ply + by] && timeline[ply].to_move !== null && isTable(roleOf(timeline[ply].to_move))) ply += by;
  go(ply);
}

function go(ply) {
  const bounded = Math.max(0, Math.min(state.moves.length, ply));
  if (bounded !== state.ply) visit({ ply: bounded, puzzle: state.puzzle });
}

// ---- clicking the board ----

async function onPlace(id) {
  if (ending()) return notice(`${ending()}. Undo, or begin a new game.`);
  const { replay } = state;
  const { board } = answer();
  const meaning = meanings(answer(), state.selected);
  const moves = meaning.targets.get(id);
  if (moves) {
    const chosen = moves.length === 1 ? moves[0] : await chooseMove(moves, valuesShown());
    return chosen && state.replay === replay && play(chosen); // the table may have moved while one chose
  }
  const reason = own(meaning.barred, id);
  if (state.selected !== null && id !== state.selected && reason && !meaning.movesFrom(id).length) return notice(reason, true);
  if (state.selected === id) return select(null);
  if (meaning.sources.has(id)) return select(id);
  const stack = board.cells.find((cell) => cell.id === id)?.stack ?? [];
  const what = stack.length > 1 ? `${stackWords(stack, board.players)}. ` : ""; // what lies underneath can be read by touch, too
  notice(what + (state.selected !== null ? "That is not a legal target." : meaning.sources.size ? "Choose one of your pieces first." : "There is no legal move here."), true);
}

function select(id) {
  previewing?.abort();
  state.selected = id;
  state.preview = null;
  drawPlaces();
  const { board, moves } = answer();
  const warning = id !== null && own(board.warnings, id);
  const stack = board.cells.find((cell) => cell.id === id)?.stack ?? [];
  if (warning) notice(`⚠ ${warning}`, true);
  else if (id !== null && !moves.some((move) => move.source === id)) notice(Object.values(own(board.blocked, id) ?? {})[0] ?? "", true);
  else if (stack.length > 1) notice(`${stackWords(stack, board.players)}.`);
  else notice(advice());
}

/** Shows the board as it will be after a move; null shows it as it is. */
async function preview(name) {
  if (!answer().board) return;
  previewing?.abort();
  const mine = (previewing = new AbortController());
  const { replay } = state;
  const move = answer().moves.find((each) => each.move === name);
  const after = move && (await api.position(state.game, move.id, mine.signal).catch(() => null));
  if (mine.signal.aborted || state.replay !== replay) return;
  state.preview = after?.board ? { board: after.board, source: move.source, target: move.target } : null;
  drawPlaces();
}

function setRole(owner, role) {
  keep({ roles: { ...settings.roles, [state.game]: { 0: roleOf(0), 1: roleOf(1), [owner]: role } } });
  halt();
  draw();
  goOn();
}

/** A new game of a person against the table. */
function playAs(owner) {
  keep({ roles: { ...settings.roles, [state.game]: { [owner]: "you", [1 - owner]: settings.strength } }, flipped: owner === 1 });
  openStart(state.game);
}

function fail(error) {
  halt();
  notice(error.message, true);
  if (state.replay) drawControls();
  else setText($("verdict").querySelector("p"), "Nothing to show");
}

// ---- controls ----

const actions = {
  first: () => go(0),
  last: () => go(state.moves.length),
  undo: () => step(-1),
  redo: () => step(1),
  best: playBest,
  auto: () => {
    const on = !state.auto;
    halt();
    state.auto = on;
    drawControls();
    if (on) playBest();
  },
  hints: () => {
    keep({ hints: state.puzzle ? true : !settings.hints });
    state.puzzle = null;
    draw();
    showLine();
  },
  flip: () => {
    keep({ flipped: !settings.flipped });
    draw();
  },
  new: () => openStart(state.game),
  help: () => ($("help").open ? $("help").close() : $("help").showModal()),
  release: () => state.selected !== null && select(null),
};

function wire() {
  Object.assign(on, {
    place: onPlace,
    play,
    go,
    role: setRole,
    open: openStart,
    tryMove: (ply, move) => visit({ moves: [...state.moves.slice(0, ply), move] }),
    playLine: (names) => visit({ moves: [...state.moves.slice(0, state.ply), ...names] }),
  });
  for (const name of ["first", "last", "undo", "redo", "best", "auto", "hints", "flip", "new"]) $(name).addEventListener("click", () => state.replay && actions[name]());
  $("help-open").addEventListener("click", actions.help);
  roving($("board"), ".cell");
  for (const [name, selector] of [["moves", ".chip"], ["history", ".entry"], ["line", ".step"], ["player-top", ".tray"], ["player-bottom", ".tray"], ["actions", ".action"], ["setup-board", ".cell"]]) roving($(name), selector);
  watchMoves($("moves"), { play: playNamed, preview });
  watchKeys((name) => (state.replay || name === "help") && actions[name]());
  fillEditor = startEditor(() => state.game, visit);
  showExplore = startExplore({ visit, playAs });
  startGames({ open: openStart });
  api.trouble.tell = (text) => {
    answersAgain = !text;
    notice(text ?? "The server answers again.", true);
  };
  addEventListener("popstate", (event) => {
    if (event.state) visit(event.state, { how: null });
    else if (location.pathname + location.search !== address()) fromAddress(); // else it is the link that skips to the board
  });
  new ResizeObserver(() => state.replay && drawValueChart()).observe($("chart"));
}

async function fromAddress() {
  const name = decodeURIComponent(location.pathname.slice(1)) || document.querySelector("meta[name=game]")?.content;
  if (!name) return fail(new Error("No games are installed."));
  const { position, id, moves: text = "", ply: number, ...wrong } = Object.fromEntries(new URLSearchParams(location.search));
  if (position !== undefined && id !== undefined) wrong.id = id; // the server says what is wrong with that
  const moves = text.split(" ").filter(Boolean);
  const ply = Math.min(Number(number ?? moves.length) || 0, moves.length);
  const atTheStart = async (error) => {
    await openStart(name, "replaceState");
    notice(`The link cannot be followed: ${error.message}. This is the start instead.`, true);
  };
  const otherwise = location.search ? atTheStart : fail;
  try {
    const start = position ?? (id === undefined ? null : (await api.position(name, id)).text);
    await visit({ game: name, start, moves, ply, wrong }, { how: "replaceState", otherwise });
  } catch (error) {
    await otherwise(error);
  }
}

async function begin() {
  wire();
  const listed = api.games().then((games) => {
    state.games = games;
    if (state.replay) drawAll();
  }, fail);
  const kept = history.state;
  if (kept?.game) await visit(kept, { how: null, otherwise: fromAddress });
  else await fromAddress();
  await listed;
}

begin().catch(fail);
