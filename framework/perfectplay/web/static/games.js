// The dialog with all games: found by typing, with their state; and the variants of those that have options.

import * as api from "./api.js";
import { $, followed, h, setText } from "./dom.js";
import { state } from "./state.js";
import { count, labelOf } from "./words.js";

const STATES = { unsolved: "not solved yet", unfinished: "unfinished", solving: "being solved", damaged: "its table is damaged", broken: "broken" };

const words = (game) => (game.state === "ready" ? `${game.verdict} · ${count(game.positions)} positions` : `${STATES[game.state]}${game.reason ? `: ${game.reason}` : ""}`);

export function startGames({ open }) {
  const dialog = $("games-dialog");
  const filter = $("games-filter");

  const item = (game) => {
    const text = [h("strong", {}, labelOf(game)), h("span", { class: "state" }, words(game))];
    if (game.state === "broken") return h("li", { class: "broken" }, ...text);
    const go = followed(() => {
      dialog.close();
      open(game.name);
    });
    return h("li", {}, h("a", { href: `/${api.pathOf(game.name)}`, "aria-current": game.name === state.game ? "page" : null, onclick: go }, ...text));
  };

  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const found = state.games.filter((game) => `${game.name} ${game.title ?? ""}`.toLowerCase().includes(wanted));
    $("games-list").replaceChildren(...found.map(item));
    setText($("games-found"), found.length ? "" : "No game is called so.");
    drawVariants();
  }

  /** A form for the options of this game, or of the first that has any: its fields make the variant's address. */
  function drawVariants() {
    const variable = state.games.filter((game) => game.options?.length);
    const current = variable.find((game) => game.name === state.game) ?? variable[0];
    $("variant").hidden = !current;
    if (!current || $("variant").dataset.family === current.name) return;
    $("variant").dataset.family = current.name;
    setText($("variant-title"), `A variant of ${current.title}`);
    $("variant-fields").replaceChildren(...current.options.map((option) => field(option, current.variant[option.name])));
    $("variant").onsubmit = (event) => {
      event.preventDefault();
      openVariant(current);
    };
  }

  function field(option, value) {
    const id = `option-${option.name}`;
    let input;
    if (typeof option.default === "boolean") input = h("input", { id, name: option.name, type: "checkbox", checked: value === true });
    else if (option.choices.length) input = h("select", { id, name: option.name }, ...option.choices.map((each) => h("option", { value: each, selected: each === value }, each)));
    else input = h("input", { id, name: option.name, type: typeof option.default === "number" ? "number" : "text", value, min: option.minimum, max: option.maximum, required: true });
    return h("div", { class: "option" }, h("label", { for: id }, option.name), input, option.help ? h("small", {}, option.help) : null);
  }

  async function openVariant(game) {
    const value = (option) => {
      const input = $(`option-${option.name}`);
      return typeof option.default === "boolean" ? (input.checked ? "yes" : "no") : input.value;
    };
    const names = game.options.map((option) => option.name).sort();
    const name = [game.family, ...names.map((each) => `${each}=${value(game.options.find((option) => option.name === each))}`)].join("-");
    try {
      await api.replay(name, {}); // is there such a variant?
      state.games = await api.games();
      dialog.close();
      open(name);
    } catch (error) {
      setText($("variant-reason"), error.message);
    }
  }

  $("games-open").addEventListener("click", () => {
    filter.value = "";
    setText($("variant-reason"), "");
    delete $("variant").dataset.family;
    draw();
    dialog.showModal();
    filter.focus();
  });
  filter.addEventListener("input", draw);
}
