// Draws any board the server describes: cells in rows and columns or anywhere, edges, zones, stacks and trays. Cells stay
// the same elements while only what is on them changes, so the focus stays where it is.

import { h, oneTabStop, own, redraw, s } from "./dom.js";
import { arrows, badge, landingBadge } from "./marks.js";
import { drawPiece, ownerClass, pieceImage, pieceWords, stackWords } from "./pieces.js";
import { long } from "./words.js";

const SHOWN_IN_TRAY = 3;

/** Trays are small: sizes stay apart there, but the smallest must be readable. */
export const inTray = (piece) => ({ ...piece, size: 0.4 + 0.6 * piece.size });

/** The moves by their source or target, each in their order. */
function grouped(moves, key) {
  const groups = new Map();
  for (const move of moves) {
    if (groups.has(move[key])) groups.get(move[key]).push(move);
    else groups.set(move[key], [move]);
  }
  return groups;
}

/** What every place means at the moment: its moves, whether it is a source, why it is barred. */
export function meanings(answer, selected) {
  const { moves, board } = answer;
  const sources = new Set([...moves.map((move) => move.source).filter((id) => id !== null), ...Object.keys(board.blocked)]);
  const [from, to] = [grouped(moves, "source"), grouped(moves, "target")];
  return {
    sources,
    targets: grouped((from.get(selected) ?? []).filter((move) => move.target !== null), "target"),
    barred: (selected !== null && own(board.blocked, selected)) || {},
    movesFrom: (id) => from.get(id) ?? [],
    movesTo: (id) => to.get(id) ?? [],
  };
}

export const cellWords = (cell, board) => `${cell.label || cell.id}, ${cell.stack.length ? stackWords(cell.stack, board.players) : "empty"}`;

function cellPicture(cell, flipped) {
  const top = cell.stack[cell.stack.length - 1];
  const viewBox = top?.shape === "block" ? null : "0 0 100 100"; // a block is as oblong as its cell
  const picture = s("svg", { viewBox, "aria-hidden": "true", focusable: "false" });
  if (top) picture.append(drawPiece(top, flipped));
  return picture;
}

/** Pieces under the top one: small in the corner with their sizes, and large while the cell is pointed at or chosen. */
function coveredPieces(cell) {
  const covered = cell.stack.slice(0, -1).reverse();
  if (!covered.length) return null;
  return h("span", { class: "covered", "aria-hidden": "true" }, ...covered.map((piece) => pieceImage({ ...piece, size: 0.45 + 0.5 * piece.size })));
}

/** One place's looks and words. `view` is {answer, selected, values, last, onPlace, …}; see view.js. */
function place(id, element, words, view, meaning) {
  const { selected, values, last, shown } = view;
  const targeted = shown ? null : meaning.targets.get(id);
  const isSource = meaning.sources.has(id);
  const reason = own(meaning.barred, id);
  const toggle = (name, on) => element.classList.toggle(name, Boolean(on));
  toggle("target", targeted);
  toggle("source", isSource && selected === null);
  toggle("selected", selected === id);
  toggle("barred", reason && selected !== id);
  toggle("last", last && (last.target === id || last.source === id));
  toggle("previewed", shown && (shown.target === id || shown.source === id));
  element.removeAttribute("title");
  const said = [words];
  if (targeted) {
    const [best] = targeted;
    if (values) element.append(badge(best, view.best));
    const others = targeted.length > 1 ? `, or ${targeted.length - 1} more` : "";
    said.push(values ? `${best.move}: ${long(best)}${others}` : `legal: ${best.move}${others}`);
  } else if (!shown && selected === null && values) {
    const [from] = meaning.movesFrom(id);
    const [to] = meaning.movesTo(id);
    if (from) element.append(badge(from, view.best));
    if (to) element.append(landingBadge(to, view.best));
    if (from) said.push(`best from here: ${long(from)}`);
    if (to) said.push(`best to here: ${to.move}, ${long(to)}`);
  } else if (reason && selected !== id) {
    element.title = reason;
    said.push(`not possible: ${reason}`);
  }
  element.append(h("span", { class: "visually-hidden" }, said.join(". "))); // its name: the rest is decoration
  if (isSource) element.setAttribute("aria-pressed", String(selected === id));
  else element.removeAttribute("aria-pressed");
}

/** The lines and areas under the cells, in the board's own units. */
function ground(board, at) {
  const picture = s("svg", { class: "ground", viewBox: `0 0 ${board.columns} ${board.rows}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const middle = new Map(board.cells.map((cell) => [cell.id, at(cell)]));
  board.zones.forEach((zone, index) => {
    for (const id of zone) {
      const [x, y] = middle.get(id) ?? [0, 0];
      picture.append(s("rect", { class: `zone zone${index % 2 ^ (Math.floor(index / 2) % 2)}`, x: x - 0.5, y: y - 0.5, width: 1, height: 1 }));
    }
  });
  for (const [from, to] of board.edges) {
    const [[x1, y1], [x2, y2]] = [middle.get(from), middle.get(to)];
    picture.append(s("line", { class: "edge", x1, y1, x2, y2, "vector-effect": "non-scaling-stroke" }));
  }
  return picture;
}

function labels(board, flipped) {
  const side = (names, place, edge) =>
    names.map((text, index) => {
      const element = h("span", { class: `coordinate ${place}`, "aria-hidden": "true" }, text);
      const middle = ((flipped ? names.length - index - 0.5 : index + 0.5) / names.length) * 100;
      element.style[edge] = `${middle}%`;
      return element;
    });
  return [...side(board.row_labels, "beside", "top"), ...side(board.column_labels, "under", "left")];
}

/** Puts a cell where it belongs, in percent of the board. */
function put(element, [x, y], cell, board) {
  const { width, height } = cell;
  Object.assign(element.style, {
    left: `${((x - width / 2) / board.columns) * 100}%`,
    top: `${((y - height / 2) / board.rows) * 100}%`,
    width: `${(width / board.columns) * 100}%`,
    height: `${(height / board.rows) * 100}%`,
  });
  element.classList.toggle("oblong", width !== height);
  element.classList.toggle("filled", cell.stack[cell.stack.length - 1]?.shape === "block");
}

function shape(container, board) {
  container.style.setProperty("--ratio", board.columns / board.rows);
  container.style.setProperty("--columns", board.columns);
  container.classList.toggle("points", board.edges.length > 0);
  container.classList.toggle("named", board.row_labels.length + board.column_labels.length > 0);
  container.classList.toggle("dense", board.columns > 9);
  container.classList.remove("text");
}

const middleOf = (board, flipped) => (cell) => {
  const [x, y] = [cell.column + 0.5, cell.row + 0.5];
  return flipped ? [board.columns - x, board.rows - y] : [x, y];
};

export function drawBoard(container, view) {
  const board = view.shown?.board ?? view.answer.board;
  const meaning = meanings(view.answer, view.selected);
  const at = middleOf(board, view.flipped);
  const cells = [...board.cells].sort((a, b) => a.row - b.row || a.column - b.column);
  let field = container.querySelector(":scope > .field");
  const names = cells.map((cell) => cell.id);
  shape(container, board);
  if (!field || JSON.stringify(names) !== field.dataset.cells) {
    field = h("div", { class: "field" }, ...cells.map((cell) => h("button", { class: "cell", type: "button", "data-place": cell.id, onclick: () => view.onPlace(cell.id) })));
    field.dataset.cells = JSON.stringify(names);
    container.replaceChildren(field);
  }
  for (const old of field.querySelectorAll(":scope > :not(.cell)")) old.remove();
  field.prepend(ground(board, at));
  const before = new Map(view.shown ? view.answer.board.cells.map((cell) => [cell.id, JSON.stringify(cell.stack)]) : []);
  [...field.querySelectorAll(":scope > .cell")].forEach((element, index) => {
    const cell = cells[index];
    element.replaceChildren(...[cell.label ? h("span", { class: "cell-label", "aria-hidden": "true" }, cell.label) : null, cellPicture(cell, view.flipped), coveredPieces(cell)].filter(Boolean));
    put(element, at(cell), cell, board);
    element.classList.toggle("fresh", Boolean(view.fresh && view.last?.target === cell.id));
    element.classList.toggle("occupied", cell.stack.length > 0);
    element.classList.toggle("highlight", board.highlight.includes(cell.id));
    element.classList.toggle("changed", before.has(cell.id) && before.get(cell.id) !== JSON.stringify(cell.stack));
    place(cell.id, element, cellWords(cell, board), view, meaning);
  });
  field.append(...labels(board, view.flipped));
  if (view.values && view.selected === null && !view.shown) field.append(arrows(view.answer, board, at));
  oneTabStop(field, ".cell");
}

/** A small board, for the editor: `make` gives the element of a cell. */
export function drawCells(container, board, make) {
  const at = middleOf(board, false);
  shape(container, board);
  const field = h("div", { class: "field" }, ground(board, at));
  for (const cell of board.cells) {
    const element = make(cell);
    element.append(cellPicture(cell, false), ...[coveredPieces(cell)].filter(Boolean));
    put(element, at(cell), cell, board);
    field.append(element);
  }
  redraw(container, field);
  oneTabStop(field, "button.cell");
}

export function drawTrays(container, owner, view) {
  const board = view.shown?.board ?? view.answer.board;
  const meaning = meanings(view.answer, view.selected);
  const shared = (tray) => tray.piece.owner === null && owner === 0; // what is nobody's stands with the first player
  const trays = board.trays.filter((tray) => tray.piece.owner === owner || shared(tray));
  redraw(
    container,
    ...trays.map((tray) => {
      const element = h(
        "button",
        { class: `tray ${ownerClass(tray.piece.owner)}`, type: "button", disabled: tray.count === 0, "data-place": tray.id, "data-key": tray.id, onclick: () => view.onPlace(tray.id) },
        ...Array.from({ length: Math.min(tray.count, SHOWN_IN_TRAY) }, () => pieceImage(inTray(tray.piece))),
        tray.count === 0 ? pieceImage(inTray(tray.piece), "used-up") : null,
        tray.count > SHOWN_IN_TRAY ? h("span", { class: "more", "aria-hidden": "true" }, `×${tray.count}`) : null,
      );
      place(tray.id, element, `${pieceWords(tray.piece, board.players)} in reserve, ${tray.count} left`, view, meaning);
      return element;
    }),
  );
  oneTabStop(container, ".tray");
}
