// Dragging with mouse, pen or finger. A short press is a click, which the places handle themselves.

import { h } from "./dom.js";

const MIN_DISTANCE = 6; // pixels before a press becomes a drag

let wasDropped = false;

/** Whether the last move was made by dropping a piece, which is then already in its place. True only once. */
export function wasDragged() {
  const result = wasDropped;
  wasDropped = false;
  return result;
}

const placeAt = (element) => element?.closest?.("#board [data-place], .trays [data-place]") ?? null;

/** A picture of the piece that follows the pointer, in the size it has on the board. */
function makeImage(element) {
  const picture = element.querySelector(":scope > svg");
  if (!picture?.childElementCount) return null;
  const image = h("div", { class: "dragged", "aria-hidden": "true" });
  const box = picture.getBoundingClientRect();
  const size = Math.max(box.width, 44);
  Object.assign(image.style, { width: `${size}px`, height: `${Math.max(box.height, 44)}px` });
  image.append(picture.cloneNode(true));
  return image;
}

/** Calls `start(id)` when a drag begins at a place for which `canDrag` holds, and `drop(from, to)` when it ends; `to` is
 *  null outside the board. */
export function watchDrags({ canDrag, start, drop }) {
  let press = null; // {id, element, x, y, pointer, image, isDragging}

  const move = (event) => press.image?.style.setProperty("translate", `${event.clientX}px ${event.clientY}px`);

  function begin(event) {
    if (!start(press.id)) return (press = null);
    press.isDragging = true;
    press.image = makeImage(document.querySelector(`[data-place="${CSS.escape(press.id)}"]`));
    if (press.image) document.body.append(press.image);
    document.body.classList.add("dragging");
    move(event);
  }

  function end() {
    press.image?.remove();
    document.body.classList.remove("dragging");
    press = null;
  }

  document.addEventListener("pointerdown", (event) => {
    const element = placeAt(event.target);
    wasDropped = false;
    if (press || event.button !== 0 || !element || element.disabled || !canDrag(element.dataset.place)) return;
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    press = { id: element.dataset.place, x, y, pointer, image: null, isDragging: false };
  });
  document.addEventListener("pointermove", (event) => {
    if (event.pointerId !== press?.pointer) return;
    const isFar = Math.hypot(event.clientX - press.x, event.clientY - press.y) > MIN_DISTANCE;
    if (press.isDragging) move(event);
    else if (isFar) begin(event);
  });
  document.addEventListener("pointerup", (event) => {
    if (event.pointerId !== press?.pointer) return;
    const { id, isDragging } = press;
    end();
    if (!isDragging) return;
    // A press and a release on the same element also make a click, which would undo the selection.
    const swallow = (click) => click.stopPropagation();
    document.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => document.removeEventListener("click", swallow, { capture: true }));
    const target = placeAt(document.elementFromPoint(event.clientX, event.clientY));
    wasDropped = true;
    drop(id, target?.dataset.place ?? null);
  });
  document.addEventListener("pointercancel", (event) => event.pointerId === press?.pointer && end());
}
