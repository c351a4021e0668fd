// Draws the state, all of it or a part. What people then do is told to `on`, which main.js fills in.

import * as api from "./api.js";
import { drawBoard, drawTrays } from "./board.js";
import { $, followed, h, oneTabStop, redraw, setText } from "./dom.js";
import { drawNotations } from "./editor.js";
import { inlineBadge } from "./marks.js";
import { drawLine, drawMoves } from "./moves.js";
import { bestMoves, ROLES } from "./opponent.js";
import { settings } from "./settings.js";
import { about, answer, ending, here, hints, isPuzzle, players, repeated, roleOf, state, tableMoves, valuesShown } from "./state.js";
import { drawChart, drawHistory } from "./timeline.js";
import { kind, labelOf, letter, ordinal, plies, unknown, vocabulary } from "./words.js";

/** The handlers: place, play, go, tryMove, role, open, playLine. */
export const on = {};

const placesView = (fresh) => ({
  answer: answer(),
  selected: state.selected,
  shown: state.preview,
  values: valuesShown(),
  best: answer().moves[0],
  last: state.replay.last,
  flipped: settings.flipped,
  fresh,
  onPlace: on.place,
});

export function drawPlaces(fresh = false) {
  const { board } = answer();
  const view = placesView(fresh);
  const top = settings.flipped ? 0 : 1;
  for (const [place, owner] of [["player-top", top], ["player-bottom", 1 - top]]) {
    const trays = $(place).querySelector(".trays");
    if (board) drawTrays(trays, owner, view);
    else trays.replaceChildren();
  }
  if (!board) return drawText(answer().text);
  try {
    drawBoard($("board"), view);
  } catch (error) {
    drawText(answer().text); // whatever a plugin has thought of: the game can still be played from the list
    answer().board_problem = `The board cannot be drawn: ${error.message}`;
  }
  drawActions(view);
}

function drawText(text) {
  $("board").classList.add("text");
  $("board").replaceChildren(h("pre", { tabindex: "0", role: "img", "aria-label": `Position: ${text}` }, text));
  $("actions").replaceChildren();
}

/** Moves that are not on the board: a button for each. */
function drawActions(view) {
  const moves = view.answer.moves.filter((move) => move.target === null);
  redraw(
    $("actions"),
    ...moves.map((move) =>
      h("button", { class: `action ${view.values ? kind(move) : ""}`, type: "button", "data-move": move.move, "data-key": move.move, onclick: () => on.play(move) },
        move.label || move.move,
        view.values && inlineBadge(move),
      ),
    ),
  );
  oneTabStop($("actions"), ".action");
}

function drawPlayers() {
  const top = settings.flipped ? 0 : 1;
  for (const [place, owner] of [["player-top", top], ["player-bottom", 1 - top]]) {
    const name = players()[owner];
    const element = $(place);
    const moving = here().to_move === owner && !ending();
    element.hidden = name === undefined;
    element.className = `player owner${owner}${moving ? " moving" : ""}`;
    setText(element.querySelector("strong"), name ?? "");
    setText(element.querySelector(".turn"), moving ? "to move" : "");
    const select = element.querySelector("select");
    if (!select.options.length) select.append(...ROLES.map((role) => h("option", { value: role.value }, role.label)));
    select.setAttribute("aria-label", `Who plays ${name}`);
    select.value = roleOf(owner);
    select.onchange = (event) => on.role(owner, event.target.value);
  }
  const { style } = document.documentElement;
  (answer().board?.colours ?? ["orange", "blue"]).forEach((colour, owner) => {
    for (const [name, shade] of [[`fill${owner}`, ""], [`owner${owner}`, "-text"], [`owner${owner}-ink`, "-ink"]]) style.setProperty(`--${name}`, `var(--${colour}${shade})`);
  });
}

/** The sentence on top; with the values hidden, only whose turn it is. */
function verdictText() {
  if (ending()) return ending();
  if (valuesShown() || !answer().solved) return answer().verdict;
  const { task, question } = vocabulary();
  return (state.puzzle && !state.ply ? task : question)(answer().mover);
}

function drawVerdict() {
  const element = $("verdict");
  const open = valuesShown() || ending();
  const { outcome, to_move: mover } = here();
  const winner = !open || mover === null || isPuzzle() ? null : outcome === "win" ? mover : outcome === "loss" ? 1 - mover : null;
  element.className = `verdict ${winner === null ? (open ? kind(here()) : "unknown") : `owner${winner}`}`;
  setText(element.querySelector("p"), verdictText());
  setText($("unknown"), valuesShown() ? unknown() : "");
  $("unknown").hidden = !valuesShown() || !unknown();
  setText(element.querySelector(".mark"), winner === null ? (open ? letter(outcome) : "?") : (players()[winner] ?? "?").charAt(0));
}

export function drawControls() {
  const focused = document.activeElement;
  const last = state.moves.length;
  for (const name of ["first", "undo"]) $(name).disabled = state.ply === 0;
  for (const name of ["last", "redo"]) $(name).disabled = state.ply === last;
  $("best").disabled = Boolean(ending()) || !bestMoves(answer().moves).length;
  $("auto").disabled = $("best").disabled;
  if (focused?.disabled) $("board").focus({ preventScroll: true }); // it can do nothing more: the focus would be lost
  $("auto").setAttribute("aria-pressed", String(state.auto));
  setText($("auto"), state.auto ? "Pause" : "Auto-play");
  $("hints").setAttribute("aria-pressed", String(hints()));
}

/** Everything, and what is to be said of it. */
export function draw(fresh = false) {
  drawAll(fresh);
  notice(repeatNotice() ?? answer().board_problem ?? advice(), Boolean(repeatNotice() ?? answer().board_problem));
}

export function drawAll(fresh = false) {
  const values = valuesShown();
  document.title = `${about()?.title ?? state.game}: ${verdictText()}`;
  setText($("title"), about()?.title ?? state.game);
  drawGames();
  drawVerdict();
  drawPlayers();
  drawPlaces(fresh);
  drawControls();
  $("moves").dataset.quiet = ""; // what is focused again by us is not pointed at by anybody
  drawMoves($("moves"), answer(), values);
  delete $("moves").dataset.quiet;
  setText($("moves-count"), answer().moves.length ? String(answer().moves.length) : "");
  drawHistory($("history"), state.replay.timeline, state.ply, values, on.go);
  setText($("history-count"), state.moves.length ? plies(state.moves.length) : "");
  drawValueChart();
  drawNotations(answer());
}

/** The chart alone: it is as wide as its card. */
export function drawValueChart() {
  if (valuesShown()) drawChart($("chart"), state.replay.timeline, state.ply, players(), { onJump: on.go, onTry: on.tryMove });
  else $("chart").replaceChildren(h("p", { class: "empty" }, answer().solved ? "Hidden with the hints." : "Nothing is known yet."));
}

function repeatNotice() {
  if (ending() || state.replay.occurrences < 2) return null;
  if (repeated()) return `A draw by repetition: this position stands for the ${ordinal(state.replay.occurrences)} time. You can explore on.`;
  return "This position stands for the second time; the third is a draw.";
}

/** What one can do, where there is nothing more urgent to say. */
export function advice() {
  if (ending()) return "Undo to try something else, or begin a new game.";
  if (tableMoves() && state.ply === state.moves.length) return "The table is to move.";
  const { board, moves } = answer();
  if (!board) return "Choose a move from the list.";
  if (state.selected !== null) return "Now choose where it goes.";
  if (moves.some((move) => move.source !== null)) return "Choose a piece, then where it goes.";
  return moves.some((move) => move.target !== null) ? "Choose where to move." : "Choose a move under the board.";
}

const FEW_GAMES = 4;

/** The games beside the name: all of them while they are few, else this one; the dialog has the rest. */
function drawGames() {
  const shown = state.games.length <= FEW_GAMES ? state.games : state.games.filter((game) => game.name === state.game);
  redraw(
    $("games"),
    ...shown.map((game) => {
      if (game.state === "broken") return h("span", { class: "broken", title: game.reason }, `${game.name} (broken)`);
      return h("a", { href: `/${api.pathOf(game.name)}`, "data-key": game.name, "aria-current": game.name === state.game ? "page" : null, title: game.verdict ?? "Not solved yet", onclick: followed(() => on.open(game.name)) }, labelOf(game));
    }),
  );
  $("games-open").hidden = state.games.length <= FEW_GAMES && !state.games.some((game) => game.options?.length);
}

export async function showLine() {
  const { game, replay } = state;
  if (!valuesShown() || here().outcome === null) {
    return $("line").replaceChildren(h("p", { class: "empty" }, hints() ? "Not known." : "Hidden with the hints."));
  }
  const { line } = await api.line(game, here().id).catch((error) => {
    notice(error.message, true);
    return { line: [] };
  });
  if (state.replay !== replay || !valuesShown()) return;
  drawLine($("line"), line, (index) => on.playLine(line.slice(0, index + 1).map((step) => step.move)));
}

export function notice(text, strong = false) {
  setText($("notice"), text);
  $("notice").classList.toggle("strong", strong);
}

/** Says something to those who listen: a change on the board that they did not make. */
export const announce = (text) => setText($("announce"), text);
