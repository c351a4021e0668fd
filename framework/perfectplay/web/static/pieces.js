// Draws one piece as SVG in a square of 100 × 100. The shapes are those of the board hook; a piece of any other shape
// is drawn as its label.

import { s } from "./dom.js";

/** Points on a circle, or at the distance that `radius` gives for each. */
const pointsAround = (count, radius) =>
  Array.from({ length: count }, (_, index) => {
    const angle = (2 * Math.PI * index) / count - Math.PI / 2;
    const distance = radius(index);
    return [Math.cos(angle) * distance, Math.sin(angle) * distance];
  });

const OUTLINES = new Map([
  ["square", [[-0.84, -0.84], [0.84, -0.84], [0.84, 0.84], [-0.84, 0.84]]], // prettier-ignore
  ["triangle", [[0, -0.98], [1.04, 0.82], [-1.04, 0.82]]], // prettier-ignore
  ["diamond", [[0, -1.05], [1.05, 0], [0, 1.05], [-1.05, 0]]], // prettier-ignore
  ["pentagon", [[0, -1.05], [0.78, -0.55], [0.95, 0.95], [-0.95, 0.95], [-0.78, -0.55]]], // prettier-ignore
  ["hexagon", pointsAround(6, () => 1.02)],
  ["star", pointsAround(10, (index) => (index % 2 ? 0.45 : 1.08)).map(([x, y]) => [x, y + 0.05])],
  // prettier-ignore
  ["cross", [
    [0, -0.38], [0.62, -1], [1, -0.62], [0.38, 0], [1, 0.62], [0.62, 1],
    [0, 0.38], [-0.62, 1], [-1, 0.62], [-0.38, 0], [-1, -0.62], [-0.62, -1],
  ]],
]);

const WITHOUT_LABEL = ["cross", "ring", "block"]; // the shape shows what the piece is, or leaves no room

export const ownerClass = (owner) => (owner === 0 || owner === 1 ? `owner${owner}` : "neutral");

const formatPoints = (points, radius) =>
  points.map(([x, y]) => `${(50 + x * radius).toFixed(2)},${(50 + y * radius).toFixed(2)}`).join(" ");

const drawCircle = (radius, paint) => [
  s("circle", { class: "shadow", cx: 50, cy: 52.5, r: radius }),
  s("circle", { ...paint, cx: 50, cy: 50, r: radius }),
  s("circle", { class: "rim", cx: 50, cy: 50, r: radius * 0.76 }),
];

const drawRing = (radius, paint) => {
  const inner = radius * 0.52;
  const circle = (r, sweep) => `M${50 - r} 50a${r} ${r} 0 1 ${sweep} ${2 * r} 0a${r} ${r} 0 1 ${sweep} ${-2 * r} 0z`;
  return s("path", { ...paint, d: circle(radius, 1) + circle(inner, 0), "fill-rule": "evenodd" });
};

const MAX_SEEDS = 30;

/** Seeds in a spiral; the cell shows their number. `width` and `height` are those of the cell. */
function drawSeeds(piece, paint, { width, height }) {
  const count = Number(piece.label);
  const [x, y, reach] = [50 * width, 50 * height, Math.min(30, 5 + 5.5 * Math.sqrt(count))];
  const seeds = Array.from({ length: Math.min(count, MAX_SEEDS) }, (_, index) => {
    const distance = reach * Math.sqrt((index + (count > 1 ? 0.5 : 0)) / Math.max(1, Math.min(count, MAX_SEEDS)));
    const angle = index * 2.39996; // the golden angle spreads them evenly
    const place = { cx: x + distance * Math.cos(angle) * width, cy: y - 6 + distance * Math.sin(angle) * height };
    return s("circle", { ...paint, ...place, r: 5.6 });
  });
  return seeds;
}

function drawBlock(size, paint) {
  const [corner, side] = [`${50 - 50 * size}%`, `${100 * size}%`];
  return s("rect", { ...paint, x: corner, y: corner, width: side, height: side });
}

function drawPolygon(outline, radius, paint) {
  const shadow = outline.map(([x, y]) => [x, y + 0.06]);
  return [
    s("polygon", { class: "shadow", points: formatPoints(shadow, radius * 0.9) }),
    s("polygon", { ...paint, points: formatPoints(outline, radius * 0.9), "stroke-linejoin": "round" }),
  ];
}

/** A pentagon points away from its owner, who sits below, or above if it is the second player. */
function outlineOf(piece, flipped) {
  const outline = OUTLINES.get(piece.shape);
  const pointsDown = piece.shape === "pentagon" && (piece.owner === 1) !== flipped;
  return pointsDown ? outline.map(([x, y]) => [x, -y]) : outline;
}

function drawLabel(piece, radius, isBare) {
  const height = (isBare ? radius * 1.5 : Math.max(13, radius * 0.62)) / Math.max(1, [...piece.label].length * 0.55);
  const offset = piece.shape === "triangle" ? radius * 0.25 : 0;
  const name = isBare ? `label bare ${ownerClass(piece.owner)}` : "label";
  return s("text", { class: name, x: 50, y: 50 + offset, "font-size": height.toFixed(1) }, piece.label);
}

/** The shapes of a piece, for an SVG with viewBox 0 0 100 100. `flipped`: as the second player sees it. */
export function drawPiece(piece, flipped = false, cell = { width: 1, height: 1 }) {
  const radius = 46 * piece.size;
  const name = ownerClass(piece.owner);
  const paint = { fill: `url(#${name})`, class: "body" };
  const outline = outlineOf(piece, flipped);
  const isCircle = piece.shape === "circle";
  const group = (...parts) => s("g", { class: `piece ${name}` }, ...parts);
  if (piece.shape === "block") return group(drawBlock(piece.size, paint));
  if (piece.shape === "ring") return group(drawRing(radius, paint));
  if (piece.shape === "seeds") return group(drawSeeds(piece, paint, cell));
  return group(
    isCircle && drawCircle(radius, paint),
    outline && drawPolygon(outline, radius, paint),
    !WITHOUT_LABEL.includes(piece.shape) && drawLabel(piece, radius, !isCircle && !outline),
  );
}

/** A separate picture of a piece, for trays and buttons. */
export const pieceImage = (piece, ...classes) =>
  s(
    "svg",
    { class: ["piece-image", ...classes].join(" "), viewBox: "0 0 100 100", "aria-hidden": "true" },
    drawPiece(piece),
  );

const WITHOUT_PICTURE = ["block", "seeds", "text"]; // what is placed there is no piece

/** The piece that a move moves or places, if there is one. */
export function pieceOfMove({ source }, { cells, trays, spelling, to_move: mover }) {
  const tray = trays.find((each) => each.id === source)?.piece;
  const pieces = [...(spelling?.pieces ?? []), ...cells.flatMap((cell) => cell.stack)];
  const usual = () => pieces.find((piece) => piece.owner === mover && !WITHOUT_PICTURE.includes(piece.shape));
  const piece = tray ?? cells.find((cell) => cell.id === source)?.stack.at(-1) ?? usual();
  return WITHOUT_PICTURE.includes(piece?.shape) ? undefined : piece;
}

export function describePiece(piece, players) {
  const owner = piece.owner === null ? "" : `${players[piece.owner] ?? ""} `;
  const label =
    piece.shape === "seeds" ? `${piece.label} seed${piece.label === "1" ? "" : "s"}` : piece.name || piece.label;
  return `${owner}${label}`.trim() || "piece";
}

/** "Orange large over Blue small", from the visible top down. */
export function describeStack(stack, players) {
  const [top, ...covered] = [...stack].reverse().map((piece) => describePiece(piece, players));
  return covered.length ? `${top} over ${covered.join(", ")}` : top;
}
