// Who moves for a player: a person, or the table, which plays perfectly or slips at a chosen rate.

export const ROLES = [
  { value: "you", label: "You" },
  { value: "0", label: "Table, perfect" },
  { value: "0.1", label: "Table, slips 10 %" },
  { value: "0.3", label: "Table, slips 30 %" },
  { value: "0.6", label: "Table, slips 60 %" },
];

export const isTable = (role) => role !== "you";

const anyOf = (moves) => moves[Math.floor(Math.random() * moves.length)];

/** The moves that nothing beats. */
export function bestMoves(moves) {
  const [first] = moves;
  if (!first?.outcome) return [];
  return moves.filter((move) => move.outcome === first.outcome && move.remoteness === first.remoteness);
}

/** The table's move: one of the best; at the rate of slips one of the others. Without values: any. */
export function choose(moves, role) {
  const best = bestMoves(moves);
  const others = moves.filter((move) => !best.includes(move));
  if (!best.length || (others.length && Math.random() < Number(role))) return anyOf(others);
  return anyOf(best);
}
