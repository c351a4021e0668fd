// An editor for positions, by text or by clicking, and saved games. The server decides whether a text is a position; the
// editor shows the reason if it is not. Loaded when first needed.

import * as api from "./api.js";
import {
  describeCell,
  drawCoveredPieces,
  drawGround,
  drawSeedCount,
  drawTopPiece,
  makeCentreOf,
  placeCell,
  shapeBoard,
  trayPiece,
} from "./board.js";
import { $, button, debounce, h, hiddenText, redraw, setText } from "./dom.js";
import { setTabStop } from "./keyboard.js";
import { describePiece, pieceImage } from "./pieces.js";
import { currentPosition, hintsShown, listedGame, state } from "./state.js";
import { SAVED_FORMAT } from "./vocabulary.js";

/** Draws a small board for the editor; `makeCell` makes the element of a cell. */
function drawSmallBoard(container, board, makeCell) {
  const centreOf = makeCentreOf(board, false);
  shapeBoard(container, board);
  const field = h("div", { class: "field" }, drawGround(board, centreOf));
  for (const cell of board.cells) {
    const element = makeCell(cell);
    element.append(...[drawTopPiece(cell, false), drawCoveredPieces(cell), drawSeedCount(cell)].filter(Boolean));
    placeCell(element, centreOf(cell), cell, board);
    field.append(element);
  }
  redraw(container, field);
  setTabStop(field, "button.cell");
}

// ---- saved games ----

/** The game in the format of `Match.json` in match.py. */
function savedGame() {
  const { variant = {}, family = state.game } = listedGame() ?? {};
  const start = state.start === null ? {} : { start: state.start };
  return JSON.stringify(
    { format: SAVED_FORMAT, game: family, options: variant, ...start, moves: state.moves },
    null,
    2,
  );
}

function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function parseJSON(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The content of a saved game as `visit` takes it. Throws an Error with the reason if it cannot be opened. */
function parseSavedGame(text) {
  const saved = parseJSON(text);
  if (saved?.format !== SAVED_FORMAT || !Array.isArray(saved.moves)) throw new Error("it is not a saved game");
  const sortedOptions = (options) => JSON.stringify(Object.entries(options ?? {}).sort());
  const isSame = (game) => game.family === saved.game && sortedOptions(game.variant) === sortedOptions(saved.options);
  const game = state.games.find(isSame);
  if (!game) throw new Error(`it is a game of ${saved.game}, in a variant that is not open here`);
  return { game: game.name, start: saved.start ?? null, moves: saved.moves.map(String) };
}

// ---- setting up a position by clicking ----

const FIELDS = /\{([^:}]*)(?::([^}]*))?\}/g;

/** The text of a board by its spelling; `spell_board` in game/board.py does the same. */
function spell(board) {
  const { template, empty, movers, counts } = board.spelling;
  const spellTray = (count, text) => (text === undefined ? count : (["", text][count] ?? `${count}${text}`));
  return template.replace(FIELDS, (_, name, text) => {
    if (!name) return movers[board.to_move];
    const tray = board.trays.find((each) => each.id === name);
    if (tray) return spellTray(tray.count, text);
    const labels = board.cells.find((each) => each.id === name).stack.map((piece) => piece.label);
    if (counts.includes(name)) return labels.join("") || "0";
    return labels.length ? (text ?? labels.join("")) : empty;
  });
}

/** The names of the places that can be changed. */
const editablePlaces = ({ template }) => new Set([...template.matchAll(FIELDS)].map(([, name]) => name));

/** A cell's pieces after a click: one more or, if no piece is chosen, one less. */
function changeStack({ id, stack }, chosen, { counts, stacks }) {
  if (!counts.includes(id)) return chosen ? [...(stacks ? stack : []), chosen] : stack.slice(0, -1);
  const [top = chosen] = stack;
  const count = Math.max(0, Number(stack[0]?.label ?? 0) + (chosen ? 1 : -1));
  return count ? [{ ...top, label: String(count) }] : [];
}

const makeToggle = (label, pressed, act, content = label) =>
  button({ "aria-label": label, "aria-pressed": String(pressed), "data-key": label, onclick: act }, content);

/** Connects the board to set up; `onText` gets the text after each change. Returns a function that shows a board. */
function startSetup(onText) {
  let board = null;
  let isFirst = true;
  let chosen = null; // the piece to place; null removes the top piece

  const change = (act) => {
    act();
    draw();
    onText(spell(board));
  };

  const choose = (piece) => {
    chosen = piece;
    draw();
  };

  function makeCell(cell) {
    if (!editablePlaces(board.spelling).has(cell.id)) return h("span", { class: "cell" });
    const place = () => (cell.stack = changeStack(cell, chosen, board.spelling));
    const attributes = { class: "cell", tabindex: "-1", "data-key": cell.id, onclick: () => change(place) };
    return button(attributes, hiddenText(describeCell(cell, board)));
  }

  function makeTrayButton(tray) {
    const label = `${describePiece(tray.piece, board.players)} in reserve: ${tray.count}`;
    const count = () => (tray.count = Math.max(0, tray.count + (chosen ? 1 : -1)));
    const attributes = { "data-key": tray.id, onclick: () => change(count) };
    const shown = h("span", { "aria-hidden": "true" }, `×${tray.count}`);
    return button(attributes, hiddenText(label), pieceImage(trayPiece(tray.piece)), shown);
  }

  function makePieceToggle(piece) {
    const label = describePiece(piece, board.players);
    const image = pieceImage(trayPiece(piece));
    return makeToggle(label, chosen?.label === piece.label, () => choose(piece), image);
  }

  function makeMoverToggle(name, owner) {
    const setMover = () => change(() => (board.to_move = owner));
    return makeToggle(`${name} to move`, board.to_move === owner, setMover);
  }

  function draw() {
    const { pieces, movers: words } = board.spelling;
    const movers = words[0] === words[1] ? [] : board.players;
    const places = editablePlaces(board.spelling);
    const remove = makeToggle("Remove", chosen === null, () => choose(null));
    redraw($("setup-pieces"), ...pieces.map(makePieceToggle), remove);
    drawSmallBoard($("setup-board"), board, makeCell);
    redraw($("setup-trays"), ...board.trays.filter((tray) => places.has(tray.id)).map(makeTrayButton));
    redraw($("setup-mover"), ...movers.map(makeMoverToggle));
  }

  return (shown) => {
    $("setup").hidden = !shown?.spelling;
    if (!shown?.spelling) return;
    const copyAll = (places) => places.map((each) => ({ ...each }));
    board = { ...shown, cells: copyAll(shown.cells), trays: copyAll(shown.trays) };
    const { pieces } = board.spelling;
    if (isFirst || (chosen && !pieces.some((piece) => piece.label === chosen.label))) [chosen] = pieces;
    isFirst = false;
    draw();
  };
}

// ---- the editor ----

/** Connects the editor, and fills it. Returns `fillIn`, which puts another position into it, `load` and `save`. */
export function startEditor(visit) {
  const field = $("editor-text");
  const reason = $("editor-reason");
  let found = null;
  let requests = 0;
  let isEdited = false; // an edited text is kept until another game is shown
  let game = null;

  function show(position, text, isGood) {
    found = position;
    $("editor-go").disabled = !position;
    setText(reason, text);
    reason.classList.toggle("good", isGood);
    const isPlain = position?.board && !position.board.spelling; // otherwise the board to set up shows it
    $("editor-board").hidden = !isPlain;
    if (isPlain) drawSmallBoard($("editor-board"), position.board, () => h("span", { class: "cell" }));
    else if (position) showSetup(position.board);
  }

  const showSetup = startSetup((text) => {
    field.value = text;
    isEdited = true;
    check();
  });

  async function check() {
    const text = field.value.trim();
    const number = ++requests;
    const current = state.game;
    if (!text) return show(null, "", false);
    try {
      const { possible, reason: problem, id } = await api.check(current, text);
      const position = possible ? await api.position(current, id) : null;
      if (number !== requests || current !== state.game) return;
      if (!position) show(null, problem, false);
      else show(position, hintsShown() ? `Valid position: ${position.headline}` : "Valid position", true);
    } catch (error) {
      if (number === requests) show(null, error.message, false);
    }
  }

  async function load(file) {
    try {
      const showReason = (error) => show(null, `${file.name} cannot be loaded: ${error.message}`, false);
      show(null, "", false);
      await visit(parseSavedGame(await file.text()), { onError: showReason });
    } catch (error) {
      show(null, `${file.name} cannot be loaded: ${error.message}`, false);
    }
  }

  field.addEventListener("input", () => (isEdited = field.value !== ""));
  field.addEventListener("input", debounce(150, check));
  $("editor").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!found) return;
    isEdited = false;
    visit({ start: found.text, moves: [] });
  });
  show(null, "", false);

  const fillIn = (position, name) => {
    if (isEdited && name === game) return;
    game = name;
    isEdited = false;
    requests += 1; // answers still under way are about another position
    field.value = position.text;
    show(null, "", false);
    showSetup(position.board);
  };
  const typed = field.value; // while this was loaded
  fillIn(currentPosition(), state.game);
  if (typed !== field.value) {
    field.value = typed;
    isEdited = true;
    check();
  }
  return { fillIn, load, save: () => download(savedGame(), `${state.game}.json`) };
}
