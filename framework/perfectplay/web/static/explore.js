// The tabs beside the board: the moves, the whole table to explore, and how to play. Each thing found is a link.

import * as api from "./api.js";
import { $, followed, h, redraw, s, setText } from "./dom.js";
import { STRENGTHS } from "./opponent.js";
import { keep, settings } from "./settings.js";
import { about, outcomesOnly, players, state } from "./state.js";
import { count, letter, size, unknown, vocabulary } from "./words.js";

const TABS = ["analysis", "explore", "learn"];

const share = (number, all) => (number ? ` (${number < all / 1000 ? "under 0.1" : ((100 * number) / all).toFixed(1)} %)` : "");

function startTabs(onShow) {
  const show = (name, focus = false) => {
    for (const each of TABS) {
      const tab = $(`tab-${each}`);
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      $(`panel-${each}`).hidden = each !== name;
      if (focus && each === name) tab.focus();
    }
    onShow(name);
  };
  for (const name of TABS) {
    $(`tab-${name}`).addEventListener("click", () => show(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show(TABS[(TABS.indexOf(name) + by + TABS.length) % TABS.length], true);
    });
  }
  return show;
}

/** Positions by plies to the end, wins up and losses down; a click finds one. */
function histogram(rows, onFind) {
  const [width, half, bottom] = [$("overview").clientWidth, 76, 18];
  const most = Math.max(...rows.flatMap((row) => [row.wins, row.losses, row.ties]), 1);
  const last = rows[rows.length - 1]?.remoteness ?? 0;
  const step = width / (last + 1);
  const high = (number) => (number ? 3 + (Math.log10(number + 1) / Math.log10(most + 1)) * (half - 6) : 0); // few are still seen
  const chart = s("svg", { class: "histogram", viewBox: `0 0 ${width} ${2 * half + bottom}`, role: "group", "aria-label": "Positions by plies to the end; the fields below find one" });
  const every = Math.ceil(28 / step); // labels that do not touch
  for (const row of rows) {
    const x = row.remoteness * step;
    const both = row.wins && row.ties; // two columns upwards share the room
    for (const [kind, number, up] of [["win", row.wins, true], ["loss", row.losses, false], ["draw", row.ties, true]]) {
      if (!number) continue;
      const tall = high(number);
      const from = both && kind === "draw" ? 0.5 : 0.1;
      chart.append(
        s("rect", { class: `column ${kind}`, x: x + step * from, y: up ? half - tall : half, width: step * (both && up ? 0.4 : 0.8), height: tall, onclick: () => onFind({ kind, remoteness: row.remoteness }) },
          s("title", {}, `${count(number)} ${vocabulary().many[kind]} in ${row.remoteness}: click to see one`)),
      );
    }
    if (row.remoteness % every === 0) chart.append(s("text", { class: "tick", x: x + step / 2, y: 2 * half + bottom - 4 }, String(row.remoteness)));
  }
  chart.append(s("line", { class: "zero", x1: 0, x2: width, y1: half, y2: half }));
  return chart;
}

export function startExplore({ visit, playAs }) {
  let shown = "analysis";
  let drawn = null;

  const open = (found, puzzle = null) => visit({ start: found.text, moves: [], puzzle });

  const find = async (where, puzzle = false) => {
    const { game } = state;
    setText($("find-reason"), "Looking…");
    try {
      const found = await api.find(game, where);
      setText($("find-reason"), "");
      if (state.game === game) open(found, puzzle ? found.id : null);
    } catch (error) {
      setText($("find-reason"), error.message);
    }
  };

  const link = (found) =>
    h("li", {}, h("a", { href: `/${api.pathOf(state.game)}?position=${encodeURIComponent(found.text)}`, onclick: followed(() => open(found)) }, found.text), h("span", { class: "state" }, found.verdict));

  async function drawOverview() {
    const game = state.game;
    if (drawn === game) return;
    const words = vocabulary();
    for (const option of $("find-kind").options) setText(option, words.names[option.value]);
    setText($("find-puzzle"), words.find);
    setText($("find-plies-label"), `in ${words.unit}`);
    for (const id of ["find-plies", "find-plies-label"]) $(id).hidden = outcomesOnly();
    if (outcomesOnly()) $("find-plies").value = "";
    if ($("overview").dataset.game !== game) $("overview").replaceChildren(h("p", { class: "empty" }, "Counting…"));
    $("overview").dataset.game = drawn = game;
    try {
      const all = await api.overview(game);
      if (state.game !== game) return;
      if (!all.complete) drawn = null; // it may know more the next time
      const of = (number) => count(number) + share(number, all.positions);
      const facts = [
        ["Positions", count(all.positions)],
        [words.facts.win, of(all.wins)],
        [words.facts.loss, of(all.losses)],
        [words.facts.draw, of(all.draws)],
        ["Moves per position", all.moves === null ? "–" : String(all.moves)],
        ["On disk", all.bytes ? size(all.bytes) : "in memory"],
      ];
      const distances = all.values === "outcome" ? [h("p", { class: "empty" }, unknown())] : [
        h("h3", {}, `Positions by ${words.unit} to the end`),
        histogram(all.histogram, find),
        h("p", { class: "legend" }, h("b", { class: "tag win" }, letter("win")), ` ${words.above}, over the line; `, h("b", { class: "tag loss" }, letter("loss")), ` ${words.below}, under it. Heights are logarithms.`),
        h("h3", {}, words.longest),
        all.longest.length ? h("ol", { class: "longest" }, ...all.longest.map(link)) : h("p", { class: "empty" }, "There are none."),
      ];
      $("overview").replaceChildren(
        h("p", { class: "reason", hidden: all.complete }, "The table is unfinished: this is what it knows so far."),
        h("dl", { class: "facts" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
        ...distances,
      );
    } catch (error) {
      if (state.game !== game) return;
      drawn = null;
      $("overview").replaceChildren(h("p", { class: "empty" }, error.message));
    }
  }

  function drawLearn() {
    const [first, second] = players();
    setText($("learn-title"), about()?.title ?? state.game);
    const rules = about()?.rules ?? "";
    $("rules").replaceChildren(...(rules ? rules.split(/\n\s*\n/).map((text) => h("p", {}, text)) : [h("p", { class: "empty" }, "The plugin gives no rules. The moves tab lists what is legal at every turn.")]));
    redraw($("play-as"), ...[first, second].map((name, owner) => name && h("button", { class: "primary", type: "button", "data-key": String(owner), onclick: () => playAs(owner) }, second ? `Play ${name}` : "Play")).filter(Boolean));
    $("strength-row").hidden = !second;
  }

  const show = startTabs((name) => {
    shown = name;
    refresh();
  });

  function refresh() {
    if (!state.replay) return;
    if (shown === "explore") drawOverview();
    if (shown === "learn") drawLearn();
  }

  const strength = $("strength");
  strength.replaceChildren(...STRENGTHS.map((each) => h("option", { value: each.value, selected: each.value === settings.strength }, `${each.label}: ${each.words}`)));
  strength.addEventListener("change", () => keep({ strength: strength.value }));
  $("find").addEventListener("submit", (event) => {
    event.preventDefault();
    find({ kind: $("find-kind").value, remoteness: $("find-plies").value });
  });
  $("find-any").addEventListener("click", () => find({}));
  $("find-puzzle").addEventListener("click", () => find({ kind: "puzzle" }, true));
  show("analysis");
  return refresh;
}
