// What moves are worth, shown on the board: a letter and a number on every place, arrows for the best moves.

import { h, s } from "./dom.js";
import { bestMoves } from "./opponent.js";
import { kind, long, number, same, short, sign } from "./words.js";

const MOST_ARROWS = 6;

const content = (value) => [sign(value), h("span", { class: sign(value) ? "number" : "" }, number(value) ? `\u2009${number(value)}` : "")];

const make = (value, best, role) =>
  h("span", { class: `badge ${kind(value)} ${role}${best && same(value, best) ? " best" : ""}`, "aria-hidden": "true" }, ...content(value));

/** What a move to here, or the best move from here, is worth. */
export const badge = (value, best) => make(value, best, "own");

/** What the best move that lands here is worth, while no piece is chosen. */
export const landingBadge = (value, best) => make(value, best, "landing");

/** What a move is worth, beside its name on a button. */
export const inlineBadge = (value) => [h("span", { class: `badge inline ${kind(value)}`, "aria-hidden": "true" }, short(value)), h("span", { class: "visually-hidden" }, long(value))];

/** From where to where the best moves go, where they go from cell to cell. */
export function arrows(answer, board, at) {
  const picture = s("svg", { class: "arrows", viewBox: `0 0 ${board.columns} ${board.rows}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const cells = new Map(board.cells.map((cell) => [cell.id, cell]));
  const seen = new Set();
  for (const move of bestMoves(answer.moves)) {
    const [from, to] = [cells.get(move.source), cells.get(move.target)];
    const name = `${move.source} ${move.target}`;
    if (!from || !to || from === to || seen.has(name) || seen.size === MOST_ARROWS) continue;
    seen.add(name);
    const [[x1, y1], [x2, y2]] = [at(from), at(to)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - dx * 0.3, y2 - dy * 0.3]; // where the head begins
    picture.append(
      s("line", { class: `shaft ${kind(move)}`, x1: x1 + dx * 0.3, y1: y1 + dy * 0.3, x2: bx, y2: by, "stroke-width": 0.06 }),
      s("polygon", { class: `head ${kind(move)}`, points: [[x2 - dx * 0.1, y2 - dy * 0.1], [bx - dy * 0.1, by + dx * 0.1], [bx + dy * 0.1, by - dx * 0.1]].map((point) => point.map((n) => n.toFixed(3)).join(",")).join(" ") }),
    );
  }
  return picture;
}
