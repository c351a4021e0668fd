// Draws the state, all of it or a part. The user's actions are passed to the handlers in `on`, which main.js sets.

import * as api from "./api.js";
import { drawBoard, drawTrays, inlineBadge } from "./board.js";
import { $, button, emptyNote, h, onLinkClick, redraw, setText } from "./dom.js";
import { wasDragged } from "./drag.js";
import { drawNotations } from "./notations.js";
import { setTabStop } from "./keyboard.js";
import { drawLine, drawMoves } from "./moves.js";
import {
  address,
  againstComputer,
  computerToMove,
  currentEntry,
  currentPosition,
  ending,
  hintsShown,
  isNewest,
  isPlaying,
  isPuzzle,
  isResigned,
  isTurned,
  listedGame,
  players,
  repetition,
  state,
  valuesShown,
} from "./state.js";
import { drawChart, drawHistory } from "./timeline.js";
import { bestMoves, fillIn, formatPlies, kindOf, letterOf, outcomesNote, ROLES, vocabulary } from "./values.js";
import { firstDeviation } from "./variations.js";

const MAX_GAME_LINKS = 4;

/** The handlers: place, play, go, tryMove, role, open, playLine, showLine, retry. */
export const on = {};

// ---- messages ----

export function notice(text, strong = false) {
  setText($("notice"), text);
  $("notice").classList.toggle("strong", strong);
}

/** Announces a change on the board to screen readers. */
export const announce = (text) => setText($("announce"), text);

function repetitionNotice() {
  if (ending() || state.replay.occurrences < 2) return null;
  if (repetition()) return "You can keep exploring.";
  return "This position has occurred twice; a third time is a draw.";
}

/** The next step for the user, shown when there is no more important message. */
export function advice() {
  const isRandom = againstComputer() && !currentPosition().solved && !ending();
  return `${isRandom ? "This game is not solved, so the computer plays random moves. " : ""}${nextStep()}`;
}

function nextStep() {
  const { board, moves } = currentPosition();
  if (ending() || isResigned()) return "Undo to try something else, or start a new game.";
  if (computerToMove())
    return isNewest() ? "It is the computer's turn." : "The computer moved here. Go forward to your turn.";
  if (!board) return "Choose a move from the list.";
  if (state.selected !== null) return "Now choose a target.";
  if (moves.some((move) => move.source !== null)) return "Choose a piece, then a target.";
  return moves.some((move) => move.target !== null) ? "Choose where to move." : "Choose a move below the board.";
}

/** The sentence above the board; while values are hidden, only who is to move. */
function verdictText() {
  if (ending()) return ending();
  if (isResigned()) return `Game over: ${players()[state.resigned]} resigned`;
  if (repetition()) return repetition();
  const { solved, headline, mover } = currentPosition();
  if (valuesShown() || !solved) return headline;
  const { task, question } = vocabulary();
  const text = state.puzzle?.ply === state.ply ? task : question;
  const unnamed = text === task ? "the player" : "The player";
  return fillIn(text, { mover: currentEntry().to_move === null ? unnamed : mover });
}

/** The details under the verdict: the distance in plies, or why there is none. */
function detailText() {
  if (!valuesShown() || ending() || repetition() || isResigned()) return "";
  const { remoteness } = currentEntry();
  return remoteness && !isPuzzle() ? `${formatPlies(remoteness)} to the end` : outcomesNote();
}

const hasExtraTurn = () => {
  const { timeline, ply } = state.replay;
  return (
    ply > 0 && !isPuzzle() && timeline[ply].to_move !== null && timeline[ply].to_move === timeline[ply - 1].to_move
  );
};

// ---- the board ----

const boardView = (fresh) => ({
  position: currentPosition(),
  selected: state.selected,
  landing: state.landing,
  advised: state.advised,
  owners: state.replay.owners,
  shown: state.preview,
  idle: isPlaying() && computerToMove(),
  values: valuesShown() && !(isPlaying() && computerToMove()),
  best: currentPosition().moves[0],
  last: state.replay.last,
  flipped: isTurned(),
  fresh,
  onPlace: on.place,
});

/** The places beside the board, each with its player. */
function playerPlaces() {
  const top = state.flipped ? 0 : 1;
  return [
    [$("player-top"), top],
    [$("player-bottom"), 1 - top],
  ];
}

export function drawPlaces(fresh = false) {
  const position = currentPosition();
  const view = boardView(fresh);
  document.body.classList.toggle("reserves", Boolean(position.board?.trays.length));
  for (const [element, owner] of playerPlaces()) {
    const trays = element.querySelector(".trays");
    if (position.board) drawTrays(trays, owner, view);
    else trays.replaceChildren();
  }
  if (!position.board) return drawText(position.text);
  try {
    drawBoard($("board"), view);
  } catch (error) {
    drawText(position.text); // the game can still be played from the list
    position.board_problem = `The board cannot be drawn: ${error.message}`;
  }
  drawActions(view);
}

function drawText(text) {
  $("board").classList.add("text");
  $("board").replaceChildren(h("pre", { tabindex: "0", role: "img", "aria-label": `Position: ${text}` }, text));
  $("actions").replaceChildren();
}

/** A button for each move that is not on the board. */
function drawActions({ position, values }) {
  const makeAction = (move) =>
    button(
      {
        class: `action ${values ? kindOf(move) : ""}`,
        "data-move": move.move,
        "data-key": move.move,
        onclick: () => on.play(move),
      },
      move.label || move.move,
      values && inlineBadge(move),
    );
  redraw($("actions"), ...position.moves.filter((move) => move.target === null).map(makeAction));
  setTabStop($("actions"), ".action");
}

// ---- around the board ----

function drawPlayer(element, owner) {
  const name = players()[owner];
  const isMoving = currentEntry().to_move === owner && !ending();
  element.hidden = name === undefined;
  element.className = `player owner${owner}${isMoving ? " moving" : ""}`;
  setText(element.querySelector("strong"), name ?? "");
  setText(element.querySelector(".turn"), isMoving ? (hasExtraTurn() ? "plays again" : "to move") : "");
  const select = element.querySelector("select");
  if (!select.options.length) select.append(...ROLES.map(({ value, label }) => h("option", { value }, label)));
  select.setAttribute("aria-label", `Who plays ${name}`);
  element.querySelector(".trays").setAttribute("aria-label", `${name}'s reserve`);
  select.value = state.roles[owner];
  select.onchange = (event) => on.role(owner, event.target.value);
}

function setPlayerColours() {
  const { style } = document.documentElement;
  const colours = currentPosition().board?.colours ?? ["orange", "blue"];
  colours.forEach((colour, owner) => {
    style.setProperty(`--fill${owner}`, `var(--${colour})`);
    style.setProperty(`--owner${owner}`, `var(--${colour}-text)`);
    style.setProperty(`--owner${owner}-ink`, `var(--${colour}-ink)`);
  });
}

/** The winner under perfect play as shown: 0, 1, or null if there is none or it is hidden. */
function shownWinner() {
  const { outcome, to_move: mover } = currentEntry();
  if (isResigned()) return 1 - state.resigned;
  if (!(valuesShown() || ending()) || mover === null || isPuzzle()) return null;
  if (outcome === "win") return mover;
  return outcome === "loss" ? 1 - mover : null;
}

export function drawVerdict() {
  const element = $("verdict");
  const isShown = (valuesShown() || ending()) && !repetition();
  const winner = repetition() ? null : shownWinner();
  const entry = repetition() ? { outcome: "draw" } : currentEntry();
  const look = winner !== null ? `owner${winner}` : isShown || repetition() ? kindOf(entry) : "unknown";
  const mark = winner !== null ? letterOf("win") : isShown || repetition() ? letterOf(entry.outcome) : "?";
  element.className = `verdict ${look}`;
  setText(element.querySelector("p"), verdictText());
  setText(element.querySelector(".mark"), mark);
  setText($("unknown"), detailText());
}

export function drawControls() {
  const focused = document.activeElement;
  const canPlayBest = !ending() && bestMoves(currentPosition().moves).length > 0 && !computerToMove();
  const isWaiting = computerToMove() && !ending() && !repetition() && isNewest() && !on.isThinking() && !state.finished;
  for (const name of ["first", "undo"]) $(name).disabled = state.ply === 0;
  for (const name of ["last", "redo"]) $(name).disabled = state.ply === state.moves.length;
  for (const name of ["best", "auto", "advise"]) $(name).disabled = !canPlayBest;
  for (const element of document.querySelectorAll("[data-mode]")) {
    element.hidden = state.puzzle !== null || element.dataset.mode !== (againstComputer() ? "play" : "analysis");
  }
  $("resign").hidden ||= state.finished;
  $("rematch").hidden ||= !state.finished;
  $("resume").hidden = !isWaiting;
  $("next-puzzle").hidden = !state.puzzle && !state.solvedPuzzle;
  $("flip").hidden = currentPosition().board?.upright ?? true;
  const deviation = firstDeviation(state.tree, state.moves);
  $("line-actions").hidden = deviation < 0;
  // A disabled or hidden button would lose the focus.
  if (focused?.disabled || focused?.hidden) $("board").focus({ preventScroll: true });
  $("auto").setAttribute("aria-pressed", String(state.auto));
  setText($("auto"), state.auto ? "Pause" : "Auto-play");
  $("hints").setAttribute("aria-pressed", String(hintsShown()));
}

function describeOption({ name }, value) {
  if (typeof value === "boolean") return value ? name : `no ${name}`;
  return `${name} ${value}`;
}

/** The title, and the options that differ from the default and are not in the title: "Connect Four: width 5". */
export function labelOf(game) {
  const titleWords = new Set((game.title ?? "").toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const differs = ({ name, default: usual }) =>
    game.variant[name] !== usual && !titleWords.has(String(game.variant[name]).toLowerCase());
  const changed = (game.options ?? []).filter(differs);
  const words = changed.map((option) => describeOption(option, game.variant[option.name]));
  return words.length ? `${game.title}: ${words.join(", ")}` : (game.title ?? game.name);
}

function makeGameLink(game) {
  if (game.state === "broken") return h("span", { class: "broken", title: game.reason }, `${game.name} (broken)`);
  return h(
    "a",
    {
      href: `/${api.pathOf(game.name)}`,
      "data-key": game.name,
      "aria-current": game.name === state.game ? "page" : null,
      title: game.verdict ?? "Not solved yet",
      onclick: onLinkClick(() => on.open(game.name)),
    },
    labelOf(game),
  );
}

/** Links to all games if they are few. Without links the button for all games has the name of this one. */
function drawGameLinks() {
  const { games } = state;
  const isFew = games.length <= MAX_GAME_LINKS;
  const current = listedGame();
  redraw($("games"), ...(isFew ? games : []).map(makeGameLink));
  document.body.classList.toggle("linked-games", isFew);
  $("games-open").hidden = games.length === 0;
  setText($("games-open").querySelector(".current"), current ? labelOf(current) : "Games");
}

// ---- everything ----

/** Draws everything, and the most important message about it. `before` is the replay that was shown before. */
export function draw(fresh = false, before = null) {
  drawAll(fresh);
  const isNext = fresh && before?.game === state.game && before.ply + 1 === state.replay.ply;
  if (isNext && !wasDragged()) animate(state.replay.last, before.position.board);
  const warning = repetitionNotice() ?? currentPosition().board_problem;
  notice(warning ?? advice(), Boolean(warning));
}

// Motion and the summary are not needed before the first move, and are loaded later.
const animate = async (last, before) =>
  (await import("./motion.js")).animateMove($("board"), last, before, currentPosition().board);

async function showSummary() {
  if (!state.finished || !againstComputer()) return ($("summary").hidden = true);
  (await import("./summary.js")).drawSummary($("summary"), { onRetry: on.retry });
}

export function drawAll(fresh = false) {
  const values = valuesShown();
  const title = listedGame()?.title ?? state.game;
  document.title = `${title}: ${verdictText()}`;
  setText($("title"), title);
  $("full-page").href = address("/");
  drawGameLinks();
  drawVerdict();
  for (const [element, owner] of playerPlaces()) drawPlayer(element, owner);
  setPlayerColours();
  drawPlaces(fresh);
  drawControls();
  drawMoveList(values);
  drawHistory($("history"), { values, onJump: on.go, onLine: on.showLine });
  showSummary();
  setText($("history-count"), state.moves.length ? formatPlies(state.moves.length) : "");
  drawValueChart();
  drawNotations(currentPosition());
}

function drawMoveList(values) {
  const { moves } = currentPosition();
  $("moves").dataset.quiet = ""; // a focus that is restored here previews nothing
  drawMoves($("moves"), currentPosition(), values);
  delete $("moves").dataset.quiet;
  setText($("moves-count"), moves.length ? String(moves.length) : "");
}

/** Draws the chart alone, for when the width of its card has changed. */
export function drawValueChart() {
  const handlers = { onJump: on.go, onTry: on.tryMove };
  if (valuesShown()) drawChart($("chart"), state.replay.timeline, state.ply, players(), handlers);
  else $("chart").replaceChildren(emptyNote(currentPosition().solved ? hiddenNote() : "No values yet."));
}

const hiddenNote = () => (isPlaying() ? "Hidden during the game." : "Hidden while hints are off.");

export async function showLine() {
  const { game, replay } = state;
  const { id, outcome } = currentEntry();
  $("line-card").hidden = !valuesShown() || !currentPosition().solved;
  if (!valuesShown() || outcome === null) return $("line").replaceChildren(emptyNote("Unknown."));
  const { line } = await api.line(game, id).catch((error) => {
    notice(error.message, true);
    return { line: [] };
  });
  if (state.replay !== replay || !valuesShown()) return;
  drawLine($("line"), line, (index) => on.playLine(line.slice(0, index + 1).map((step) => step.move)));
}
