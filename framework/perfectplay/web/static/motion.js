// Shows the last move in motion: pieces slide from source to target, stones fall, seeds are sown one by one, and
// captured pieces leave. Nothing moves where the user prefers reduced motion.

import { h } from "./dom.js";
import { pieceImage } from "./pieces.js";
import { SOWING, state } from "./state.js";
import { drawPlaces } from "./view.js";

const SLIDE = 240; // milliseconds
const MAX_SOWN = 24;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const findPlace = (id) => (id === null ? null : document.querySelector(`[data-place="${CSS.escape(id)}"]`));

function centreOf(element) {
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The board with the selected piece on its target, while the piece to capture is being chosen. */
export function boardAfterLanding(board, source, target) {
  const cells = board.cells.map((cell) => ({ ...cell }));
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  const tray = board.trays.find((each) => each.id === source);
  const piece = tray?.piece ?? byId.get(source)?.stack.at(-1);
  if (!tray && byId.has(source)) byId.get(source).stack = byId.get(source).stack.slice(0, -1);
  if (piece) byId.get(target).stack = [...byId.get(target).stack, piece];
  const trays = board.trays.map((each) => (each === tray ? { ...each, count: each.count - 1 } : each));
  return { ...board, cells, trays };
}

/** Marks the source and the target of a move that a slow server has not answered, while `isPending`. */
export function markMove({ source, target }, replay, isPending) {
  const { board } = replay.position;
  if (!isPending() || state.replay !== replay || state.preview || !board) return;
  state.preview = { board, source, target };
  drawPlaces();
}

/** Moves the piece on `element` to its place from the place `from`. */
function slide(from, element, options = {}) {
  const picture = element?.querySelector(":scope > svg");
  if (!from || !picture) return;
  const [[x1, y1], [x2, y2]] = [centreOf(from), centreOf(element)];
  const frames = [{ transform: `translate(${x1 - x2}px, ${y1 - y2}px)` }, { transform: "none" }];
  element.classList.add("moving-piece");
  const animation = picture.animate(frames, { duration: SLIDE, easing: "ease-in-out", ...options });
  animation.finished.then(
    () => element.classList.remove("moving-piece"),
    () => {},
  );
}

/** An element over a cell with what it showed before, which disappears after `delay`. */
function coverCell(field, element, piece, { delay, fades }) {
  const { left, top, width, height } = element.style;
  const cover = h(
    "span",
    { class: `cover${fades ? " fades" : ""}`, "aria-hidden": "true" },
    piece && pieceImage(piece),
  );
  Object.assign(cover.style, { left, top, width, height });
  field.append(cover);
  const frames = fades ? [{ opacity: 1 }, { opacity: 0, transform: "scale(0.4)" }] : [{ opacity: 1 }, { opacity: 1 }];
  cover
    .animate(frames, { duration: fades ? SLIDE : delay, delay: fades ? delay : 0 })
    .finished.finally(() => cover.remove());
}

/** Shows seeds that fly from a pit to each cell of the path; a cell shows its new number when its seed arrives. Seeds are
 *  captured at the end. */
function sow(field, { target, path }, before, after) {
  const from = findPlace(target);
  const old = new Map(before.cells.map((cell) => [cell.id, cell.stack.at(-1)]));
  const arrivals = new Map(); // of the first seed in each cell
  const [x0, y0] = centreOf(from);
  const origin = field.getBoundingClientRect();
  path.slice(0, MAX_SOWN).forEach((id, index) => {
    const to = findPlace(id);
    if (!to) return;
    if (!arrivals.has(id)) arrivals.set(id, (index + 1) * SOWING);
    const [x, y] = centreOf(to);
    const seed = h("span", { class: "flying-seed", "aria-hidden": "true" });
    Object.assign(seed.style, { left: `${x - origin.x}px`, top: `${y - origin.y}px` });
    field.append(seed);
    const frames = [
      { transform: `translate(${x0 - x}px, ${y0 - y}px)`, opacity: 1 },
      { transform: "none", opacity: 1 },
    ];
    seed.animate(frames, { duration: SOWING, delay: index * SOWING }).finished.finally(() => seed.remove());
  });
  const end = Math.min(path.length, MAX_SOWN) * SOWING;
  for (const { id, stack } of after.cells) {
    const isCaptured = id !== target && !arrivals.has(id) && stack.at(-1)?.label !== old.get(id)?.label;
    if (isCaptured) arrivals.set(id, end);
  }
  for (const [id, delay] of arrivals) coverCell(field, findPlace(id), old.get(id), { delay, fades: false });
}

/** Animates the last move, from the board `before` to the board `after`. */
export function animateMove(container, last, before, after) {
  const field = container.querySelector(".field");
  if (reducedMotion.matches || !last || !before || !field) return;
  const target = findPlace(last.target);
  if (!target) return;
  if (last.path.length) return sow(field, last, before, after);
  for (const [from, to] of last.shifts) slide(findPlace(from), findPlace(to));
  if (last.source !== null) slide(findPlace(last.source), target);
  else if (last.region.length) slide(findPlace(last.region[0]), target, { easing: "cubic-bezier(0.5, 0, 0.9, 0.6)" });
  const captured = last.capture !== null && before.cells.find((cell) => cell.id === last.capture)?.stack.at(-1);
  if (captured) coverCell(field, findPlace(last.capture), captured, { delay: SLIDE, fades: true });
}
