// A game without a table: how to make one, what that takes, and a button that does it, with its progress.

import * as api from "./api.js";
import { $, h } from "./dom.js";

const POLL_MILLISECONDS = 400;
let watched = null;

function intro(title, report, start) {
  return [
    h("h2", {}, `${title} is not solved yet`),
    h("p", {}, "You can play it here all the same; nobody knows yet what the moves are worth. To find out, run"),
    h("pre", {}, h("code", {}, report.command)),
    report.error ? h("p", { class: "reason" }, report.error) : null,
    report.estimate ? h("p", { class: "estimate" }, report.estimate) : null,
    h("div", { class: "actions" }, h("button", { class: "primary", type: "button", onclick: start }, "Solve it now")),
  ];
}

const damaged = (title, report) => [
  h("h2", {}, `The table of ${title} is damaged`),
  h("p", { class: "reason" }, report.error),
  h("p", {}, "Nothing it says would be trustworthy, so it is not used. Remove it, then solve the game again:"),
  h("pre", {}, h("code", {}, report.command)),
];

function progress(title, report, stop) {
  const bar = h("progress", { max: 1, "aria-label": `Solving ${title}` });
  if (typeof report.fraction === "number") bar.value = report.fraction;
  return [
    h("h2", {}, `Solving ${title}`),
    bar,
    h("p", { class: "progress-text" }, report.text),
    h("div", { class: "actions" }, h("button", { type: "button", onclick: stop }, "Stop")),
  ];
}

/** Shows the card while `game` has no table, and calls `onSolved` when it gets one; `about` gives what is known of it. */
export async function watchSolve(game, about, onSolved) {
  const card = $("solve-card");
  const title = () => about()?.title ?? game;
  if (watched === game) return;
  watched = game;
  card.hidden = false;
  let command = `solve ${game}`;
  let estimate = null;
  const fill = (parts) => card.replaceChildren(...parts.filter(Boolean));
  const offer = (error) => fill(intro(title(), { command, estimate, error }, start));
  const start = () => api.startSolve(game).then(follow).catch((error) => offer(error.message));
  const stop = () => api.stopSolve(game).catch(() => {});
  const follow = async () => {
    while (watched === game) {
      const report = await api.solveProgress(game);
      if (watched !== game) return;
      ({ command = command, estimate = estimate } = report);
      if (report.state === "solving") fill(progress(title(), report, stop));
      else if (report.state === "done") return done();
      else if (report.state === "damaged") return fill(damaged(title(), report));
      else return offer(report.error);
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
  };
  const done = () => {
    endWatch();
    api.forget();
    return onSolved();
  };
  await follow();
}

export function endWatch() {
  watched = null;
  $("solve-card").hidden = true;
}
