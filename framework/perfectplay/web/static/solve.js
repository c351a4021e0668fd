// A game without a table: how to make one, what that takes, and a button that does it, with its progress.

import * as api from "./api.js";
import { $, h, redraw, setText } from "./dom.js";

const POLL_MILLISECONDS = 400;
let watched = null; // {game}: a new one each time somebody comes to it

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

const progress = (title, stop) => [
  h("h2", {}, `Solving ${title}`),
  h("progress", { max: 1, "aria-label": `Solving ${title}` }),
  h("p", { class: "progress-text" }),
  h("div", { class: "actions" }, h("button", { type: "button", onclick: stop }, "Stop")),
];

/** Shows the card while `game` has no table, and calls `onSolved` when it gets one; `about` gives what is known of it. */
export async function watchSolve(game, about, onSolved) {
  const card = $("solve-card");
  const title = () => about()?.title ?? game;
  if (watched?.game === game) return;
  const mine = (watched = { game });
  card.replaceChildren(); // it spoke of another game
  card.hidden = false;
  let command = `solve ${game}`;
  let estimate = null;
  const fill = (parts) => redraw(card, ...parts.filter(Boolean));
  const offer = (error) => fill(intro(title(), { command, estimate, error }, start));
  const start = () => api.startSolve(game).then(follow).catch((error) => offer(error.message));
  const stop = () => api.stopSolve(game).catch(() => {});
  const showProgress = ({ fraction, text }) => {
    if (!card.querySelector("progress")) fill(progress(title(), stop)); // drawn once: *Stop* stays where it is pressed
    if (typeof fraction === "number") card.querySelector("progress").value = fraction;
    setText(card.querySelector(".progress-text"), text);
  };
  const follow = async () => {
    while (watched === mine) {
      const report = await api.solveProgress(game);
      if (watched !== mine) return;
      ({ command = command, estimate = estimate } = report);
      if (report.state === "solving") showProgress(report);
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
  const card = $("solve-card");
  watched = null;
  if (card.contains(document.activeElement)) $("board").focus({ preventScroll: true });
  card.hidden = true;
}
