// How values are written beside moves. Letters and words go with every colour: colour alone says nothing here.

import { answer, isPuzzle, outcomesOnly } from "./state.js";

// What a game, a puzzle and a puzzle with scores call their values: beside moves, in sentences, and of many positions.
const GAME = {
  letters: { win: "W", draw: "D", loss: "L" },
  names: { win: "Win", draw: "Draw", loss: "Loss" },
  headings: { win: "Winning", draw: "Drawing", loss: "Losing", unknown: "Not in the table" },
  endless: "Draw, endless",
  outcomes: { win: "Win", draw: "Draw", loss: "Loss" },
  note: "This table knows who wins, not in how many moves.",
  axis: ([first, second]) => [`${first} wins`, "draw", `${second} wins`],
  question: (mover) => `${mover} is to move`,
  task: (mover) => `Puzzle: ${mover} is to move, and one move wins`,
  right: "the only winning move",
  wrong: "does not win",
  facts: { win: "Won by the side to move", loss: "Lost", draw: "Drawn" },
  many: { win: "wins", loss: "losses", draw: "draws" },
  above: "won",
  below: "lost",
  longest: "The longest wins",
  find: "Puzzle: one move wins",
  unit: "plies",
};
const PUZZLE = {
  letters: { win: "✓", draw: "∞", loss: "✗" },
  names: { win: "Solved", draw: "Never solved", loss: "Dead end" },
  headings: { win: "Leads to the solution", draw: "Never ends", loss: "Leads to a dead end", unknown: "Not in the table" },
  endless: "Never solved",
  outcomes: { win: "Can be solved", draw: "Cannot be solved", loss: "Cannot be solved" },
  note: "This table knows what can be solved, not in how many moves.",
  axis: () => ["Solvable", "∞", "Dead end"],
  question: () => "Can you solve it?",
  task: () => "Puzzle: one move leads to the solution",
  right: "the only move to the solution",
  wrong: "does not lead to the solution",
  facts: { win: "Can be solved", loss: "Dead ends", draw: "Never end" },
  many: { win: "solved", loss: "dead ends", draw: "that never end" },
  above: "can be solved",
  below: "dead ends",
  longest: "The longest solutions",
  find: "Puzzle: one move solves it",
  unit: "moves",
};

// A puzzle with scores is not solved or missed, but ends with more or less.
const SCORES = {
  ...PUZZLE,
  letters: { win: "+", draw: "0", loss: "−" },
  names: { win: "Above zero", draw: "Zero", loss: "Below zero" },
  headings: { win: "Scores above zero", draw: "Scores zero, or never ends", loss: "Scores below zero", unknown: "Not in the table" },
  endless: "Never ends",
  axis: () => ["Above zero", "0", "Below zero"],
  question: () => "How much can you score?",
  task: () => "Puzzle: one move leads above zero",
  right: "the only move that leads above zero",
  wrong: "does not lead above zero",
  facts: { win: "Score above zero", loss: "Score below zero", draw: "Score zero, or never end" },
  many: { win: "above zero", loss: "below zero", draw: "at zero" },
  above: "end above zero",
  below: "end below it",
  longest: "The longest ways above zero",
  find: "Puzzle: one move leads above zero",
};

/** Whether one plays alone, and for a score. */
const isScored = () => isPuzzle() && hasScore(answer());

export const vocabulary = () => (isScored() ? SCORES : isPuzzle() ? PUZZLE : GAME);

export const kind = (value) => value.outcome ?? "unknown";

/** The sign of an outcome: a letter, or in a puzzle a mark. */
export const letter = (outcome) => vocabulary().letters[outcome] ?? "?";

export const heading = (outcome) => vocabulary().headings[outcome];

const signed = (score) => (score > 0 ? `+${score}` : `${score}`.replace("-", "−"));

export const hasScore = (value) => typeof value.score === "number";

/** The number beside the letter: the score where the game has one, else the plies left; "" for an endless draw. */
export const number = (value) => (value.remoteness === null ? "" : hasScore(value) ? signed(value.score) : `${value.remoteness}`);

/** What stands before the number: the letter, unless the number is a score with its own sign. */
export const sign = (value) => (isScored() && number(value) ? "" : letter(value.outcome));

/** "W 5": letter and number. */
export const short = (value) => `${sign(value)} ${number(value)}`.trim();

/** "in 5" or "+3 in 5", beside a list of moves that are worth the same. */
export function distance(value) {
  if (value.remoteness === null) return value.outcome && !outcomesOnly() ? "endless" : "";
  return hasScore(value) ? `${number(value)} in ${value.remoteness}` : `in ${value.remoteness}`;
}

/** "Win in 5", for lists and screen readers. */
export function long(value) {
  if (!value.outcome) return "Not in the table";
  if (value.remoteness === null) return outcomesOnly() ? vocabulary().outcomes[value.outcome] : vocabulary().endless;
  if (isScored()) return `Score ${number(value)} in ${value.remoteness}`;
  const score = hasScore(value) && value.score ? ` by ${Math.abs(value.score)}` : "";
  return `${vocabulary().names[value.outcome]}${score} in ${value.remoteness}`;
}

/** What a table of outcomes cannot tell; "" for any other. */
export const unknown = () => (outcomesOnly() ? vocabulary().note : "");

export const count = (number) => number.toLocaleString("en");

export const plies = (number) => (number === 1 ? "1 ply" : `${count(number)} plies`);

/** Whether two values are the same. */
export const same = (a, b) => a.outcome === b.outcome && a.remoteness === b.remoteness && a.score === b.score;

const ORDINALS = { 2: "second", 3: "third", 4: "fourth", 5: "fifth" };
export const ordinal = (number) => ORDINALS[number] ?? `${number}th`;

/** 1,234,567 bytes as people say it. */
export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (bytes >= 1024 && power < units.length - 1) {
    bytes /= 1024;
    power += 1;
  }
  return `${bytes < 10 && power ? bytes.toFixed(1) : Math.round(bytes)} ${units[power]}`;
}

/** "Connect Four: width 5"-like: the title, and what differs from the default and is not said by the title. */
export function labelOf(game) {
  const said = new Set((game.title ?? "").toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const differs = (option) => game.variant[option.name] !== option.default && !said.has(String(game.variant[option.name]).toLowerCase());
  const changed = (game.options ?? []).filter(differs);
  const words = changed.map((option) => (typeof option.default === "boolean" ? `${game.variant[option.name] ? "" : "no "}${option.name}` : `${option.name} ${game.variant[option.name]}`));
  return words.length ? `${game.title}: ${words.join(", ")}` : game.title ?? game.name;
}
