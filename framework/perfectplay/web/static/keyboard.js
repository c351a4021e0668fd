// The keyboard: shortcuts, and arrow keys inside the board and the lists, each of which is one tab stop.

import { $, focusOrigin } from "./dom.js";
import { saveSettings, settings } from "./state.js";

// None of these keys scrolls. Single-key shortcuts can be turned off.
const SHORTCUTS = {
  ArrowLeft: "undo",
  ArrowRight: "redo",
  "Shift+ArrowLeft": "first",
  "Shift+ArrowRight": "last",
  b: "best",
  h: "hints",
  f: "flip",
  n: "new",
  "?": "help",
};

const usesKeysItself = (element) => element.closest?.("input, select, textarea, dialog[open], [role=tablist]");

const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;

/** Calls `act` with the name of an action when its key is pressed. */
export function watchShortcuts(act) {
  const checkbox = $("shortcuts");
  checkbox.checked = settings.shortcuts;
  checkbox.addEventListener("change", () => saveSettings({ shortcuts: checkbox.checked }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && $("help").open) return act("help");
    if (event.key === "Escape" && !event.target.closest?.("dialog[open]")) return act("deselect");
    if (!settings.shortcuts || hasModifier(event) || event.defaultPrevented || usesKeysItself(event.target)) return;
    const name = SHORTCUTS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key];
    if (!name) return;
    event.preventDefault();
    act(name);
  });
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

function centreOf(element) {
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** The nearest element in a direction; distance to the side counts double. */
function findNearest(from, others, [dx, dy]) {
  const [x, y] = centreOf(from);
  let best = null;
  for (const other of others) {
    const [ox, oy] = centreOf(other);
    const along = (ox - x) * dx + (oy - y) * dy;
    const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    const distance = along + 2 * aside;
    if (along > 2 && (!best || distance < best.distance)) best = { other, distance };
  }
  return best?.other;
}

const enabledElements = (container, selector) =>
  [...container.querySelectorAll(selector)].filter((element) => !element.disabled);

// After a click the arrow keys step through the game; after Tab they move inside the board and the lists.
let isPointerDown = false;
let focusedByPointer = false;

/** Notes whether the focus comes from the pointer or from the keyboard. */
export function watchFocus() {
  const setPointer = (isDown) => () => (isPointerDown = isDown);
  document.addEventListener("pointerdown", setPointer(true), { capture: true });
  for (const name of ["keydown", "click", "pointercancel"]) {
    document.addEventListener(name, setPointer(false), { capture: true });
  }
  document.addEventListener("pointerdown", () => (focusedByPointer = true), { capture: true });
  document.addEventListener("focusin", () => {
    if (!isPointerDown && !focusOrigin.isRestored) focusedByPointer = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Tab") focusedByPointer = false;
  });
}

/** Lets arrow keys, Home and End move the focus among the matching elements, which are one tab stop. */
export function useArrowKeys(container, selector) {
  container.addEventListener("keydown", (event) => {
    const current = event.target.closest(selector);
    if (!current || hasModifier(event) || event.shiftKey || focusedByPointer) return;
    const elements = enabledElements(container, selector);
    const others = elements.filter((element) => element !== current);
    let next = null;
    if (event.key === "Home") next = elements[0];
    else if (event.key === "End") next = elements[elements.length - 1];
    else if (DIRECTIONS[event.key]) next = findNearest(current, others, DIRECTIONS[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    current.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  container.addEventListener("focusin", (event) => {
    const current = event.target.closest(selector);
    if (!current) return;
    for (const element of enabledElements(container, selector)) element.tabIndex = element === current ? 0 : -1;
  });
}

/** After drawing: makes one of the elements the tab stop, the current one if there is one. */
export function setTabStop(container, selector) {
  const elements = enabledElements(container, selector);
  const stop =
    elements.find((element) => element === document.activeElement) ??
    elements.find((element) => element.matches("[aria-current], .selected")) ??
    elements[0];
  for (const element of elements) element.tabIndex = element === stop ? 0 : -1;
}
