// The card after a game against the computer: the user's mistakes, the move that changed the result, and what next.

import { button, h, redraw } from "./dom.js";
import { againstComputer, isComputer, players, state } from "./state.js";

const MAX_MISTAKES = 6;

/** The user's mistakes in the shown line: {ply, entry}, where the entry is the position after the move. */
function findMistakes() {
  const { timeline } = state.replay;
  return timeline
    .map((entry, ply) => ({ entry, ply }))
    .filter(({ entry, ply }) => ply > 0 && entry.mark && !isComputer(timeline[ply - 1].to_move));
}

/** Who wins with perfect play: 0, 1, or null for a draw. */
function winnerOf({ outcome, to_move: mover }) {
  if (outcome === "draw") return null;
  return outcome === "win" ? mover : 1 - mover;
}

/** Whether a mistake changed who wins, not only by how much or when. */
const changesResult = ({ entry, ply }) => winnerOf(state.replay.timeline[ply - 1]) !== winnerOf(entry);

function describeMistakes(mistakes) {
  const { timeline } = state.replay;
  if (timeline.every((entry) => entry.outcome === null)) return "The moves cannot be judged: the game is not solved.";
  if (!mistakes.length) return "You made no mistake.";
  const decisive = mistakes.find(changesResult);
  const count = mistakes.length === 1 ? "one mistake" : `${mistakes.length} mistakes`;
  if (!decisive) return `You made ${count}. The result did not change.`;
  return `You made ${count}. The result changed with your move ${decisive.ply}, ${decisive.entry.move}.`;
}

const makeItem = ({ entry, ply }, onRetry) =>
  h(
    "li",
    {},
    h("span", {}, `${ply}. ${entry.move} `, h("b", { class: "mark" }, entry.mark), ` ${entry.comment}`),
    button({ "data-key": `retry ${ply}`, onclick: () => onRetry(ply - 1) }, "Try again from here"),
  );

/** Draws the summary of a finished game; hides it during a game and in analysis. */
export function drawSummary(container, { onRetry }) {
  const isShown = state.finished && againstComputer() && state.moves.length > 0 && players().length === 2;
  container.hidden = !isShown;
  if (!isShown) return container.replaceChildren();
  const mistakes = findMistakes();
  const worst = [...mistakes]
    .sort((a, b) => changesResult(b) - changesResult(a) || a.ply - b.ply)
    .slice(0, MAX_MISTAKES);
  worst.sort((a, b) => a.ply - b.ply);
  redraw(
    container,
    h("h2", {}, "Your game"),
    h("p", {}, describeMistakes(mistakes)),
    worst.length > 0 &&
      h(
        "ol",
        { class: "mistakes" },
        worst.map((mistake) => makeItem(mistake, onRetry)),
      ),
  );
}
