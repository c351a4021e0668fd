// Draws the state, all of it or a part. What people then do is told to `on`, which main.js fills in.

import * as api from "./api.js";
import { drawBoard, drawTrays } from "./board.js";
import { $, h, setText } from "./dom.js";
import { drawNotations } from "./editor.js";
import { drawLine, drawMoves } from "./moves.js";
import { bestMoves, ROLES } from "./opponent.js";
import { ending, here, players, state, tableMoves, timesSeen } from "./state.js";
import { drawChart, drawHistory } from "./timeline.js";
import { kind, LETTERS, plural, title } from "./words.js";

/** The handlers: place, play, preview, go, role, follow, playLine. */
export const on = {};

const placesView = (fresh) => ({ ...state, hints: state.hints && state.answer.solved, lastMove: state.cursor ? here() : null, fresh, onPlace: on.place });

export function drawPlaces(fresh = false) {
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

function drawPlayers() {
  const top = state.flipped ? 0 : 1;
  for (const [place, owner] of [["player-top", top], ["player-bottom", 1 - top]]) {
    const moving = here().toMove === owner && !ending();
    const name = players()[owner];
    const select = h("select", { "aria-label": `Who plays ${name}`, onchange: (event) => on.role(owner, event.target.value) },
      ...ROLES.map((role) => h("option", { value: role.value, selected: state.roles[owner] === role.value }, role.label)));
    $(place).className = `player owner${owner}${moving ? " moving" : ""}`;
    $(place).replaceChildren(
      h("div", { class: "who" }, h("span", { class: "dot", "aria-hidden": "true" }), h("strong", {}, name), h("span", { class: "turn" }, moving ? "to move" : "")),
      h("div", { class: "trays" }),
      select,
    );
  }
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

export function drawControls() {
  const last = state.timeline.length - 1;
  $("first").disabled = $("undo").disabled = state.cursor === 0;
  $("last").disabled = $("redo").disabled = state.cursor === last;
  $("best").disabled = Boolean(ending()) || !bestMoves(state.answer.moves).length;
  $("auto").disabled = $("best").disabled;
  $("auto").setAttribute("aria-pressed", String(state.auto));
  setText($("auto"), state.auto ? "Pause" : "Auto-play");
  $("hints").setAttribute("aria-pressed", String(state.hints));
}

export function draw(fresh = false) {
  const { answer } = state;
  drawGames();
  drawVerdict();
  drawPlayers();
  drawPlaces(fresh);
  drawControls();
  drawMoves($("moves"), answer, state.hints, { play: on.play, preview: on.preview });
  setText($("moves-count"), answer.moves.length ? String(answer.moves.length) : "");
  drawHistory($("history"), state.timeline, state.cursor, on.go);
  setText($("history-count"), state.timeline.length > 1 ? plural(state.timeline.length - 1, "ply").replace("plys", "plies") : "");
  drawChart($("chart"), state.timeline, state.cursor, players(), on.go);
  drawNotations(answer);
  const repeated = timesSeen();
  notice(ending() || repeated < 2 ? advice() : `This position stands for the ${repeated === 2 ? "second" : "third"} time; the third is a draw.`);
}

/** What one can do, where there is nothing more urgent to say. */
export function advice() {
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
      return h("a", { href: path, "aria-current": current, title: game.verdict ?? "Not solved yet", onclick: (event) => on.follow(event, game.name) }, title(game.name));
    }),
  );
}

export async function showLine() {
  const { game, answer } = state;
  if (!answer.solved || answer.outcome === null || !state.hints) {
    return $("line").replaceChildren(h("p", { class: "empty" }, state.hints ? "Not known." : "Hidden with the hints."));
  }
  const { line } = await api.line(game, answer.id).catch((error) => {
    notice(error.message, true);
    return { line: [] };
  });
  if (state.answer !== answer || !state.hints) return;
  drawLine($("line"), line, (index) => on.playLine(line.slice(0, index + 1)));
}

export function notice(text, strong = false) {
  setText($("notice"), text);
  $("notice").classList.toggle("strong", strong);
}
