// Asks which move is meant where several share source and target, such as a promotion.

import { $, h } from "./dom.js";
import { inlineBadge } from "./marks.js";
import { kind } from "./words.js";

/** The chosen one of these moves, or null. */
export function chooseMove(moves, values) {
  const dialog = $("chooser");
  return new Promise((resolve) => {
    let chosen = null;
    const choice = (move) =>
      h("button",
        {
          class: `choice ${values ? kind(move) : ""}`,
          type: "button",
          "data-move": move.move,
          onclick: () => {
            chosen = move;
            dialog.close();
          },
        },
        move.label || move.move,
        values && inlineBadge(move),
      );
    $("choices").replaceChildren(...moves.map(choice));
    dialog.addEventListener("close", () => resolve(chosen), { once: true });
    dialog.showModal();
  });
}
