// What the page knows: which game, where it began, its moves, and how many of them are played on the board. Everything
// else (whose turn it is, repetition, mistakes, the end) is the server's answer for that, `replay`.

import { pathOf } from "./api.js";
import { settings } from "./settings.js";

export const state = {
  game: null,
  games: [],
  start: null, // the position the game began at, as a text; null for the game's own start
  moves: [],
  ply: 0,
  replay: null,
  selected: null,
  preview: null, // the board after a move that is pointed at: {board, source, target}
  auto: false,
  puzzle: null, // the id of a position in which one move is to be found
};

export const answer = () => state.replay.position;

export const here = () => state.replay.timeline[state.replay.ply];

export const players = () => answer().players;

/** Whether one player plays alone: then nothing is won or lost, but solved or not. */
export const isPuzzle = () => state.replay !== null && players().length === 1;

export const about = () => state.games.find((each) => each.name === state.game);

/** Whether the table knows who wins and nothing else: then no value has a number. */
export const outcomesOnly = () => about()?.values === "outcome";

/** Why the game has ended by rule; a repetition ends it too, but one may explore on. */
export const ending = () => answer().result?.text ?? null;

export const repeated = () => (!answer().result && state.replay.result ? state.replay.result.text : null);

export const hints = () => settings.hints && !state.puzzle;

/** Whether values may be shown: there are some, and the player wants to see them. */
export const valuesShown = () => hints() && answer().solved;

export const roleOf = (owner) => settings.roles[state.game]?.[owner] ?? "you";

export const isTable = (role) => role !== "you";

export const tableMoves = () => here().to_move !== null && isTable(roleOf(here().to_move));

// Readable: none of these characters needs to be escaped in a query.
const escapeText = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|40|3B|24|3E|28|29)/gi, decodeURIComponent).replaceAll("%20", "+");

export const spelled = (move) => move.replaceAll(" ", "_");

/** The address of what is shown: the game from where it began, with all its moves. */
export function address() {
  const path = `/${pathOf(state.game)}`;
  const parts = [];
  if (state.start !== null) parts.push(`position=${escapeText(state.start)}`);
  if (state.moves.length) parts.push(`moves=${escapeText(state.moves.map(spelled).join(" "))}`);
  if (state.ply !== state.moves.length) parts.push(`ply=${state.ply}`);
  return parts.length ? `${path}?${parts.join("&")}` : path;
}
