// The page's state: the game, its first position, its moves, and how many of them are shown. Everything else (the
// player to move, repetition, mistakes, the end) is the server's answer, `replay`. Settings are stored by the browser.

import { pathOf } from "./api.js";

/** The start of the page's address. Embedded boards have separate addresses. */
export const BASE = document.body.classList.contains("embed") ? "/embed/" : "/";

/** The time in which one seed is sown, in milliseconds. */
export const SOWING = 140;

const STORAGE_KEY = "perfectplay";
const DEFAULTS = { hints: true, shortcuts: true, strength: "perfect", streaks: {} };

function readSettings() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY)) ?? {};
    const isValid = ([name, value]) => stored[name] !== null && typeof stored[name] === typeof value;
    const valid = Object.entries(DEFAULTS).filter(isValid);
    return { ...DEFAULTS, ...Object.fromEntries(valid.map(([name]) => [name, stored[name]])) };
  } catch {
    return { ...DEFAULTS }; // the browser may forbid storage
  }
}

export const settings = readSettings();

/** Changes settings. Those that another tab has changed meanwhile are kept. */
export function saveSettings(changes) {
  Object.assign(settings, readSettings(), changes);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(settings));
  } catch {
    // the settings last until the page is closed
  }
}

export const BOTH_USER = { 0: "you", 1: "you" };

export const state = {
  game: null,
  games: [],
  start: null, // the first position as a text; null for the game's start
  moves: [],
  ply: 0,
  replay: null,
  tree: null, // all lines that were tried from the first position; see variations.js
  roles: BOTH_USER, // who moves for each player: "you", or a strength of the computer
  flipped: false,
  finished: false, // whether the game has ended or was resigned; looking back does not change that
  resigned: null, // the player who resigned
  revealed: false, // whether values are shown during a game against the computer
  advised: null, // the move that Hint shows
  selected: null, // the id of the selected piece's cell or tray
  landing: null, // the target already chosen, while the piece to capture is being chosen
  preview: null, // the board after the move under the pointer: {board, source, target}
  auto: false,
  solvedPuzzle: false, // whether a puzzle has just been solved
  puzzle: null, // {ply, found, failed}: the winning move after `ply` moves is to be found
};

/** Everything about the position that is shown. */
export const currentPosition = () => state.replay.position;

/** The position's entry in the timeline. */
export const currentEntry = () => state.replay.timeline[state.replay.ply];

export const players = () => currentPosition().players;

/** Whether the game has only one player. Then positions are not won or lost, but solvable or not. */
export const isPuzzle = () => state.replay !== null && players().length === 1;

/** The game's entry in the list of games. */
export const listedGame = () => state.games.find((game) => game.name === state.game);

/** Whether the table contains only who wins, so that no value has a number. */
export const outcomesOnly = () => listedGame()?.values === "outcome";

/** How the game has ended by rule, or null. A repetition does not stop exploring. */
export const ending = () => currentPosition().result?.text ?? null;

/** The result by repetition, or null. */
export const repetition = () => (currentPosition().result ? null : (state.replay.result?.text ?? null));

export const isComputer = (owner) => owner !== null && state.roles[owner] !== "you";

export const computerToMove = () => isComputer(currentEntry().to_move);

export const isNewest = () => state.ply === state.moves.length;

/** Whether the position is the one in which a player resigned. */
export const isResigned = () => state.resigned !== null && isNewest();

/** Whether the user plays against the computer. */
export const againstComputer = () => !isPuzzle() && (isComputer(0) || isComputer(1));

/** Whether such a game is under way, so that values are hidden unless the user asks for them. */
export const isPlaying = () => againstComputer() && !state.finished;

export const hintsShown = () => !state.puzzle && (isPlaying() ? state.revealed : settings.hints);

/** Whether values are shown: there are some, and the hints are on. */
export const valuesShown = () => hintsShown() && currentPosition().solved;

/** Whether the board is shown as the second player sees it. */
export const isTurned = () => state.flipped && !currentPosition().board?.upright;

// These characters need no escaping in a query, and the address stays readable.
const encodeText = (text) =>
  encodeURIComponent(text)
    .replace(/%(2C|2F|3A|40|3B|24|3E|28|29)/gi, decodeURIComponent)
    .replaceAll("%20", "+");

/** A move's name in a link, where a space separates moves. */
export const linkName = (move) => move.replaceAll(" ", "_");

/** The address of the current view: the first position and all moves. */
export function address(base = BASE) {
  const parameters = [];
  if (state.start !== null) parameters.push(`position=${encodeText(state.start)}`);
  if (state.moves.length) parameters.push(`moves=${encodeText(state.moves.map(linkName).join(" "))}`);
  if (state.ply !== state.moves.length) parameters.push(`ply=${state.ply}`);
  if (state.puzzle) parameters.push("puzzle=1");
  return `${base}${pathOf(state.game)}${parameters.length ? `?${parameters.join("&")}` : ""}`;
}
