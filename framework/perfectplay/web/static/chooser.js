// Asks which move is meant where several share source and target, such as a promotion.

import { $, h } from "./dom.js";
import { kind, LETTERS, long, number } from "./words.js";

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
          "aria-label": `${move.label || move.move}${values ? `: ${long(move)}` : ""}`,
          onclick: () => {
            chosen = move;
            dialog.close();
          },
        },
        move.label || move.move,
        values ? h("span", { class: `badge inline ${kind(move)}` }, `${LETTERS[move.outcome] ?? "?"} ${number(move)}`.trim()) : null,
      );
    $("choices").replaceChildren(...moves.map(choice));
    dialog.addEventListener("close", () => resolve(chosen), { once: true });
    dialog.showModal();
  });
}
