// What was played: the list of moves with those marked that changed the outcome, and a chart of the distance.

import { h, s } from "./dom.js";
import { forParent, kind, LETTERS, long } from "./words.js";

const WORSE = { win: { draw: "?", loss: "??" }, draw: { loss: "?" } };

/** For each move of a timeline: what it was worth, and whether it changed the outcome. */
export function judged(timeline) {
  return timeline.slice(1).map((entry, index) => {
    const before = timeline[index];
    const worth = forParent(entry);
    const mark = (before.outcome && worth.outcome && WORSE[before.outcome]?.[worth.outcome]) || "";
    return { move: entry.move, mover: before.toMove, before, worth, mark, ply: index + 1 };
  });
}

export function drawHistory(list, timeline, cursor, onJump) {
  const entries = judged(timeline);
  const start = h("li", { class: "start" }, h("button", { class: "entry", type: "button", "aria-current": cursor === 0 ? "step" : null, onclick: () => onJump(0) }, "Start"));
  list.replaceChildren(
    start,
    ...entries.map((entry) => {
      const slip = entry.mark ? `${entry.before.outcome} thrown away: now a ${entry.worth.outcome}` : "";
      return h("li", {},
        h("button",
          {
            class: `entry owner${entry.mover}${entry.mark ? " slip" : ""}`,
            type: "button",
            title: slip || long(entry.worth),
            "aria-current": cursor === entry.ply ? "step" : null,
            "aria-label": `${entry.ply}. ${entry.move}${slip ? `, ${slip}` : ""}`,
            onclick: () => onJump(entry.ply),
          },
          h("span", { class: "ply" }, `${entry.ply}`), entry.move,
          entry.mark ? h("b", { class: "mark" }, entry.mark) : null,
        ),
      );
    }),
  );
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
}

const HEIGHT = 120;
const MIDDLE = HEIGHT / 2;
const LABELS = 92; // room for the words on the left

/** Who wins at an entry: 0 or 1, or null for a draw or an unknown value. */
function winner(entry) {
  if (entry.outcome === "win") return entry.toMove;
  return entry.outcome === "loss" ? 1 - entry.toMove : null;
}

/** Plies left over time: up while the first player wins, down while the second does, a dot for a draw. */
export function drawChart(container, timeline, cursor, players, onJump) {
  if (!timeline.some((entry) => entry.outcome)) {
    container.replaceChildren();
    return;
  }
  const longest = Math.max(4, ...timeline.map((entry) => entry.remoteness ?? 0));
  const width = Math.max(240, container.clientWidth);
  const step = Math.min(26, (width - LABELS) / timeline.length);
  const chart = s("svg", { width, height: HEIGHT, role: "img", "aria-label": chartWords(timeline, players) });
  chart.append(
    s("text", { class: "axis owner0", x: 0, y: MIDDLE - 16 }, `${players[0]} wins`),
    s("text", { class: "axis owner1", x: 0, y: MIDDLE + 16 }, `${players[1]} wins`),
    s("line", { class: "zero", x1: 0, x2: width, y1: MIDDLE, y2: MIDDLE }),
  );
  timeline.forEach((entry, index) => {
    const x = LABELS + step * (index + 0.5);
    const whose = winner(entry);
    const height = ((entry.remoteness ?? 0) / longest) * (MIDDLE - 22) + 4;
    const bar = Math.max(2, step * 0.62);
    const name = whose === null ? kind(entry) : `owner${whose}`;
    const y = whose === 0 ? MIDDLE - height : whose === 1 ? MIDDLE : MIDDLE - 3;
    const group = s("g", { class: `bar ${name}${index === cursor ? " here" : ""}`, onclick: () => onJump(index) },
      s("title", {}, `${index === 0 ? "Start" : `${index}. ${entry.move}`}: ${entry.verdict}`),
      s("rect", { class: "hit", x: x - step / 2, y: 0, width: step, height: HEIGHT }),
      s("rect", { class: "value", x: x - bar / 2, y, width: bar, height: whose === null ? 6 : height, rx: Math.min(2.5, bar / 2) }),
    );
    if (index === cursor && entry.outcome) {
      const label = entry.remoteness === null ? LETTERS[entry.outcome] : String(entry.remoteness);
      group.append(s("text", { class: "number", x, y: whose === 1 ? MIDDLE + height + 14 : y - 5 }, label));
    }
    chart.append(group);
  });
  container.replaceChildren(chart);
}

function chartWords(timeline, players) {
  const said = timeline.map((entry) => {
    const whose = winner(entry);
    if (whose === null) return entry.outcome ?? "unknown";
    return `${players[whose]} in ${entry.remoteness}`;
  });
  return `Distance to the end, position by position: ${said.join("; ")}`;
}
