// Sets a position up by clicking. It only writes the text that the board's spelling gives; the server judges it.

import { cellWords, drawCells, inTray } from "./board.js";
import { $, h, redraw } from "./dom.js";
import { pieceImage, pieceWords } from "./pieces.js";

/** The text of a board: labels bottom up, cell by cell, row by row. */
function spell(board) {
  const { empty, between_cells: betweenCells, between_rows: betweenRows, ending } = board.spelling;
  const rows = Array.from({ length: Math.ceil(board.rows) }, (_, row) =>
    board.cells
      .filter((cell) => cell.row === row)
      .sort((a, b) => a.column - b.column)
      .map((cell) => cell.stack.map((piece) => piece.label).join("") || empty)
      .join(betweenCells),
  );
  return rows.join(betweenRows) + ending[board.to_move];
}

const choice = (label, chosen, act, ...content) =>
  h("button", { type: "button", "aria-label": label, "aria-pressed": String(chosen), "data-key": label, onclick: act }, ...content);

/** Wires it up: `onText` is told the text after every click. Returns what shows another board to begin from. */
export function startSetup(onText) {
  let board = null;
  let first = true;
  let chosen = null; // the piece to place; null takes the top one away

  const change = (act) => {
    act();
    draw();
    onText(spell(board));
  };

  const click = (cell) => change(() => (cell.stack = chosen ? [...cell.stack, chosen] : cell.stack.slice(0, -1)));

  const choose = (piece) => {
    chosen = piece;
    draw();
  };

  function draw() {
    const { pieces, ending } = board.spelling;
    const isChosen = (piece) => chosen?.label === piece.label;
    redraw(
      $("setup-pieces"),
      ...pieces.map((piece) => choice(pieceWords(piece, board.players), isChosen(piece), () => choose(piece), pieceImage(inTray(piece)))),
      choice("Take away", chosen === null, () => choose(null), "Take away"),
    );
    drawCells($("setup-board"), board, (cell) =>
      h("button", { class: "cell", type: "button", tabindex: "-1", "data-key": cell.id, onclick: () => click(cell) },
        h("span", { class: "visually-hidden" }, cellWords(cell, board))),
    );
    const movers = ending[0] === ending[1] ? [] : board.players;
    redraw(
      $("setup-mover"),
      ...movers.map((name, owner) => choice(`${name} to move`, board.to_move === owner, () => change(() => (board.to_move = owner)), `${name} to move`)),
    );
  }

  return (shown) => {
    $("setup").hidden = !shown?.spelling;
    if (!shown?.spelling) return;
    board = { ...shown, cells: shown.cells.map((cell) => ({ ...cell })) };
    const { pieces } = board.spelling;
    if (first || (chosen && !pieces.some((piece) => piece.label === chosen.label))) [chosen] = pieces;
    first = false;
    draw();
  };
}
