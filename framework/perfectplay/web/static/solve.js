// A game without a table: how to make one, and a button that does, with its progress.

import * as api from "./api.js";
import { $, h } from "./dom.js";
import { title } from "./words.js";

const POLL_MILLISECONDS = 400;
let watched = null;

function intro(game, about, start, problem) {
  const reason = problem ?? about?.reason;
  return [
    h("h2", {}, `${title(game)} is not solved yet`),
    h("p", {}, "You can play it here all the same; nobody knows yet what the moves are worth. To find out, run"),
    h("pre", {}, h("code", {}, about?.command ?? `solve ${game}`)),
    reason ? h("p", { class: "reason" }, reason) : null,
    h("div", { class: "actions" }, h("button", { class: "primary", type: "button", onclick: start }, "Solve it now")),
  ];
}

function progress(game, report, stop) {
  const bar = h("progress", { max: 1, "aria-label": `Solving ${game}` });
  if (typeof report.fraction === "number") bar.value = report.fraction;
  return [
    h("h2", {}, `Solving ${title(game)}`),
    bar,
    h("p", { class: "progress-text" }, report.text),
    h("div", { class: "actions" }, h("button", { type: "button", onclick: stop }, "Stop")),
  ];
}

/** Shows the card while `game` has no table, and calls `onSolved` when it gets one. */
export async function watchSolve(game, about, onSolved) {
  const card = $("solve-card");
  watched = game;
  card.hidden = false;
  const fill = (parts) => card.replaceChildren(...parts.filter(Boolean));
  const start = () => api.startSolve(game).then(follow, (error) => fill(intro(game, about, start, error.message)));
  const stop = () => api.stopSolve(game).catch(() => {});
  const follow = async () => {
    while (watched === game) {
      const report = await api.solveProgress(game);
      if (watched !== game) return;
      if (report.state === "solving") fill(progress(game, report, stop));
      else if (report.state === "done") return done();
      else return fill(intro(game, about, start, report.error));
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
  };
  const done = () => {
    endWatch();
    api.forget();
    onSolved();
  };
  await follow();
}

export function endWatch() {
  watched = null;
  $("solve-card").hidden = true;
}
