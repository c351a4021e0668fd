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
    [-0.34, -1], [0.34, -1], [0.34, -0.34], [1, -0.34], [1, 0.34], [0.34, 0.34],
    [0.34, 1], [-0.34, 1], [-0.34, 0.34], [-1, 0.34], [-1, -0.34], [-0.34, -0.34],
  ]],
]);

export const ownerClass = (owner) => (owner === 0 || owner === 1 ? `owner${owner}` : "neutral");

const formatPoints = (points, radius) =>
  points.map(([x, y]) => `${(50 + x * radius).toFixed(2)},${(50 + y * radius).toFixed(2)}`).join(" ");

const drawCircle = (radius, paint) => [
  s("circle", { class: "shadow", cx: 50, cy: 52.5, r: radius }),
  s("circle", { ...paint, cx: 50, cy: 50, r: radius }),
  s("circle", { class: "rim", cx: 50, cy: 50, r: radius * 0.76 }),
];

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
export function drawPiece(piece, flipped = false) {
  const radius = 46 * piece.size;
  const name = ownerClass(piece.owner);
  const paint = { fill: `url(#${name})`, class: "body" };
  const outline = outlineOf(piece, flipped);
  const isCircle = piece.shape === "circle";
  if (piece.shape === "block") return s("g", { class: `piece ${name}` }, drawBlock(piece.size, paint)); // no label fits
  return s(
    "g",
    { class: `piece ${name}` },
    isCircle && drawCircle(radius, paint),
    outline && drawPolygon(outline, radius, paint),
    drawLabel(piece, radius, !isCircle && !outline),
  );
}

/** A separate picture of a piece, for trays and buttons. */
export const pieceImage = (piece, ...classes) =>
  s(
    "svg",
    { class: ["piece-image", ...classes].join(" "), viewBox: "0 0 100 100", "aria-hidden": "true" },
    drawPiece(piece),
  );

export function describePiece(piece, players) {
  const owner = piece.owner === null ? "" : `${players[piece.owner] ?? ""} `;
  return `${owner}${piece.label}`.trim() || "piece";
}

/** "Orange L over Blue s", from the visible top down. */
export function describeStack(stack, players) {
  const [top, ...covered] = [...stack].reverse().map((piece) => describePiece(piece, players));
  return covered.length ? `${top} over ${covered.join(", ")}` : top;
}
