// The game so far: the list of moves with marks for mistakes and with other lines, and a chart of the values with the
// moves not played.

import { button, emptyNote, h, hiddenText, redraw, s } from "./dom.js";
import { setTabStop } from "./keyboard.js";
import { outcomesOnly, state } from "./state.js";
import { fillIn, formatLong, formatNumber, hasScore, kindOf, movesLeft, vocabulary } from "./values.js";
import { alternativesAt } from "./variations.js";

const MAX_LINE_NAMES = 4; // moves of another line in the list

// ---- the list ----

function entryClass(entry, previous, values) {
  if (!previous) return "entry";
  const mistake = values && entry.mark ? ` slip${entry.mark === "?!" ? " slight" : ""}` : "";
  return `entry owner${previous.to_move ?? "?"}${mistake}`;
}

/** Buttons for the lines that were tried instead of the move that led to position `index`. */
function makeOtherLines(index, onLine) {
  const before = state.moves.slice(0, index - 1);
  return alternativesAt(state.tree, state.moves, index - 1).map((line) => {
    const names = line.slice(0, MAX_LINE_NAMES).join(" ");
    const label = `${names}${line.length > MAX_LINE_NAMES ? " …" : ""}`;
    const show = () => onLine([...before, ...line], index);
    const attributes = { class: "entry branch", tabindex: "-1", "data-key": `${index} ${line[0]}`, onclick: show };
    return button(attributes, h("span", { "aria-hidden": "true" }, "↳ "), hiddenText("other line: "), label);
  });
}

/** Draws the moves of the line, each with the other lines that were tried instead of it. */
export function drawHistory(list, { values, onJump, onLine }) {
  const { ply, replay } = state;
  const { timeline } = replay;
  const makeEntry = (entry, index) => {
    const label = index ? [h("span", { class: "ply" }, `${index}`), ` ${entry.move}`] : "Start";
    const mark = values && entry.mark && [h("b", { class: "mark" }, entry.mark), hiddenText(`: ${entry.comment}`)];
    return button(
      {
        class: entryClass(entry, timeline[index - 1], values),
        tabindex: "-1",
        "data-key": String(index),
        title: values && index ? entry.comment || entry.verdict : null,
        "aria-current": ply === index ? "step" : null,
        onclick: () => onJump(index),
      },
      label,
      mark,
    );
  };
  const others = (index) => (index ? makeOtherLines(index, onLine) : []);
  const rest = makeOtherLines(timeline.length, onLine); // lines that continue after the last move
  const items = timeline.map((entry, index) => h("li", {}, makeEntry(entry, index), others(index)));
  items.at(-1).append(...rest);
  redraw(list, ...items);
  setTabStop(list, ".entry");
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
}

// ---- the chart ----

const HEIGHT = 176;
const TOP = 26; // room for a mark above a point, and for a word
const BOTTOM = 34; // room for a number under a point, and for the players' dots
const LEFT = 34;
const MIDDLE = TOP + (HEIGHT - TOP - BOTTOM) / 2;
const REACH = (HEIGHT - TOP - BOTTOM) / 2 - 8;

/** The player who wins (0 or 1), for a value of the player `mover`; null for a draw or an unknown value. */
function winnerOf(value, mover) {
  if (mover === null) return null;
  if (value.outcome === "win") return mover;
  return value.outcome === "loss" ? 1 - mover : null;
}

const magnitude = (value) =>
  hasScore(value) ? Math.abs(value.score) : value.remoteness === null ? 0 : movesLeft(value);

/** A round number of at least `number`, for the end of the axis. */
function roundUp(number) {
  const steps = [4, 6, 8, 10, 16, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500];
  return steps.find((step) => step >= number) ?? Math.ceil(number / 100) * 100;
}

/** The chart's scales: `x` of a ply, `y` of a value. Values without a distance are at the edge. */
function makeScale(timeline, width) {
  const values = timeline.flatMap((entry) => [entry, ...entry.alternatives]);
  const flat = outcomesOnly();
  const longest = flat ? 1 : roundUp(Math.max(4, ...values.map(magnitude)));
  const step = Math.min(30, (width - LEFT - 8) / Math.max(8, timeline.length + 1));
  const offset = (number) => (number / longest) * REACH + 6;
  const y = (value, mover) => {
    const winner = winnerOf(value, mover);
    if (winner === null) return MIDDLE;
    return MIDDLE + (winner === 0 ? -1 : 1) * offset(flat ? 1 : magnitude(value));
  };
  return { x: (index) => LEFT + step * (index + 0.5), y, step, offset, ticks: flat ? [] : [longest, longest / 2] };
}

function drawAxis(players, width, { ticks, offset }) {
  const [first, second] = players;
  const [above, middle, below] = vocabulary().axis.map((text) => fillIn(text, { first, second }));
  const isAlone = players.length === 1;
  const drawTick = (tick, direction) => {
    const y = MIDDLE + direction * offset(tick);
    const line = s("line", { class: "grid", x1: LEFT, x2: width, y1: y, y2: y });
    return [line, s("text", { class: "tick", x: LEFT - 6, y: y + 4 }, `${tick}`)];
  };
  return [
    s("text", { class: `whose ${isAlone ? "win" : "owner0"}`, x: width, y: 12 }, above),
    s("text", { class: `whose ${isAlone ? "loss" : "owner1"}`, x: width, y: HEIGHT - BOTTOM + 12 }, below),
    ...ticks.flatMap((tick) => [...drawTick(tick, -1), ...drawTick(tick, 1)]),
    s("line", { class: "zero", x1: LEFT, x2: width, y1: MIDDLE, y2: MIDDLE }),
    s("text", { class: "tick", x: LEFT - 6, y: MIDDLE + 4 }, middle),
  ];
}

function drawPoint(entry, isCurrent, isAlone, { x, y, step }, onJump) {
  const winner = winnerOf(entry, entry.to_move);
  const look = isAlone || winner === null ? kindOf(entry) : `owner${winner}`;
  const [cx, cy] = [x(entry.index), y(entry, entry.to_move)];
  const move = entry.index ? `${entry.index}. ${entry.move}: ` : "";
  const comment = entry.comment ? ` (${entry.comment})` : "";
  return s(
    "g",
    { class: `bar ${look}${isCurrent ? " here" : ""}`, onclick: () => onJump(entry.index) },
    s("title", {}, `${move}${entry.verdict}${comment}`),
    s("rect", { class: "hit", x: cx - step / 2, y: cy - 9, width: step, height: 18 }),
    s("circle", { class: "value", cx, cy, r: isCurrent ? 6 : 4.5 }),
  );
}

/** The mark of a mistake above its point, and the value under the current one. */
function drawPointTexts(entry, isCurrent, { x, y }) {
  const [cx, cy] = [x(entry.index), y(entry, entry.to_move)];
  return [
    entry.mark && s("text", { class: "slip", x: cx, y: cy - 9 }, entry.mark),
    isCurrent && entry.remoteness !== 0 && s("text", { class: "number", x: cx, y: cy + 18 }, formatNumber(entry)),
  ];
}

/** The moves that were not played, as small points at the value they lead to, unless `played` has the same place. */
function drawAlternatives(entry, index, played, isAlone, { x, y }, onTry) {
  const isFree = (cy) => !played?.outcome || Math.abs(cy - y(played, played.to_move)) > 8;
  return entry.alternatives.map((move) => {
    const after = { ...move, remoteness: Math.max(0, (move.remoteness ?? 1) - 1) };
    const winner = winnerOf(move, entry.to_move);
    const look = isAlone || winner === null ? kindOf(move) : `owner${winner}`;
    const [cx, cy] = [x(index + 1), y(after, entry.to_move)];
    if (!isFree(cy)) return null;
    return s(
      "g",
      { class: `untried ${look}`, onclick: () => onTry(index, move.move) },
      s("title", {}, `${index + 1}. ${move.move}: ${formatLong(move)}, not played`),
      s("circle", { class: "hit", cx, cy, r: 7 }),
      s("circle", { class: "value", cx, cy, r: 2.6 }),
    );
  });
}

/** A dot under each move in the colour of its player. */
function drawTurns(timeline, players, { x }) {
  return timeline.slice(0, -1).map(({ to_move: mover }, index) => {
    const title = s("title", {}, `${players[mover] ?? ""} moved`);
    return (
      mover !== null && s("circle", { class: `turn owner${mover}`, cx: x(index + 1), cy: HEIGHT - 6, r: 3 }, title)
    );
  });
}

/** Draws moves to the end (or the score) over time: up while the first player wins, down while the second does, in the
 *  middle for a draw. A click on a small point plays that move instead. */
export function drawChart(container, timeline, ply, players, { onJump, onTry }) {
  const known = timeline.map((entry, index) => ({ ...entry, index })).filter((entry) => entry.outcome);
  if (!known.length) return container.replaceChildren(emptyNote("No values yet."));
  const width = Math.max(220, container.clientWidth);
  const scale = makeScale(timeline, width);
  const points = known.map((entry) => `${scale.x(entry.index)},${scale.y(entry, entry.to_move)}`).join(" ");
  const isAlone = players.length === 1; // then colours show what can be solved
  const chart = s(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "group",
      "aria-label": "Value of each position; the list of moves has the same information",
    },
    drawAxis(players, width, scale),
    s("polyline", { class: "course", points }),
    known.map((entry) => drawPoint(entry, entry.index === ply, isAlone, scale, onJump)),
    // Above the points, to be clicked.
    timeline.flatMap((entry, index) => drawAlternatives(entry, index, timeline[index + 1], isAlone, scale, onTry)),
    known.flatMap((entry) => drawPointTexts(entry, entry.index === ply, scale)),
    drawTurns(timeline, players, scale),
  );
  container.replaceChildren(chart);
}
