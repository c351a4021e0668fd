// Draws one piece as SVG, in a square of 100 × 100. Shapes are the board hook's; others are drawn as their label.

import { s } from "./dom.js";

function polygon(points, radius) {
  return points.map(([x, y]) => `${(50 + x * radius).toFixed(2)},${(50 + y * radius).toFixed(2)}`).join(" ");
}

const around = (count, reach, turn = -Math.PI / 2) =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count + turn;
    const far = typeof reach === "function" ? reach(i) : reach;
    return [Math.cos(angle) * far, Math.sin(angle) * far];
  });

const OUTLINES = new Map([
  ["square", [[-0.84, -0.84], [0.84, -0.84], [0.84, 0.84], [-0.84, 0.84]]],
  ["triangle", [[0, -0.98], [1.04, 0.82], [-1.04, 0.82]]],
  ["diamond", [[0, -1.05], [1.05, 0], [0, 1.05], [-1.05, 0]]],
  ["pentagon", [[0, -1.05], [0.78, -0.55], [0.95, 0.95], [-0.95, 0.95], [-0.78, -0.55]]],
  ["hexagon", around(6, 1.02)],
  ["star", around(10, (i) => (i % 2 ? 0.45 : 1.08)).map(([x, y]) => [x, y + 0.05])],
  ["cross", [
    [-0.34, -1], [0.34, -1], [0.34, -0.34], [1, -0.34], [1, 0.34], [0.34, 0.34],
    [0.34, 1], [-0.34, 1], [-0.34, 0.34], [-1, 0.34], [-1, -0.34], [-0.34, -0.34],
  ]],
]);

export const ownerClass = (owner) => (owner === 0 || owner === 1 ? `owner${owner}` : "nobody");

/** A group of shapes for a piece, to be put into an SVG with viewBox 0 0 100 100; `flipped`: seen by the other player. */
export function drawPiece(piece, flipped = false) {
  const radius = 46 * piece.size;
  const name = ownerClass(piece.owner);
  const paint = { fill: `url(#${name})`, class: "body" };
  const group = s("g", { class: `piece ${name}` });
  let outline = OUTLINES.get(piece.shape);
  // A pentagon points away from its owner, who sits below, or above if he is the second player.
  if (outline && piece.shape === "pentagon" && (piece.owner === 1) !== flipped) outline = outline.map(([x, y]) => [x, -y]);
  if (piece.shape === "circle") {
    group.append(
      s("circle", { class: "shadow", cx: 50, cy: 52.5, r: radius }),
      s("circle", { ...paint, cx: 50, cy: 50, r: radius }),
      s("circle", { class: "rim", cx: 50, cy: 50, r: radius * 0.76 }),
    );
  } else if (piece.shape === "block") {
    const [corner, side] = [`${50 - 50 * piece.size}%`, `${100 * piece.size}%`];
    group.append(s("rect", { ...paint, x: corner, y: corner, width: side, height: side }));
    return group; // its label is its name: there may be no room for it
  } else if (outline) {
    group.append(
      s("polygon", { class: "shadow", points: polygon(outline.map(([x, y]) => [x, y + 0.06]), radius * 0.9) }),
      s("polygon", { ...paint, points: polygon(outline, radius * 0.9), "stroke-linejoin": "round" }),
    );
  }
  const bare = piece.shape !== "circle" && !outline;
  const height = (bare ? radius * 1.5 : Math.max(13, radius * 0.62)) / Math.max(1, [...piece.label].length * 0.55);
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
  const whose = piece.owner === null ? "" : `${players[piece.owner] ?? ""} `;
  return `${whose}${piece.label}`.trim() || "piece";
}

/** "Orange L over Blue s", from the visible top down. */
export const stackWords = (stack, players) => {
  const [top, ...below] = [...stack].reverse().map((piece) => pieceWords(piece, players));
  return `${top}${below.length ? ` over ${below.join(", ")}` : ""}`;
};
