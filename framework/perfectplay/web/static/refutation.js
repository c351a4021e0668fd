// The line that refutes the losing move under the pointer. Loaded when first needed.

import * as api from "./api.js";
import { debounce } from "./dom.js";
import { state } from "./state.js";
import { formatLong } from "./values.js";
import { notice } from "./view.js";

const MAX_REFUTATION = 6; // moves

/** Shows the opponent's best play against a losing move. */
export const showRefutation = debounce(150, async (move, replay) => {
  const isStale = () => state.replay !== replay || state.preview === null;
  if (isStale()) return;
  const { line } = await api.line(state.game, move.id).catch(() => ({ line: [] }));
  if (isStale() || !line.length) return;
  const shown = line.slice(0, MAX_REFUTATION).map((step) => step.move);
  const more = line.length > MAX_REFUTATION ? " …" : "";
  notice(`${move.move} (${formatLong(move)}) is refuted by ${shown.join(" ")}${more}`);
});
