// Playing: the user's moves, the computer's answers, hints, puzzles, and the end of a game. The computer moves only after
// a move of the user's in the newest position, or when the user asks for it; never because a position is shown.

import * as api from "./api.js";
import {
  againstComputer,
  BOTH_USER,
  computerToMove,
  currentEntry,
  currentPosition,
  ending,
  isComputer,
  isNewest,
  isPlaying,
  isPuzzle,
  isResigned,
  linkName,
  players,
  repetition,
  saveSettings,
  settings,
  SOWING,
  state,
  valuesShown,
} from "./state.js";
import { bestMoves, vocabulary } from "./values.js";
import { advice, announce, draw, drawControls, drawPlaces, drawVerdict, notice, showLine } from "./view.js";
import { openStart, replaceHistory, visit } from "./visits.js";

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** The pause before the computer's move, in milliseconds. Seeds of the move before are sown until then. */
function computerDelay() {
  const seeds = state.replay.last?.path.length ?? 0;
  return reducedMotion.matches ? 250 : Math.max(650, SOWING * seeds + 300);
}

let timer = null;
let feedback = null; // on the user's last move; shown until the computer has answered

/** Stops the computer and auto-play, because the user does something else. */
export function stopComputer({ keepAuto = false } = {}) {
  clearTimeout(timer);
  timer = null;
  if (!keepAuto) {
    state.auto = false;
    feedback = null;
  }
}

export const isThinking = () => timer !== null;

// ---- moves ----

/** Whether the user may move now; if not, the notice says why. */
export function mayMove() {
  if (ending()) notice(`${ending()}. Undo, or start a new game.`);
  else if (computerToMove() || isDefending()) notice(describeTurn(), true);
  else return true;
  return false;
}

/** Whether the opponent is to move in a puzzle, which begins with the user's turn. */
const isDefending = () => state.puzzle !== null && currentEntry().to_move !== state.replay.timeline[0].to_move;

/** Why the user may not move while it is not the user's turn. */
function describeTurn() {
  if (isThinking()) return "The computer is thinking.";
  if (state.puzzle) return "It is not your turn in this puzzle. Undo and try again.";
  if (isResigned() || repetition()) return "The game is over. Undo, or start a new game.";
  return isNewest() ? "It is the computer's turn. Press “Computer, move”." : advice();
}

/** The user's move. */
export async function play(move) {
  if (!mayMove()) return;
  stopComputer({ keepAuto: state.auto });
  if (state.puzzle) return playPuzzleMove(move);
  const isBest = bestMoves(currentPosition().moves).includes(move);
  if (!(await makeMove(move))) return;
  feedback = describeQuality(move, isBest);
  showFeedback();
  continueGame();
}

const MARK_DELAY = 150; // milliseconds; a faster server needs no mark

/** Makes a move. A move that is already in the line keeps the moves after it, with the computer's recorded answer. */
async function makeMove(move, { method = "pushState" } = {}) {
  const { ply, moves, puzzle } = state;
  const isRecorded = moves[ply] === move.move;
  let next = ply + 1;
  if (isRecorded && againstComputer()) {
    const { timeline } = state.replay;
    while (next < moves.length && isComputer(timeline[next].to_move)) next += 1;
  }
  const line = isRecorded ? moves : [...moves.slice(0, ply), move.move];
  const { replay } = state;
  let mark = setTimeout(async () => (await import("./motion.js")).markMove(move, replay, () => mark), MARK_DELAY);
  const shown = await visit({ moves: line, ply: next, puzzle }, { fresh: true, method });
  clearTimeout(mark);
  mark = null;
  if (!shown && state.replay === replay && state.preview) {
    state.preview = null;
    drawPlaces();
  }
  return shown;
}

export function playNamed(name) {
  const move = currentPosition().moves.find((each) => each.move === name);
  if (move) play(move);
}

export function playBest() {
  const { moves } = currentPosition();
  if (state.puzzle) return notice("Press Values to see the solution.", true);
  const [best] = bestMoves(moves);
  if (best) play(best);
  else notice(moves.length ? "No move here has a known value." : (ending() ?? "There is no move."));
}

/** How good the user's last move was, or null. While values are hidden, its value is not revealed. */
function describeQuality(move, isBest) {
  const { comment } = currentEntry();
  if (!move.outcome) return null;
  if (valuesShown()) return comment ? `${move.move} ${comment}.` : null;
  return isBest ? `${move.move} was a best move.` : `There was a better move than ${move.move}.`;
}

const showFeedback = () => {
  if (feedback && !ending() && state.replay.occurrences === 1) notice(feedback, true);
};

/** Moves along a line from here. In a game against the computer the user may not move for it. */
export function playLine(names) {
  if (isPlaying()) return notice("In a game you make only your own moves. Press Analyse to try lines.", true);
  visit({ moves: [...state.moves.slice(0, state.ply), ...names] });
}

/** Plays another move instead of move `ply` of the line. */
export function tryMove(ply, move) {
  if (isComputer(state.replay.timeline[ply].to_move)) {
    return notice("In a game you make only your own moves. Press Analyse to try others.", true);
  }
  visit({ moves: [...state.moves.slice(0, ply), move] }).then((shown) => shown && continueGame());
}

// ---- the computer ----

/** Lets the computer or auto-play move if it is their turn in the newest position. */
export function continueGame() {
  clearTimeout(timer);
  timer = null;
  if (ending() || repetition() || state.finished || !currentPosition().moves.length) {
    state.auto = false;
  } else if (state.auto) {
    timer = setTimeout(playAuto, computerDelay());
  } else if (isNewest() && computerToMove()) {
    timer = setTimeout(playComputer, computerDelay());
  }
  drawControls();
}

async function playAuto() {
  const [best] = bestMoves(currentPosition().moves);
  timer = null;
  if (best && (await makeMove(best))) continueGame();
}

/** The move that the server chooses for the computer. */
async function chooseMove(strength) {
  const { game, start, moves, ply } = state;
  const query = { position: start, moves: moves.slice(0, ply).map(linkName).join(" "), strength };
  const { move } = await api.choose(game, query);
  return currentPosition().moves.find((each) => each.move === move);
}

/** The computer's move. Its view replaces the one before it, so that Back leads to the user's turn. */
async function playComputer() {
  const mover = currentEntry().to_move;
  const request = timer; // the computer is thinking until the server answers, unless the user does something else
  const move = await chooseMove(state.roles[mover]).catch((error) => notice(error.message));
  if (timer !== request) return;
  const method = isComputer(1 - mover) ? "pushState" : "replaceState";
  timer = null;
  if (!move || !(await makeMove(move, { method }))) return drawControls();
  announce(`${players()[mover]} plays ${move.move}`);
  showFeedback();
  continueGame();
}

/** Chooses who moves for a player. */
export function setRole(owner, role) {
  stopComputer();
  state.roles = { ...state.roles, [owner]: role };
  replaceHistory();
  draw();
  showLine();
  continueGame();
}

/** Starts a new game of the user against the computer. */
export async function playAs(owner) {
  const roles = { [owner]: "you", [1 - owner]: settings.strength };
  if (await openStart(state.game, { roles, flipped: owner === 1 })) continueGame();
}

/** Starts again with the same players. */
export async function startAgain() {
  if (await visit({ start: null, moves: [], isNew: true })) continueGame();
}

export const rematch = () => playAs(isComputer(0) ? 0 : 1);

/** Goes back to the position before move `ply`, to play another one. */
export async function retryFrom(ply) {
  await visit({ moves: state.moves.slice(0, ply) });
}

export function resign() {
  stopComputer();
  state.resigned = isComputer(0) ? 1 : 0;
  state.finished = true;
  replaceHistory();
  draw();
  showLine();
}

/** Ends the game against the computer and shows everything. */
export function analyse() {
  stopComputer();
  state.roles = BOTH_USER;
  saveSettings({ hints: true });
  replaceHistory();
  draw();
  showLine();
}

// ---- help for the user ----

/** Shows one best move on the board, but no values. */
export function advise() {
  if (!mayMove()) return;
  const [best] = bestMoves(currentPosition().moves);
  state.advised = best ?? null;
  drawPlaces();
  notice(best ? `Hint: ${best.move}` : "No move here has a known value.", true);
}

export function toggleAuto() {
  const auto = !state.auto;
  stopComputer();
  state.auto = auto;
  drawControls();
  if (auto) playAuto();
}

export function toggleHints() {
  if (state.puzzle) {
    if (!state.puzzle.failed) countStreak(false);
    saveSettings({ hints: true });
  } else if (isPlaying()) state.revealed = !state.revealed;
  else saveSettings({ hints: !settings.hints });
  state.puzzle = null;
  replaceHistory();
  draw();
  showLine();
}

// ---- puzzles ----

const winningGroups = (moves) => new Set(moves.filter((move) => move.outcome === "win").map((move) => move.group));

/** Whether there is again exactly one winning move, so that the puzzle continues. */
function hasOnlyMove() {
  const { moves } = currentPosition();
  return !isPuzzle() && moves.length > 1 && winningGroups(moves).size === 1;
}

function countStreak(isSolved) {
  const streak = isSolved ? (settings.streaks[state.game] ?? 0) + 1 : 0;
  saveSettings({ streaks: { ...settings.streaks, [state.game]: streak } });
  return streak;
}

async function playPuzzleMove(move) {
  const { right, wrong } = vocabulary();
  const { puzzle } = state;
  const solver = currentEntry().to_move;
  if (move.outcome !== "win") {
    if (!puzzle.failed) countStreak(false);
    state.puzzle = { ...puzzle, failed: true };
    if (await makeMove(move)) notice(`${move.move} ${wrong}. Undo and try again.`, true);
    return;
  }
  state.puzzle = { ...puzzle, found: puzzle.found + 1, ply: state.ply + (isPuzzle() ? 1 : 2) };
  if (!(await makeMove(move))) return;
  const correct = `${move.move} ${right}`;
  notice(`${correct}.`, true);
  if (ending() || isPuzzle()) return finishPuzzle(correct);
  if (currentEntry().to_move === solver) {
    state.puzzle.ply = state.ply; // an extra turn
    return hasOnlyMove() ? askAgain(correct) : finishPuzzle(correct);
  }
  timer = setTimeout(() => answerPuzzle(correct), computerDelay());
}

/** The opponent's best defence. */
async function answerPuzzle(correct) {
  timer = null;
  const [reply] = currentPosition().moves;
  if (!reply || !(await makeMove(reply, { method: "replaceState" }))) return;
  announce(`The answer is ${reply.move}`);
  if (hasOnlyMove()) askAgain(correct);
  else finishPuzzle(correct);
}

function askAgain(correct) {
  drawVerdict();
  notice(`${correct}. Find the next one.`, true);
}

/** Shows the values again. */
function finishPuzzle(correct) {
  const { failed, found } = state.puzzle;
  const streak = failed ? 0 : countStreak(true);
  Object.assign(state, { puzzle: null, solvedPuzzle: true });
  replaceHistory();
  draw();
  showLine();
  const length = found > 1 ? ` You found all ${found} moves.` : "";
  const series = streak > 1 ? ` ${streak} puzzles in a row.` : "";
  notice(`${correct}.${length}${series}`, true);
}
