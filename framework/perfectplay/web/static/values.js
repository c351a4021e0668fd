// Values of positions and moves: their texts, and how they compare. A sign or a word accompanies every colour,
// because colour alone is not accessible.

import { currentPosition, isPuzzle, outcomesOnly } from "./state.js";
import { STRENGTHS, VOCABULARIES } from "./vocabulary.js";

export { STRENGTHS };

export const ROLES = [
  { value: "you", label: "You" },
  ...STRENGTHS.map(({ value, label }) => ({ value, label: `Computer: ${label.toLowerCase()}` })),
];

// ---- texts ----

export const hasScore = (value) => typeof value.score === "number";

const isScoredPuzzle = () => isPuzzle() && hasScore(currentPosition());

/** The words for the values of the current game; see vocabulary.py. */
export const vocabulary = () =>
  isScoredPuzzle() ? VOCABULARIES.scoredPuzzle : isPuzzle() ? VOCABULARIES.puzzle : VOCABULARIES.game;

/** Replaces `{name}` in one of these words. */
export const fillIn = (text, names) => text.replace(/\{(\w+)\}/g, (_, name) => names[name] ?? "");

/** The outcome as a CSS class. */
export const kindOf = (value) => value.outcome ?? "unknown";

export const letterOf = (outcome) => vocabulary().letters[outcome] ?? "?";

export const headingOf = (outcome) => vocabulary().headings[outcome] ?? "Not in the table";

const isEndless = (value) => value.outcome !== null && value.remoteness === null && !outcomesOnly();

const formatScore = (score) => (score > 0 ? `+${score}` : `${score}`.replace("-", "−"));

/** The moves to the end, of one player if the players take turns. */
export const movesLeft = ({ remoteness }) =>
  currentPosition().alternating && !isPuzzle() ? Math.ceil(remoteness / 2) : remoteness;

/** The score in a game with scores, otherwise the moves to the end; "" where there is neither. */
export function formatNumber(value) {
  if (value.remoteness === null) return "";
  return hasScore(value) ? formatScore(value.score) : `${movesLeft(value)}`;
}

/** The sign before the number; "" where the number is a score with a sign. */
export const signOf = (value) => (isScoredPuzzle() && formatNumber(value) ? "" : letterOf(value.outcome));

/** "✓ 5": sign and number. */
export const formatShort = (value) => `${signOf(value)} ${formatNumber(value)}`.trim();

/** "in 5" or "+3 in 5", beside a list of moves with this value. */
export function formatDistance(value) {
  if (isEndless(value)) return "never ends";
  if (value.remoteness === null) return "";
  return hasScore(value) ? `${formatNumber(value)} in ${movesLeft(value)}` : `in ${movesLeft(value)}`;
}

/** "Win in 5 moves", for lists and screen readers. */
export function formatLong(value) {
  const { names, outcomes, endless } = vocabulary();
  if (!value.outcome) return "Not in the table";
  if (isEndless(value)) return endless;
  if (value.remoteness === null) return outcomes[value.outcome];
  if (isScoredPuzzle()) return `Score ${formatNumber(value)} in ${value.remoteness}`;
  const margin = hasScore(value) && value.score ? ` by ${Math.abs(value.score)}` : "";
  return `${names[value.outcome]}${margin} in ${formatMoves(movesLeft(value))}`;
}

/** A note that a table of outcomes has no distances; "" for any other table. */
export const outcomesNote = () => (outcomesOnly() ? vocabulary().outcomesNote : "");

export const formatCount = (number) => number.toLocaleString("en");

const formatMoves = (number) => (number === 1 ? "1 move" : `${formatCount(number)} moves`);

export const formatPlies = (number) => (number === 1 ? "1 ply" : `${formatCount(number)} plies`);

export function formatSize(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (bytes >= 1024 && power < units.length - 1) {
    bytes /= 1024;
    power += 1;
  }
  return `${bytes < 10 && power ? bytes.toFixed(1) : Math.round(bytes)} ${units[power]}`;
}

// ---- comparing ----

export const isSameValue = (a, b) => a.outcome === b.outcome && a.remoteness === b.remoteness && a.score === b.score;

/** The best of these moves, which are sorted best first. */
export function bestMoves(moves) {
  const [first] = moves;
  return first?.outcome ? moves.filter((move) => isSameValue(move, first)) : [];
}
