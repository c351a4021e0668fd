// What was played: the list of moves, mistakes marked, and a chart of the value over time with what was not tried.

import { h, oneTabStop, redraw, s } from "./dom.js";
import { outcomesOnly } from "./state.js";
import { hasScore, kind, long, number, sign, vocabulary } from "./words.js";

export function drawHistory(list, timeline, ply, values, onJump) {
  const entry = (each, index) =>
    h("li", {},
      h("button",
        {
          class: index ? `entry owner${timeline[index - 1].to_move ?? "?"}${values && each.mark ? ` slip${each.mark === "?!" ? " slight" : ""}` : ""}` : "entry",
          type: "button",
          tabindex: "-1",
          "data-key": String(index),
          title: values && index ? each.comment || each.verdict : null,
          "aria-current": ply === index ? "step" : null,
          onclick: () => onJump(index),
        },
        index ? [h("span", { class: "ply" }, `${index}`), ` ${each.move}`] : "Start",
        values && each.mark ? [h("b", { class: "mark" }, each.mark), h("span", { class: "visually-hidden" }, `: ${each.comment}`)] : null,
      ),
    );
  redraw(list, ...timeline.map(entry));
  oneTabStop(list, ".entry");
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
}

const HEIGHT = 176;
const TOP = 14;
const BOTTOM = 34; // room for a number under a point, and for whose move it was
const LEFT = 34;
const MIDDLE = TOP + (HEIGHT - TOP - BOTTOM) / 2;
const REACH = (HEIGHT - TOP - BOTTOM) / 2 - 8;

/** Who wins with a value of the player `mover`: 0 or 1, or null for a draw or an unknown value. */
function winner(value, mover) {
  if (mover === null) return null;
  if (value.outcome === "win") return mover;
  return value.outcome === "loss" ? 1 - mover : null;
}

const measure = (value) => (hasScore(value) ? Math.abs(value.score) : value.remoteness ?? 0);

/** A round number at or above `most`, for the end of the axis. */
function roundUp(most) {
  const steps = [4, 6, 8, 10, 16, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500];
  return steps.find((step) => step >= most) ?? Math.ceil(most / 100) * 100;
}

/** Plies left (or the score) over time: up while the first player wins, down while the second does, the middle for a draw.
 *  Small points are moves that were not made: a click makes one. */
export function drawChart(container, timeline, ply, players, { onJump, onTry }) {
  if (!timeline.some((entry) => entry.outcome)) return container.replaceChildren(h("p", { class: "empty" }, "Nothing is known yet."));
  const all = timeline.flatMap((entry) => [entry, ...entry.alternatives]);
  const flat = outcomesOnly(); // no distance: as far up or down as there is room
  const longest = flat ? 1 : roundUp(Math.max(4, ...all.map(measure)));
  const width = Math.max(220, container.clientWidth);
  const step = Math.min(30, (width - LEFT - 8) / Math.max(8, timeline.length + 1));
  const x = (index) => LEFT + step * (index + 0.5);
  const y = (value, mover) => {
    const whose = winner(value, mover);
    const far = (flat ? 1 : measure(value) / longest) * REACH + 6;
    return whose === null ? MIDDLE : whose === 0 ? MIDDLE - far : MIDDLE + far;
  };
  const chart = s("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": "Value of each position; the list of moves says the same" });
  const [above, middle, below] = vocabulary().axis(players);
  const alone = players.length === 1; // then the colours are those of what is solved and what is not
  const looks = (value, whose) => (alone || whose === null ? kind(value) : `owner${whose}`);
  chart.append(
    s("text", { class: `whose ${alone ? "win" : "owner0"}`, x: width, y: TOP - 3 }, above),
    s("text", { class: `whose ${alone ? "loss" : "owner1"}`, x: width, y: HEIGHT - BOTTOM + 12 }, below),
    ...(flat ? [] : [longest, longest / 2]).flatMap((tick) => [1, -1].flatMap((way) => {
      const at = MIDDLE - way * ((tick / longest) * REACH + 6);
      return [s("line", { class: "grid", x1: LEFT, x2: width, y1: at, y2: at }), s("text", { class: "tick", x: LEFT - 6, y: at + 4 }, `${tick}`)];
    })),
    s("line", { class: "zero", x1: LEFT, x2: width, y1: MIDDLE, y2: MIDDLE }),
    s("text", { class: "tick", x: LEFT - 6, y: MIDDLE + 4 }, middle),
  );
  timeline.forEach((entry, index) => chart.append(...untried(entry, index, { x, y, onTry })));
  const known = timeline.map((entry, index) => ({ ...entry, index })).filter((entry) => entry.outcome);
  chart.append(s("polyline", { class: "course", points: known.map((entry) => `${x(entry.index)},${y(entry, entry.to_move)}`).join(" ") }));
  for (const entry of known) {
    const whose = winner(entry, entry.to_move);
    const [cx, cy] = [x(entry.index), y(entry, entry.to_move)];
    chart.append(
      s("g", { class: `bar ${looks(entry, whose)}${entry.index === ply ? " here" : ""}`, onclick: () => onJump(entry.index) },
        s("title", {}, `${entry.index ? `${entry.index}. ${entry.move}: ` : ""}${entry.verdict}${entry.comment ? ` (${entry.comment})` : ""}`),
        s("rect", { class: "hit", x: cx - step / 2, y: cy - 12, width: step, height: 24 }),
        s("circle", { class: "value", cx, cy, r: entry.index === ply ? 6 : 4.5 }),
        entry.mark ? s("text", { class: "slip", x: cx, y: cy - 9 }, entry.mark) : null,
        entry.index === ply && entry.remoteness !== 0 ? s("text", { class: "number", x: cx, y: cy + 18 }, `${sign(entry)}${number(entry)}`) : null,
      ),
    );
  }
  timeline.forEach((entry, index) => {
    if (entry.to_move !== null && index + 1 < timeline.length) chart.append(s("circle", { class: `turn owner${entry.to_move}`, cx: x(index + 1), cy: HEIGHT - 6, r: 3 }, s("title", {}, `${players[entry.to_move] ?? ""} moved`)));
  });
  container.replaceChildren(chart);
}

/** The moves that could have been made from an entry, as points where they would have led. */
const untried = (entry, index, { x, y, onTry }) =>
  entry.alternatives.map((each) => {
    const [cx, cy] = [x(index + 1), y({ ...each, remoteness: Math.max(0, (each.remoteness ?? 1) - 1) }, entry.to_move)];
    return s("g", { class: `untried ${kind(each)}`, onclick: () => onTry(index, each.move) },
      s("title", {}, `${index + 1}. ${each.move}: ${long(each)}, not played`),
      s("circle", { class: "hit", cx, cy, r: 9 }),
      s("circle", { class: "value", cx, cy, r: 2.6 }),
    );
  });
