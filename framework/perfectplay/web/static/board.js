// Draws any board the server describes: cells with stacks, trays with reserves, marks for what moves are worth.

import { h, s } from "./dom.js";
import { drawPiece, ownerClass, pieceImage, pieceWords } from "./pieces.js";
import { kind, long, short } from "./words.js";

const SHOWN_IN_TRAY = 3;

/** Trays are small: sizes stay apart there, but the smallest must be readable. */
export const inTray = (piece) => ({ ...piece, size: 0.4 + 0.6 * piece.size });

/** The best move among some, as the server orders them. */
const bestOf = (moves) => moves.find((move) => move.outcome) ?? moves[0];

/** What every place means at the moment: its moves, whether it is a source, why it is barred. */
export function meanings(answer, selected) {
  const { moves, board } = answer;
  const sources = new Set([...moves.map((move) => move.source).filter(Boolean), ...Object.keys(board.blocked)]);
  const targets = new Map();
  for (const move of moves) {
    if (move.source === selected && move.target) targets.set(move.target, [...(targets.get(move.target) ?? []), move]);
  }
  const barred = (selected && board.blocked[selected]) || {};
  return {
    sources,
    targets,
    barred,
    movesFrom: (id) => moves.filter((move) => move.source === id),
  };
}

function badge(value, role) {
  return h("span", { class: `badge ${kind(value)} ${role}`, "aria-hidden": "true" }, short(value));
}

export function cellWords(cell, board) {
  if (!cell.stack.length) return `${cell.id}, empty`;
  const [top, ...below] = [...cell.stack].reverse().map((piece) => pieceWords(piece, board.players));
  return `${cell.id}, ${top}${below.length ? ` over ${below.join(", ")}` : ""}`;
}

function cellPicture(cell) {
  const picture = s("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" });
  if (cell.stack.length) picture.append(drawPiece(cell.stack[cell.stack.length - 1]));
  return picture;
}

/** Pieces under the top one: small in the corner, and large beside each other while the cell is pointed at. */
function coveredPieces(cell) {
  const covered = cell.stack.slice(0, -1).reverse();
  if (!covered.length) return null;
  return h("span", { class: "covered", "aria-hidden": "true" }, ...covered.map((piece) => pieceImage({ ...piece, size: 0.95 })));
}

/** One place's looks and words. `view` is {answer, selected, hints, preview, lastMove, onPlace}. */
function place(id, element, words, view, meaning) {
  const { selected, hints, preview, lastMove } = view;
  const targeted = meaning.targets.get(id);
  const isSource = meaning.sources.has(id);
  const reason = meaning.barred[id];
  element.dataset.place = id;
  element.classList.toggle("target", Boolean(targeted));
  element.classList.toggle("source", isSource && !selected);
  element.classList.toggle("selected", selected === id);
  element.classList.toggle("barred", Boolean(reason) && selected !== id);
  element.classList.toggle("last", lastMove?.target === id || lastMove?.source === id);
  element.classList.toggle("previewed", preview?.target === id || preview?.source === id);
  const said = [words];
  if (targeted) {
    const best = bestOf(targeted);
    if (hints) element.append(badge(best, "on-target"));
    said.push(hints ? `${best.move}: ${long(best)}` : `legal: ${best.move}`);
  } else if (isSource && !selected) {
    const own = meaning.movesFrom(id);
    if (hints && own.length) element.append(badge(bestOf(own), "on-source"));
    if (own.length && hints) said.push(`best: ${long(bestOf(own))}`);
  } else if (reason && selected !== id) {
    element.title = reason;
    said.push(`not possible: ${reason}`);
  }
  element.append(h("span", { class: "said visually-hidden" }, said.join(". "))); // its name: the rest is decoration
  if (isSource) element.setAttribute("aria-pressed", String(selected === id));
  element.addEventListener("click", () => view.onPlace(id));
}

export function drawBoard(container, view) {
  const { board } = view.answer;
  const meaning = meanings(view.answer, view.selected);
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.place : null;
  container.style.setProperty("--rows", board.rows);
  container.style.setProperty("--columns", board.columns);
  const cells = [...board.cells].sort((a, b) => a.row - b.row || a.column - b.column);
  container.replaceChildren(
    ...cells.map((cell) => {
      const row = view.flipped ? board.rows - cell.row : cell.row + 1;
      const column = view.flipped ? board.columns - cell.column : cell.column + 1;
      const element = h("button", { class: "cell", type: "button" }, cellPicture(cell), coveredPieces(cell));
      element.style.gridRow = row;
      element.style.gridColumn = column;
      if (view.lastMove?.target === cell.id && view.fresh) element.classList.add("fresh");
      if (view.preview?.target === cell.id && view.preview.ghost) {
        element.querySelector("svg").append(s("g", { class: "ghost" }, drawPiece(view.preview.ghost)));
      }
      place(cell.id, element, cellWords(cell, board), view, meaning);
      return element;
    }),
  );
  if (focused) container.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

/** A small board, for the editor: `make` gives the element of a cell. */
export function drawCells(container, board, make) {
  container.style.setProperty("--rows", board.rows);
  container.style.setProperty("--columns", board.columns);
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
  container.replaceChildren(
    ...board.cells.map((cell) => {
      const element = make(cell);
      element.append(cellPicture(cell), ...[coveredPieces(cell)].filter(Boolean));
      element.style.gridRow = cell.row + 1;
      element.style.gridColumn = cell.column + 1;
      return element;
    }),
  );
  if (focused) container.querySelector(`[data-cell="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

export function drawTrays(container, owner, view) {
  const { board } = view.answer;
  const meaning = meanings(view.answer, view.selected);
  const focused = container.contains(document.activeElement) ? document.activeElement.dataset.place : null;
  const shared = (tray) => tray.piece.owner === null && owner === 0; // what is nobody's stands with the first player
  const trays = board.trays.filter((tray) => tray.piece.owner === owner || shared(tray));
  container.replaceChildren(
    ...trays.map((tray) => {
      const shown = Math.min(tray.count, SHOWN_IN_TRAY);
      const element = h(
        "button",
        { class: `tray ${ownerClass(tray.piece.owner)}`, type: "button", disabled: tray.count === 0 },
        ...Array.from({ length: shown }, () => pieceImage(inTray(tray.piece))),
        tray.count === 0 ? pieceImage(inTray(tray.piece), "used-up") : null,
        tray.count > SHOWN_IN_TRAY ? h("span", { class: "more", "aria-hidden": "true" }, `×${tray.count}`) : null,
      );
      const words = `${pieceWords(tray.piece, board.players)} in reserve, ${tray.count} left`;
      place(tray.id, element, words, view, meaning);
      return element;
    }),
  );
  if (focused) container.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}
