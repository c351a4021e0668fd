// What the page knows: a game is a timeline of positions and a cursor in it. Here are the facts that follow from it;
// main.js changes it, view.js shows it.

import { isTable } from "./opponent.js";

const REPETITIONS = 3;

export const state = {
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

export function entryOf(answer, move = null) {
  const toMove = answer.board ? answer.board.to_move : (state.timeline.length && move ? 1 - here().toMove : 0);
  const { id, text, outcome, remoteness, verdict } = answer;
  return { id, text, move: move?.move ?? null, source: move?.source ?? null, target: move?.target ?? null, outcome, remoteness, verdict, toMove };
}

export const here = () => state.timeline[state.cursor];

export function timesSeen() {
  return state.timeline.slice(0, state.cursor + 1).filter((entry) => entry.id === here().id).length;
}

/** Why the game has ended: the server's word, or the third repetition. */
export function ending() {
  if (state.answer.result) return state.answer.result.text;
  if (timesSeen() >= REPETITIONS) return "Game over: a draw, this position stands for the third time";
  return null;
}

export const players = () => state.answer.board?.players ?? ["First", "Second"];

export const startOf = (game) => state.games.find((each) => each.name === game).start;

export const tableMoves = () => isTable(state.roles[here().toMove]);

// Readable: none of these characters needs to be escaped in a query.
const escapeText = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|40|3B|24)/gi, decodeURIComponent);

export function address() {
  const path = `/${encodeURIComponent(state.game)}`.replaceAll("%3D", "=");
  return here().id === startOf(state.game) ? path : `${path}?position=${escapeText(here().text)}`;
}
