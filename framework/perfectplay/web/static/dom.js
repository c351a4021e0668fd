// Small helpers to build elements: no markup is ever made from strings, so nothing a game says can become code.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** A value of an object's own: names that a plugin chose may be anything, `__proto__` too. */
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** Handles a click on a link here, unless it asks for another tab or window. */
export const followed = (act) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  act();
};

/** Sets a text only if it differs, so that screen readers hear a sentence once. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls `action` once calls have paused for `milliseconds`. */
export function debounced(milliseconds, action) {
  let timer;
  return (...parameters) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...parameters), milliseconds);
  };
}

/** Draws anew what is in a container; if the focus was in it, it goes to what has the same `data-key`, or the first, or else
 *  to the board. */
export function redraw(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  container.replaceChildren(...children);
  if (!focused || focused === container) return;
  const again = key !== undefined && container.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  (again || container.querySelector("a, [tabindex='0'], button:not(:disabled)") || $("board")).focus({ preventScroll: true });
}

const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** The nearest element in a direction: the one that lies most straight ahead. */
function ahead(from, others, [dx, dy]) {
  const centre = (element) => {
    const box = element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = centre(from);
  let best = null;
  for (const other of others) {
    const [ox, oy] = centre(other);
    const along = (ox - x) * dx + (oy - y) * dy;
    const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (along > 2 && (!best || along + 2 * aside < best.far)) best = { other, far: along + 2 * aside };
  }
  return best?.other;
}

/** One tab stop for many elements: arrows, Home and End walk among those that match. */
export function roving(container, selector) {
  const all = () => [...container.querySelectorAll(selector)].filter((element) => !element.disabled);
  container.addEventListener("keydown", (event) => {
    const here = event.target.closest(selector);
    if (!here || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const elements = all();
    let next = null;
    if (event.key === "Home") next = elements[0];
    else if (event.key === "End") next = elements[elements.length - 1];
    else if (STEPS[event.key]) next = ahead(here, elements.filter((element) => element !== here), STEPS[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    here.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  container.addEventListener("focusin", (event) => {
    const here = event.target.closest(selector);
    if (here) for (const element of all()) element.tabIndex = element === here ? 0 : -1;
  });
}

/** After drawing: exactly one of the elements is a tab stop, the current one if there is one. */
export function oneTabStop(container, selector) {
  const elements = [...container.querySelectorAll(selector)].filter((element) => !element.disabled);
  const stop = elements.find((element) => element === document.activeElement) ?? elements.find((element) => element.matches("[aria-current], .selected")) ?? elements[0];
  for (const element of elements) element.tabIndex = element === stop ? 0 : -1;
}
