// The tabs Explore and Learn: statistics and positions of the whole table, and the rules. Loaded when first needed.

import * as api from "./api.js";
import { $, button, emptyNote, h, onLinkClick, redraw, s, setText } from "./dom.js";
import { BOTH_USER, listedGame, outcomesOnly, players, saveSettings, settings, state } from "./state.js";
import { formatCount, formatSize, letterOf, outcomesNote, STRENGTHS, vocabulary } from "./values.js";

// ---- the histogram ----

const HALF = 76; // height of each half
const LABELS = 18; // height of the numbers below
const MIN_LABEL_DISTANCE = 28;

/** The bars of one distance: [outcome, count, direction, offset and width in parts of the step]. */
function barsOf({ wins, losses, ties }) {
  const width = wins && ties ? 0.4 : 0.8; // two bars upwards share the step
  return [
    ["win", wins, "up", 0.1, width],
    ["loss", losses, "down", 0.1, 0.8],
    ["draw", ties, "up", wins && ties ? 0.5 : 0.1, width],
  ].filter(([, count]) => count);
}

/** Positions by plies to the end, wins up and losses down, on a logarithmic scale. A click finds a position. */
function drawHistogram(rows, onFind) {
  const width = $("overview").clientWidth;
  const highest = Math.max(...rows.flatMap((row) => [row.wins, row.losses, row.ties]), 1);
  const step = width / ((rows.at(-1)?.remoteness ?? 0) + 1);
  const labelEvery = Math.ceil(MIN_LABEL_DISTANCE / step);
  // At least three pixels, so that single positions are visible.
  const heightOf = (count) => 3 + (Math.log10(count + 1) / Math.log10(highest + 1)) * (HALF - 6);

  const drawBar = (remoteness, [kind, count, direction, offset, share]) => {
    const height = heightOf(count);
    const box = { x: step * (remoteness + offset), y: direction === "up" ? HALF - height : HALF, height };
    const title = `${formatCount(count)} ${vocabulary().counted[kind]} in ${remoteness}: click to see one`;
    const attributes = { class: `column ${kind}`, ...box, width: step * share };
    return s("rect", { ...attributes, onclick: () => onFind({ kind, remoteness }) }, s("title", {}, title));
  };
  // The first and the last number stay inside the picture.
  const drawLabel = (remoteness) => {
    const reach = 4 * String(remoteness).length;
    const x = Math.max(reach, Math.min(width - reach, step * (remoteness + 0.5)));
    return s("text", { class: "tick", x, y: 2 * HALF + LABELS - 4 }, String(remoteness));
  };

  return s(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${width} ${2 * HALF + LABELS}`,
      role: "group",
      "aria-label": "Positions by plies to the end; the fields above find one",
    },
    rows.flatMap((row) => barsOf(row).map((bar) => drawBar(row.remoteness, bar))),
    rows.filter((row) => row.remoteness % labelEvery === 0).map((row) => drawLabel(row.remoteness)),
    s("line", { class: "zero", x1: 0, x2: width, y1: HALF, y2: HALF }),
  );
}

// ---- statistics ----

function formatShare(count, total) {
  if (!count) return formatCount(count);
  const percent = count < total / 1000 ? "<0.1" : ((100 * count) / total).toFixed(1);
  return `${formatCount(count)} (${percent} %)`;
}

function makeFacts(table) {
  const { facts } = vocabulary();
  const rows = [
    ["Positions", formatCount(table.positions)],
    [facts.win, formatShare(table.wins, table.positions)],
    [facts.loss, formatShare(table.losses, table.positions)],
    [facts.draw, formatShare(table.draws, table.positions)],
    ["Moves per position", table.moves === null ? "–" : String(table.moves)],
    ["Size on disk", table.bytes ? formatSize(table.bytes) : "in memory"],
  ];
  const makeRow = ([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
  return h("dl", { class: "facts" }, rows.map(makeRow));
}

function makeLegend() {
  const { above, below, counted } = vocabulary();
  const tag = (outcome) => h("b", { class: `tag ${outcome}` }, letterOf(outcome));
  return h(
    "p",
    { class: "legend" },
    tag("win"),
    ` ${above}, above the line; `,
    tag("loss"),
    ` ${below}, below it. `,
    tag("draw"),
    ` ${counted.draw}. Log scale.`,
  );
}

const makeLongest = (longest, makeLink) =>
  longest.length ? h("ol", { class: "longest" }, longest.map(makeLink)) : emptyNote("None.");

function makeOverview(table, makeLink, onFind) {
  const { unit, longest } = vocabulary();
  const warning =
    !table.complete && h("p", { class: "reason" }, "The table is unfinished; these are the numbers so far.");
  if (table.values === "outcome") return [warning, makeFacts(table), emptyNote(outcomesNote())];
  return [
    warning,
    makeFacts(table),
    h("h3", {}, `Positions by ${unit} to the end`),
    drawHistogram(table.histogram, onFind),
    makeLegend(),
    h("h3", {}, longest),
    makeLongest(table.longest, makeLink),
  ];
}

/** Labels the form that finds positions with the game's words. */
function labelFindForm() {
  const { names, findPuzzle, unit } = vocabulary();
  for (const option of $("find-kind").options) setText(option, names[option.value]);
  setText($("find-puzzle"), findPuzzle);
  setText($("find-plies-label"), `in ${unit}`);
  for (const id of ["find-plies", "find-plies-label"]) $(id).hidden = outcomesOnly();
  if (outcomesOnly()) $("find-plies").value = "";
}

function drawStreak() {
  const streak = settings.streaks[state.game] ?? 0;
  $("streak").hidden = streak < 1;
  setText($("streak"), streak === 1 ? "1 puzzle solved in a row." : `${streak} puzzles solved in a row.`);
}

// ---- rules ----

function drawRules(playAs) {
  const [first, second] = players();
  const rules = listedGame()?.rules.trim() ?? "";
  const paragraphs = rules.split(/\n\s*\n/).map((text) => h("p", {}, text));
  const makeButton = (name, owner) =>
    button(
      { class: "primary", "data-key": String(owner), onclick: () => playAs(owner) },
      second ? `Play ${name}` : "Play",
    );
  setText($("learn-title"), listedGame()?.title ?? state.game);
  if (rules) $("rules").replaceChildren(...paragraphs);
  else $("rules").replaceChildren(emptyNote("The plugin gives no rules. The Moves tab lists the legal moves."));
  redraw($("play-as"), ...[first, second].filter(Boolean).map(makeButton));
  $("strength-row").hidden = !second;
}

function startStrength() {
  const select = $("strength");
  const makeOption = ({ value, label, description }) =>
    h("option", { value, selected: value === settings.strength }, `${label}: ${description}`);
  select.replaceChildren(...STRENGTHS.map(makeOption));
  select.addEventListener("change", () => saveSettings({ strength: select.value }));
}

// ---- all tabs ----

/** Fills both tabs. Returns `refresh`, which draws a tab, and the actions of the controls. */
export function startExplore({ visit, playAs }) {
  let drawnGame = null; // the game whose statistics are shown

  // A position that was found is for the user alone.
  const open = (found, puzzle = null) => visit({ start: found.text, moves: [], puzzle, isNew: true, roles: BOTH_USER });

  async function find(query, { asPuzzle = false } = {}) {
    const { game } = state;
    setText($("find-reason"), "Searching…");
    try {
      const found = await api.find(game, query);
      setText($("find-reason"), "");
      if (state.game === game) open(found, asPuzzle ? { ply: 0, found: 0 } : null);
    } catch (error) {
      setText($("find-reason"), error.message);
    }
  }

  function makeLink(found) {
    const href = `/${api.pathOf(state.game)}?position=${encodeURIComponent(found.text)}`;
    const link = h("a", { href, onclick: onLinkClick(() => open(found)) }, found.text);
    return h("li", {}, link, h("span", { class: "state" }, found.verdict));
  }

  async function drawOverview() {
    const { game } = state;
    const container = $("overview");
    if (drawnGame === game) return;
    labelFindForm();
    if (container.dataset.game !== game) container.replaceChildren(emptyNote("Counting…"));
    container.dataset.game = drawnGame = game;
    try {
      const table = await api.overview(game);
      if (state.game !== game) return;
      if (!table.complete) drawnGame = null; // it may have grown by the next time
      container.replaceChildren(...makeOverview(table, makeLink, find).filter(Boolean));
    } catch (error) {
      if (state.game !== game) return;
      drawnGame = null;
      container.replaceChildren(emptyNote(error.message));
    }
  }

  function refresh(shown) {
    if (shown === "explore") {
      drawOverview();
      drawStreak();
    }
    if (shown === "learn") drawRules(playAs);
  }

  startStrength();
  return {
    refresh,
    findAny: () => find({}),
    findValue: () => find({ kind: $("find-kind").value, remoteness: $("find-plies").value }),
    findPuzzle: () => find({ kind: "puzzle", level: $("puzzle-level").value }, { asPuzzle: true }),
  };
}
