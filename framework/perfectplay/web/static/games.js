// Games: the dialog that lists them and opens variants, and the card that offers to solve a game without a
// table. Loaded when first needed.

import * as api from "./api.js";
import { $, button, emptyNote, h, onLinkClick, redraw, setText } from "./dom.js";
import { listedGame, state } from "./state.js";
import { formatCount } from "./values.js";
import { labelOf } from "./view.js";

// ---- the dialog ----

const STATES = {
  unsolved: "not solved yet",
  unfinished: "unfinished",
  solving: "being solved",
  damaged: "damaged table",
  broken: "broken",
};

function describeGame(game) {
  if (game.state === "ready") return `${game.headline} · ${formatCount(game.positions)} positions`;
  return `${STATES[game.state]}${game.reason ? `: ${game.reason}` : ""}`;
}

function makeInput(option, value) {
  const attributes = { id: `option-${option.name}`, name: option.name };
  if (typeof option.default === "boolean") return h("input", { ...attributes, type: "checkbox", checked: value });
  if (option.choices.length) {
    const makeChoice = (choice) => h("option", { value: choice, selected: choice === value }, choice);
    return h("select", attributes, option.choices.map(makeChoice));
  }
  const type = typeof option.default === "number" ? "number" : "text";
  return h("input", { ...attributes, type, value, min: option.minimum, max: option.maximum, required: true });
}

const makeField = (option, value) =>
  h(
    "div",
    { class: "option" },
    h("label", { for: `option-${option.name}` }, option.name),
    makeInput(option, value),
    option.help && h("small", {}, option.help),
  );

/** The identity of the variant that the form describes: its options in alphabetical order. */
function readVariant(game) {
  const names = game.options.map((option) => option.name).sort();
  const values = names.map((name) => {
    const input = $(`option-${name}`);
    return `${name}=${input.type === "checkbox" ? (input.checked ? "yes" : "no") : input.value}`;
  });
  return [game.family, ...values].join("-");
}

/** The words by which a game is found. The rules have names of its family, such as mancala. */
const searchText = (game) => `${game.name} ${game.title ?? ""} ${game.rules ?? ""}`.toLowerCase();

/** Connects the dialog with all games; `open` opens one by name. Returns a function that shows it. */
export function startGames(open) {
  const dialog = $("games-dialog");
  const filter = $("games-filter");
  let variable = null; // the game whose variants the form opens

  const openGame = (name) => {
    dialog.close();
    open(name);
  };

  function makeItem(game) {
    const content = [h("strong", {}, labelOf(game)), h("span", { class: "state" }, describeGame(game))];
    if (game.state === "broken") return h("li", { class: "broken" }, content);
    const attributes = {
      href: `/${api.pathOf(game.name)}`,
      "aria-current": game.name === state.game ? "page" : null,
      onclick: onLinkClick(() => openGame(game.name)),
    };
    const title = `Variants of ${game.title}`;
    const choose = () => {
      drawVariantForm(game);
      $("variant-fields").querySelector("input, select").focus();
    };
    const variants = game.options?.length > 0 && button({ title, "aria-label": title, onclick: choose }, "Variants");
    return h("li", {}, h("a", attributes, content), variants);
  }

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const matching = state.games.filter((game) => searchText(game).includes(wanted));
    $("games-list").replaceChildren(...matching.map(makeItem));
    setText($("games-found"), matching.length ? "" : "No matching games.");
    $("variant").hidden = !matching.some((game) => game.name === variable?.name);
  }

  /** Shows the form for the options of a game. */
  function drawVariantForm(game) {
    variable = game;
    $("variant").hidden = false;
    setText($("variant-title"), `Variant of ${game.title}`);
    setText($("variant-reason"), "");
    $("variant-fields").replaceChildren(...game.options.map((option) => makeField(option, game.variant[option.name])));
    $("variant").onsubmit = (event) => {
      event.preventDefault();
      openVariant(readVariant(game));
    };
  }

  async function openVariant(name) {
    try {
      const { game } = await api.replay(name, {}); // fails if there is no such variant
      state.games = await api.games();
      openGame(game); // its full name
    } catch (error) {
      setText($("variant-reason"), error.message);
    }
  }

  const show = () => {
    filter.value = "";
    variable = null;
    if (listedGame()?.options?.length) drawVariantForm(listedGame());
    draw();
    dialog.showModal();
    filter.focus();
  };
  filter.addEventListener("input", draw);
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    $("games-list").querySelector("a")?.click();
  });
  return show;
}

// ---- solving ----

const POLL_MILLISECONDS = 400;
let watched = null; // {game}, a new object for each watch

const makeCommand = (command) => h("pre", {}, h("code", {}, command));

/** The button is prominent only where the cost is known and this machine can bear it. */
const makeOffer = (title, { command, estimate, fits, allowed, error }, start) => [
  h("h2", {}, `${title} has no table yet`),
  h("p", {}, "You can still play; move values are not available without a table. To make one, run"),
  makeCommand(command),
  error && h("p", { class: "reason" }, error),
  estimate && h("p", { class: "estimate" }, estimate),
  allowed &&
    h(
      "div",
      { class: "actions" },
      button({ class: fits ? "primary" : "", onclick: start }, fits ? "Solve it now" : "Solve it anyway"),
    ),
];

const makeDamageReport = (title, { command, error }) => [
  h("h2", {}, `The table of ${title} is damaged`),
  h("p", { class: "reason" }, error),
  h("p", {}, "Its values cannot be trusted and are not shown. Remove the table, then solve the game again:"),
  makeCommand(command),
];

const makeProgress = (title, stop) => [
  h("h2", {}, `Solving ${title}`),
  h("progress", { max: 1, "aria-label": `Solving ${title}` }),
  h("p", { class: "progress-text" }),
  h("div", { class: "actions" }, button({ onclick: stop }, "Stop")),
];

/** Shows the card until the game has a table, and then calls `onSolved`. */
export async function watchSolve(game, onSolved) {
  if (watched?.game === game) return;
  const watch = (watched = { game });
  const card = $("solve-card");
  const title = () => listedGame()?.title ?? game;
  let offer = { command: `solve ${game}`, estimate: null, fits: true, allowed: true };
  card.replaceChildren(h("h2", {}, title()), emptyNote("Estimating the cost…"));
  card.hidden = false;

  const fill = (parts) => redraw(card, ...parts);
  const showOffer = (error) => fill(makeOffer(title(), { ...offer, error }, start));
  const start = () => api.startSolve(game).then(follow, (error) => showOffer(error.message));
  const stop = () => api.stopSolve(game).catch(() => {});
  const showProgress = ({ fraction, text }) => {
    if (!card.querySelector("progress")) fill(makeProgress(title(), stop)); // drawn once, so that Stop keeps the focus
    if (typeof fraction === "number") card.querySelector("progress").value = fraction;
    setText(card.querySelector(".progress-text"), text);
  };

  async function follow() {
    while (watched === watch) {
      const report = await api.solveProgress(game);
      if (watched !== watch) return;
      if (report.state === "unsolved") offer = { ...offer, ...report };
      if (report.state === "done") {
        stopWatching();
        api.clearCache();
        return onSolved();
      }
      if (report.state === "damaged") return fill(makeDamageReport(title(), report));
      if (report.state !== "solving") return showOffer(report.error);
      showProgress(report);
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS));
    }
  }

  await follow();
}

export function stopWatching() {
  const card = $("solve-card");
  watched = null;
  if (card.contains(document.activeElement)) $("board").focus({ preventScroll: true });
  card.hidden = true;
}
