// The dialog that asks which move is meant where several share source and target. Loaded when first needed.

import { inlineBadge } from "./board.js";
import { $, button, h } from "./dom.js";
import { drawMoved } from "./moves.js";
import { kindOf } from "./values.js";

/** Asks which of these moves is meant. Returns the move, or null. */
export function askForMove(moves, values) {
  const dialog = $("chooser");
  return new Promise((resolve) => {
    let chosen = null;
    const choose = (move) => {
      chosen = move;
      dialog.close();
    };
    const makeChoice = (move) =>
      button(
        { class: `choice ${values ? kindOf(move) : ""}`, "data-move": move.move, onclick: () => choose(move) },
        h("span", {}, drawMoved(move), move.label || move.move),
        values && inlineBadge(move),
      );
    $("choices").replaceChildren(...moves.map(makeChoice));
    dialog.addEventListener("close", () => resolve(chosen), { once: true });
    dialog.showModal();
  });
}
