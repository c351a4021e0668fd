// Draws one piece as SVG, in a square of 100 × 100. Shapes are the board hook's; others are drawn as their label.

import { s } from "./dom.js";

function polygon(points, radius) {
  return points.map(([x, y]) => `${(50 + x * radius).toFixed(2)},${(50 + y * radius).toFixed(2)}`).join(" ");
}

const STAR = Array.from({ length: 10 }, (_, i) => {
  const angle = (Math.PI * i) / 5 - Math.PI / 2;
  const reach = i % 2 ? 0.45 : 1.05;
  return [Math.cos(angle) * reach, Math.sin(angle) * reach + 0.05];
});
const CROSS = [
  [-0.34, -1], [0.34, -1], [0.34, -0.34], [1, -0.34], [1, 0.34], [0.34, 0.34],
  [0.34, 1], [-0.34, 1], [-0.34, 0.34], [-1, 0.34], [-1, -0.34], [-0.34, -0.34],
];
const OUTLINES = {
  square: [[-0.84, -0.84], [0.84, -0.84], [0.84, 0.84], [-0.84, 0.84]],
  triangle: [[0, -0.98], [1.04, 0.82], [-1.04, 0.82]],
  diamond: [[0, -1.05], [1.05, 0], [0, 1.05], [-1.05, 0]],
  cross: CROSS,
  star: STAR,
};

export const ownerClass = (owner) => (owner === null ? "nobody" : `owner${owner}`);

/** A group of shapes for a piece, to be put into an SVG with viewBox 0 0 100 100. */
export function drawPiece(piece) {
  const radius = 46 * piece.size;
  const name = ownerClass(piece.owner);
  const paint = { fill: `url(#${name})`, class: "body" };
  const group = s("g", { class: `piece ${name}` });
  if (piece.shape === "circle") {
    group.append(
      s("circle", { class: "shadow", cx: 50, cy: 52.5, r: radius }),
      s("circle", { ...paint, cx: 50, cy: 50, r: radius }),
      s("circle", { class: "rim", cx: 50, cy: 50, r: radius * 0.76 }),
    );
  } else if (OUTLINES[piece.shape]) {
    const outline = OUTLINES[piece.shape];
    group.append(
      s("polygon", { class: "shadow", points: polygon(outline.map(([x, y]) => [x, y + 0.06]), radius * 0.9) }),
      s("polygon", { ...paint, points: polygon(outline, radius * 0.9), "stroke-linejoin": "round" }),
    );
  }
  const bare = piece.shape !== "circle" && !OUTLINES[piece.shape];
  const height = bare ? radius * 1.5 : Math.max(13, radius * 0.62);
  const lower = piece.shape === "triangle" ? radius * 0.25 : 0;
  group.append(
    s("text", { class: bare ? `label bare ${name}` : "label", x: 50, y: 50 + lower, "font-size": height.toFixed(1) }, piece.label),
  );
  return group;
}

/** A picture of its own, for trays and chips. */
export const pieceImage = (piece, ...classes) =>
  s("svg", { class: ["piece-image", ...classes].join(" "), viewBox: "0 0 100 100", "aria-hidden": "true" }, drawPiece(piece));

export function pieceWords(piece, players) {
  const whose = piece.owner === null ? "" : `${players[piece.owner]} `;
  return `${whose}${piece.label}`;
}
