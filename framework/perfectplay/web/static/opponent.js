// Who moves for a player: a person, or the table, which plays perfectly or slips at a chosen rate.

import { same } from "./words.js";

export const STRENGTHS = [
  { value: "perfect", label: "Perfect", slips: 0, words: "never slips" },
  { value: "strong", label: "Strong", slips: 0.1, words: "one move in ten at random" },
  { value: "casual", label: "Casual", slips: 0.35, words: "one move in three at random" },
  { value: "random", label: "Random", slips: 1, words: "any move at all" },
];

export const ROLES = [{ value: "you", label: "You" }, ...STRENGTHS.map(({ value, label }) => ({ value, label: `Table: ${label.toLowerCase()}` }))];

const anyOf = (moves) => moves[Math.floor(Math.random() * moves.length)];

/** The moves that nothing beats. */
export function bestMoves(moves) {
  const [first] = moves;
  if (!first?.outcome) return [];
  return moves.filter((move) => same(move, first));
}

/** The table's move: one of the best, or at the rate of slips any at all. Without values: any. */
export function choose(moves, role) {
  const best = bestMoves(moves);
  const { slips } = STRENGTHS.find(({ value }) => value === role) ?? STRENGTHS[0];
  return !best.length || Math.random() < slips ? anyOf(moves) : anyOf(best);
}
