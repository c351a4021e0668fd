// Helpers to build elements. Markup is never made from strings, so a plugin's text cannot become code.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

const isPresent = (child) => child !== null && child !== undefined && child !== false && child !== "";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(isPresent));
  return element;
}

/** Makes an HTML element. Children may be nested lists; null, undefined, false and "" are left out. */
export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** Makes an SVG element in the same way. */
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Makes a button. */
export const button = (attributes, ...children) => h("button", { type: "button", ...attributes }, ...children);

/** Text for screen readers only. */
export const hiddenText = (text) => h("span", { class: "visually-hidden" }, text);

/** A note in place of missing content. */
export const emptyNote = (text) => h("p", { class: "empty" }, text);

/** An object's own property. Names come from plugins and may be anything, even `__proto__`. */
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** A click handler for links that leaves clicks for a new tab or window to the browser. */
export const onLinkClick = (act) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  act();
};

/** Sets a text only if it differs, so that screen readers read it once. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Returns a function that calls `action` after calls have paused for `milliseconds`. */
export function debounce(milliseconds, action) {
  let timer;
  return (...parameters) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...parameters), milliseconds);
  };
}

/** Whether the focus is being restored after a redraw, so that it is not taken for a new one. */
export const focusOrigin = { isRestored: false };

/** Replaces a container's content. A focus inside it moves to the element with the same `data-key`, otherwise to the
 *  first control, otherwise to the board. */
export function redraw(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  container.replaceChildren(...children.filter(isPresent));
  if (!focused || focused === container) return;
  const same = key !== undefined && container.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`);
  const target = same || container.querySelector("a, [tabindex='0'], button:not(:disabled)") || $("board");
  focusOrigin.isRestored = true;
  target.focus({ preventScroll: true });
  focusOrigin.isRestored = false;
}
