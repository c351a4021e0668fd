// Connects the parts of the page, and shows the game in its address.

import * as api from "./api.js";
import { clickPlace, deselect, preview, watchBoard } from "./clicks.js";
import { $, setText } from "./dom.js";
import { useArrowKeys, watchFocus, watchShortcuts } from "./keyboard.js";
import * as match from "./match.js";
import { watchMoves } from "./moves.js";
import { startNotations } from "./notations.js";
import { address, currentPosition, state } from "./state.js";
import { startTabs } from "./tabs.js";
import { firstDeviation, promoteLine, saveTree } from "./variations.js";
import { draw, drawAll, drawControls, drawValueChart, notice, on, showLine } from "./view.js";
import { deleteLine, goTo, handlers, openStart, replaceHistory, showLine as showOtherLine, step } from "./visits.js";
import { visit, visitAddress } from "./visits.js";

let serverReturned = false;
let shownTab = "analysis";

// ---- parts that are loaded when they are first needed ----

/** Returns a function that calls `load` once, and whose `ready` is the result once there is one. */
function later(load) {
  let promise = null;
  const get = () => (promise ??= load().then((result) => (get.ready = result)));
  get.ready = null;
  return get;
}

const explore = later(async () => (await import("./explore.js")).startExplore({ visit, playAs: match.playAs }));
const gameDialog = later(async () => (await import("./games.js")).startGames(openStart));
const editor = later(async () => (await import("./editor.js")).startEditor(visit));
const solving = later(() => import("./games.js"));

/** A handler for a control of Explore. An early click waits until the page has a position and the part is loaded. */
const exploring = (action) => async (event) => {
  event.preventDefault();
  await started;
  if (state.replay) (await explore())[action]();
};

async function loadGame({ target }) {
  await started;
  const [file] = target.files;
  if (file && state.replay) await (await editor()).load(file);
  target.value = ""; // so that the same file can be chosen again
}

async function saveGame() {
  await started;
  if (state.replay) (await editor()).save();
}

async function refreshTab() {
  if (shownTab !== "analysis" && state.replay) (await explore()).refresh(shownTab);
}

function fillEditor() {
  const { board, text } = currentPosition();
  if (editor.ready) return editor.ready.fillIn(currentPosition(), state.game);
  $("editor-text").value = text;
  $("setup").hidden = !board?.spelling;
}

async function watchTable() {
  if (currentPosition().solved) return solving.ready?.stopWatching();
  await (await solving()).watchSolve(state.game, reload);
}

// ---- after a visit ----

function showPosition(fresh, before) {
  $("chooser").close(); // its question was about another position
  draw(fresh, before);
  showLine();
  fillEditor();
  refreshTab();
  watchTable().catch(fail);
  if (serverReturned) notice(`The server answers again. ${$("notice").textContent}`, true);
  serverReturned = false;
}

/** Shows the same position again after a solve, now with values. */
async function reload() {
  state.games = await api.games();
  await visit({ ply: state.ply }, { method: "replaceState" });
}

function fail(error) {
  match.stopComputer();
  notice(error.message, true);
  if (state.replay) drawControls();
  else setText($("verdict").querySelector("p"), "Nothing to show");
}

// ---- controls ----

function flipBoard() {
  if (currentPosition().board?.upright) return notice("This board is never turned around.");
  state.flipped = !state.flipped;
  replaceHistory();
  draw();
}

function promote() {
  promoteLine(state.tree, state.moves);
  saveTree(state.tree, state.game, state.start);
  drawAll();
}

const BUTTONS = {
  first: () => goTo(0),
  last: () => goTo(state.moves.length),
  undo: () => step(-1),
  redo: () => step(1),
  resume: match.continueGame,
  best: match.playBest,
  auto: match.toggleAuto,
  advise: match.advise,
  hints: match.toggleHints,
  flip: flipBoard,
  resign: match.resign,
  rematch: match.rematch,
  analyse: match.analyse,
  new: match.startAgain,
  promote,
  "delete-line": () => deleteLine(firstDeviation(state.tree, state.moves)),
};

const SHORTCUTS = {
  ...BUTTONS,
  help: () => ($("help").open ? $("help").close() : $("help").showModal()),
  deselect,
};

const ARROW_KEYS = {
  board: ".cell",
  moves: ".chip",
  history: ".entry",
  line: ".step",
  "player-top": ".tray",
  "player-bottom": ".tray",
  actions: ".action",
  "setup-board": ".cell",
};

function connect() {
  Object.assign(handlers, {
    leaving: (fresh) => match.stopComputer({ keepAuto: fresh }),
    shown: showPosition,
    failed: fail,
  });
  Object.assign(on, {
    place: clickPlace,
    play: match.play,
    go: goTo,
    role: match.setRole,
    open: openStart,
    tryMove: match.tryMove,
    playLine: match.playLine,
    showLine: showOtherLine,
    retry: match.retryFrom,
    isThinking: match.isThinking,
  });
  for (const [name, act] of Object.entries(BUTTONS)) $(name).addEventListener("click", () => state.replay && act());
  watchFocus();
  for (const [id, selector] of Object.entries(ARROW_KEYS)) useArrowKeys($(id), selector);
  $("help-open").addEventListener("click", SHORTCUTS.help);
  watchBoard($("board"));
  watchMoves($("moves"), { play: match.playNamed, preview });
  watchShortcuts((name) => (state.replay || name === "help") && SHORTCUTS[name]());
  startNotations();
  startTabs((name) => {
    shownTab = name;
    refreshTab();
  });
  $("games-open").addEventListener("click", async () => (await gameDialog())());
  $("find").addEventListener("submit", exploring("findValue"));
  $("find-any").addEventListener("click", exploring("findAny"));
  for (const id of ["find-puzzle", "next-puzzle"]) $(id).addEventListener("click", exploring("findPuzzle"));
  $("load-game").addEventListener("change", loadGame);
  $("save-game").addEventListener("click", saveGame);
  for (const name of ["pointerdown", "focusin"]) {
    $("position-card").addEventListener(name, () => state.replay && editor());
    document.addEventListener(name, () => import("./motion.js"), { once: true });
  }
  api.connection.report = (text) => {
    serverReturned = !text;
    notice(text ?? "The server answers again.", true);
  };
  addEventListener("popstate", (event) => {
    if (event.state) visit(event.state, { method: null });
    else if (location.pathname + location.search !== address()) visitAddress(warnOfLink); // not the skip link
  });
  new ResizeObserver(() => state.replay && drawValueChart()).observe($("chart"));
}

// ---- starting ----

const warnOfLink = (error) =>
  notice(`The link cannot be opened: ${error.message}. This is the start position instead.`, true);

async function start() {
  connect();
  const showGames = (games) => {
    state.games = games;
    if (state.replay) drawAll();
  };
  const listed = api.games().then(showGames, fail);
  const saved = history.state;
  if (saved?.game) await visit(saved, { method: null, onError: () => visitAddress(warnOfLink) });
  else await visitAddress(warnOfLink);
  await listed;
}

const started = start().catch(fail);
