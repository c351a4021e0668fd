// Draws any board that the server describes: cells in rows and columns or at any place, edges, zones, stacks and trays,
// with the values of moves on them. Cells remain the same elements while their content changes, so they keep the focus.

import { button, h, hiddenText, own, redraw, s } from "./dom.js";
import { setTabStop } from "./keyboard.js";
import { describePiece, describeStack, drawPiece, ownerClass, pieceImage, pieceOfMove } from "./pieces.js";
import { bestMoves, formatLong, formatNumber, formatShort, isSameValue, kindOf, signOf } from "./values.js";

const MAX_TRAY_IMAGES = 3;
const MAX_ARROWS = 6;

/** A piece for a tray, where small pieces are drawn larger to be readable. */
export const trayPiece = (piece) => ({ ...piece, size: 0.4 + 0.6 * piece.size });

// ---- what clicks mean ----

const groupBy = (moves, key) => {
  const groups = new Map();
  for (const move of moves) {
    if (groups.has(move[key])) groups.get(move[key]).push(move);
    else groups.set(move[key], [move]);
  }
  return groups;
};

/** The moves by target, and by every other cell that counts as their target. */
function findTargets(moves) {
  const targets = groupBy(moves, "target");
  for (const move of moves) {
    for (const id of move.region ?? []) if (!targets.has(id)) targets.set(id, targets.get(move.target));
  }
  return targets;
}

const NO_MOVES = { moves: [], board: { blocked: {} } };

/** The possible clicks in a view: none while the computer is to move. */
const clicksOf = (view) => findClicks(view.idle ? NO_MOVES : view.position, view.selected, view.landing);

/** The possible clicks: sources, targets of the selected source (or, once it has a target, pieces to capture), and
 *  impossible targets with the reasons. */
export function findClicks({ moves, board }, selected, landing = null) {
  const [bySource, byTarget] = [groupBy(moves, "source"), groupBy(moves, "target")];
  const sources = new Set([...bySource.keys(), ...Object.keys(board.blocked)]);
  sources.delete(null);
  const fromSelected = (bySource.get(selected) ?? []).filter((move) => move.target !== null);
  const captures = fromSelected.filter((move) => move.target === landing);
  return {
    sources,
    targets: landing === null ? findTargets(fromSelected) : groupBy(captures, "capture"),
    blocked: (landing === null && selected !== null && own(board.blocked, selected)) || {},
    movesFrom: (id) => bySource.get(id) ?? [],
    movesTo: (id) => byTarget.get(id) ?? [],
  };
}

// ---- values on the board ----

function makeBadge(value, best) {
  const sign = signOf(value);
  const number = formatNumber(value);
  const emphasis = best && isSameValue(value, best) ? " best" : "";
  return h(
    "span",
    { class: `badge ${kindOf(value)} own${emphasis}`, "aria-hidden": "true" },
    sign && h("span", { class: "sign" }, sign),
    h("span", { class: sign ? "number" : "" }, number && `\u2009${number}`),
  );
}

/** A move's value beside its name on a button. */
export const inlineBadge = (value) => [
  h("span", { class: `badge inline ${kindOf(value)}`, "aria-hidden": "true" }, formatShort(value)),
  hiddenText(formatLong(value)),
];

function drawArrow(move, [x1, y1], [x2, y2]) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [baseX, baseY] = [x2 - dx * 0.3, y2 - dy * 0.3]; // of the arrow head
  const head = [
    [x2 - dx * 0.1, y2 - dy * 0.1],
    [baseX - dy * 0.1, baseY + dx * 0.1],
    [baseX + dy * 0.1, baseY - dx * 0.1],
  ];
  const points = head.map((point) => point.map((number) => number.toFixed(3)).join(",")).join(" ");
  const shaft = { x1: x1 + dx * 0.3, y1: y1 + dy * 0.3, x2: baseX, y2: baseY, "stroke-width": 0.06 };
  return [
    s("line", { class: `shaft ${kindOf(move)}`, ...shaft }),
    s("polygon", { class: `head ${kindOf(move)}`, points }),
  ];
}

/** A layer over or under the cells, in the board's units. */
const makeLayer = (name, board) =>
  s("svg", {
    class: name,
    viewBox: `0 0 ${board.columns} ${board.rows}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });

/** Arrows for moves from cell to cell. */
function drawArrows(moves, board, centreOf) {
  const layer = makeLayer("arrows", board);
  const cells = new Map(board.cells.map((cell) => [cell.id, cell]));
  const drawn = new Set();
  for (const move of moves) {
    const [from, to] = [cells.get(move.source), cells.get(move.target)];
    const key = `${move.source} ${move.target}`;
    if (!from || !to || from === to || drawn.has(key) || drawn.size === MAX_ARROWS) continue;
    drawn.add(key);
    layer.append(...drawArrow(move, centreOf(from), centreOf(to)));
  }
  return layer;
}

// ---- cells and trays ----

export const describeCell = (cell, board) =>
  `${cell.label || cell.id}, ${cell.stack.length ? describeStack(cell.stack, board.players) : "empty"}`;

export function drawTopPiece(cell, flipped) {
  const top = cell.stack.at(-1);
  const [width, height] = top?.shape === "seeds" ? [cell.width, cell.height] : [1, 1];
  const viewBox = top?.shape === "block" ? null : `0 0 ${100 * width} ${100 * height}`; // a block fills its cell
  const picture = top && drawPiece(top, flipped, { width, height });
  return s("svg", { viewBox, "aria-hidden": "true", focusable: "false" }, picture);
}

/** The pieces under the top one, small in the corner; the style sheet enlarges them under the pointer. */
export function drawCoveredPieces(cell) {
  const covered = cell.stack.slice(0, -1).reverse();
  const images = covered.map((piece) => pieceImage({ ...piece, size: 0.45 + 0.5 * piece.size }));
  return covered.length > 0 && h("span", { class: "covered", "aria-hidden": "true" }, images);
}

/** The number of seeds in a pit. */
export function drawSeedCount({ stack, isPit }) {
  const text = stack.at(-1)?.shape === "seeds" ? stack.at(-1).label : isPit ? "0" : "";
  return text && h("span", { class: "seed-count", "aria-hidden": "true" }, text);
}

const cellContent = (cell, flipped) =>
  [
    cell.label && h("span", { class: "cell-label", "aria-hidden": "true" }, cell.label),
    drawTopPiece(cell, flipped),
    drawCoveredPieces(cell),
    cell.initial && h("span", { class: "initial", "aria-hidden": "true" }, cell.initial),
    cell.shape === "round" && drawSeedCount(cell),
  ].filter(Boolean);

function markPlace(id, element, { selected, landing, last, shown, advised }, clicks) {
  const isSource = clicks.sources.has(id);
  const marks = {
    target: (!shown || landing !== null) && (clicks.targets.get(id)?.some((move) => isTarget(move, id)) ?? false),
    region: !shown && clicks.targets.has(id),
    advised: advised && [advised.source, advised.target, advised.capture].includes(id),
    source: isSource && selected === null,
    selected: selected === id,
    barred: own(clicks.blocked, id) && selected !== id,
    last: last && (last.target === id || last.source === id),
    previewed: shown && (shown.target === id || shown.source === id),
  };
  for (const [name, on] of Object.entries(marks)) element.classList.toggle(name, Boolean(on));
  if (isSource) element.setAttribute("aria-pressed", String(selected === id));
  else element.removeAttribute("aria-pressed");
}

const isTarget = (move, id) => move.target === id || move.capture === id;

/** Badges and words for a target of the selected piece. */
function explainTarget(moves, { values, best }) {
  const [first, ...others] = moves;
  const more = others.length ? `, or ${others.length} more` : "";
  if (!values) return { words: [`legal: ${first.move}${more}`] };
  return { badges: [makeBadge(first, best)], words: [`${first.move}: ${formatLong(first)}${more}`] };
}

/** The badge and words for the best move from a place, while no piece is selected. */
function explainBestMoves(id, { best }, clicks) {
  const [from] = clicks.movesFrom(id);
  if (!from) return {};
  return { badges: [makeBadge(from, best)], words: [`best from here: ${formatLong(from)}`] };
}

function explainPlace(id, view, clicks) {
  const { selected, values, shown, landing } = view;
  const targets = shown && landing === null ? null : clicks.targets.get(id)?.filter((move) => isTarget(move, id));
  const reason = own(clicks.blocked, id);
  if (targets?.length) return explainTarget(targets, view);
  if (!shown && selected === null && values) return explainBestMoves(id, view, clicks);
  if (reason && selected !== id) return { title: reason, words: [`not possible: ${reason}`] };
  return {};
}

/** Updates a cell or a tray: its classes, badges and accessible name. */
function updatePlace(id, element, description, view, clicks) {
  const { badges = [], words = [], title } = explainPlace(id, view, clicks);
  markPlace(id, element, view, clicks);
  element.removeAttribute("title");
  if (title) element.title = title;
  element.append(...badges, hiddenText([description, ...words.filter(Boolean)].join(". ")));
}

// ---- the board ----

export function drawGround(board, centreOf) {
  const layer = makeLayer("ground", board);
  const centres = new Map(board.cells.map((cell) => [cell.id, centreOf(cell)]));
  board.zones.forEach((zone, index) => {
    const shade = (index % 2) ^ (Math.floor(index / 2) % 2); // like a chessboard
    for (const id of zone) {
      const [x, y] = centres.get(id) ?? [0, 0];
      layer.append(s("rect", { class: `zone zone${shade}`, x: x - 0.5, y: y - 0.5, width: 1, height: 1 }));
    }
  });
  for (const [from, to] of board.edges) {
    const [[x1, y1], [x2, y2]] = [centres.get(from), centres.get(to)];
    layer.append(s("line", { class: "edge", x1, y1, x2, y2, "vector-effect": "non-scaling-stroke" }));
  }
  return layer;
}

function drawCoordinates(board, flipped) {
  const drawSide = (names, side, edge) =>
    names.map((text, index) => {
      const element = h("span", { class: `coordinate ${side}`, "aria-hidden": "true" }, text);
      const centre = (flipped ? names.length - index - 0.5 : index + 0.5) / names.length;
      element.style[edge] = `${centre * 100}%`;
      return element;
    });
  return [...drawSide(board.row_labels, "beside", "top"), ...drawSide(board.column_labels, "under", "left")];
}

export function placeCell(element, [x, y], cell, board) {
  const { width, height } = cell;
  Object.assign(element.style, {
    left: `${((x - width / 2) / board.columns) * 100}%`,
    top: `${((y - height / 2) / board.rows) * 100}%`,
    width: `${(width / board.columns) * 100}%`,
    height: `${(height / board.rows) * 100}%`,
  });
  element.classList.toggle("oblong", width !== height && cell.shape !== "round");
  element.classList.toggle("dot-cell", Math.max(width, height) < 0.5);
  element.classList.toggle("round", cell.shape === "round");
  element.classList.toggle("filled", cell.stack.at(-1)?.shape === "block");
}

const hasSeeds = (board) => board.cells.some((cell) => cell.stack.at(-1)?.shape === "seeds");

export function shapeBoard(container, board) {
  container.style.setProperty("--ratio", board.columns / board.rows);
  container.style.setProperty("--columns", board.columns);
  container.classList.toggle("points", board.edges.length > 0);
  container.classList.toggle("named", board.row_labels.length + board.column_labels.length > 0);
  container.classList.toggle("dense", board.columns > 9);
  container.classList.toggle("pits", hasSeeds(board));
  container.closest("main")?.style.setProperty("--ratio", board.columns / board.rows);
  container.classList.remove("text");
}

export const makeCentreOf = (board, flipped) => (cell) => {
  const [x, y] = [cell.column + 0.5, cell.row + 0.5];
  return flipped ? [board.columns - x, board.rows - y] : [x, y];
};

/** The element with the cells: the present one if it has the same cells, otherwise a new one. */
function prepareField(container, cells, onPlace) {
  const key = JSON.stringify(cells.map((cell) => cell.id));
  const present = container.querySelector(":scope > .field");
  if (present?.dataset.cells === key) {
    for (const old of present.querySelectorAll(":scope > :not(.cell)")) old.remove();
    return present;
  }
  const makeCell = ({ id }) => button({ class: "cell", "data-place": id, onclick: () => onPlace(id) });
  const field = h("div", { class: "field", "data-cells": key }, cells.map(makeCell));
  container.replaceChildren(field);
  return field;
}

const stacksById = (board) => new Map(board.cells.map((cell) => [cell.id, JSON.stringify(cell.stack)]));

/** A cell that a player has claimed, such as a box, as a piece of that player's with the initial of the name. */
function drawOwner(cell, board, owners) {
  const owner = own(owners, cell.id);
  const top = cell.stack.at(-1);
  if (owner === undefined || !top) return cell;
  const label = (board.players[owner] ?? "").charAt(0);
  return { ...cell, stack: [...cell.stack.slice(0, -1), { ...top, owner, label, name: "box" }], initial: label };
}

/** Draws the board of a view, which view.js makes. */
export function drawBoard(container, view) {
  const { position, shown, last, fresh, flipped } = view;
  const board = shown?.board ?? position.board;
  const clicks = clicksOf(view);
  const centreOf = makeCentreOf(board, flipped);
  const isPit = hasSeeds(board);
  const owned = board.cells.map((cell) => ({ ...drawOwner(cell, board, view.owners), isPit }));
  const cells = owned.sort((a, b) => a.row - b.row || a.column - b.column);
  const before = shown ? stacksById(position.board) : new Map();
  shapeBoard(container, board);
  const field = prepareField(container, cells, view.onPlace);
  [...field.querySelectorAll(":scope > .cell")].forEach((element, index) => {
    const cell = cells[index];
    const wasChanged = before.has(cell.id) && before.get(cell.id) !== JSON.stringify(cell.stack);
    element.replaceChildren(...cellContent(cell, flipped));
    placeCell(element, centreOf(cell), cell, board);
    element.classList.toggle("fresh", Boolean(fresh && last?.target === cell.id));
    element.classList.toggle("occupied", cell.stack.length > 0);
    element.classList.toggle("highlight", board.highlight.includes(cell.id));
    element.classList.toggle("changed", wasChanged);
    updatePlace(cell.id, element, describeCell(cell, board), view, clicks);
  });
  field.prepend(drawGround(board, centreOf));
  field.append(...drawCoordinates(board, flipped));
  if (view.advised)
    field.append(drawArrows([{ ...view.advised, outcome: null }], board, centreOf)); // no value
  else if (view.values && view.selected === null && !shown && view.best?.outcome !== "loss") {
    field.append(drawArrows(bestMoves(position.moves), board, centreOf));
  }
  setTabStop(field, ".cell");
  container.ghost = { position, view, clicks };
}

/** Shows the piece that a click on this cell would place; null shows none. */
export function showGhost(container, id) {
  for (const ghost of container.querySelectorAll(".ghost")) ghost.remove();
  const { position, view, clicks } = container.ghost ?? {};
  const move = id !== null && !view?.shown && view?.selected === null && clicks?.targets.get(id)?.[0];
  const piece = move && pieceOfMove(move, position.board);
  const cell = piece && position.board.cells.find((each) => each.id === move.target);
  if (!cell || cell.stack.length) return;
  const element = container.querySelector(`.cell[data-place="${CSS.escape(move.target)}"]`);
  element?.append(pieceImage(piece, "ghost"));
}

function makeTray(tray, onPlace) {
  const image = trayPiece(tray.piece);
  return button(
    {
      class: `tray ${ownerClass(tray.piece.owner)}`,
      disabled: tray.count === 0,
      "data-place": tray.id,
      "data-key": tray.id,
      onclick: () => onPlace(tray.id),
    },
    Array.from({ length: Math.min(tray.count, MAX_TRAY_IMAGES) }, () => pieceImage(image)),
    tray.count === 0 && pieceImage(image, "used-up"),
    tray.count > MAX_TRAY_IMAGES && h("span", { class: "more", "aria-hidden": "true" }, `×${tray.count}`),
  );
}

/** Draws a player's reserve. Pieces without an owner are shown beside the first player. */
export function drawTrays(container, owner, view) {
  const board = view.shown?.board ?? view.position.board;
  const clicks = clicksOf(view);
  const elements = board.trays
    .filter((tray) => (tray.piece.owner ?? 0) === owner)
    .map((tray) => {
      const element = makeTray(tray, view.onPlace);
      const description = `${describePiece(tray.piece, board.players)} in reserve, ${tray.count} left`;
      updatePlace(tray.id, element, description, view, clicks);
      return element;
    });
  redraw(container, ...elements);
  setTabStop(container, ".tray");
}
