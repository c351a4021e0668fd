// How values are written beside moves. Letters and words go with every colour: colour alone says nothing here.

export const LETTERS = { win: "W", draw: "D", loss: "L" };
const NAMES = { win: "Win", draw: "Draw", loss: "Loss" };

export const kind = (value) => value.outcome ?? "unknown";

/** "W 5", for a badge on the board. */
export function short(value) {
  if (!value.outcome) return "?";
  return LETTERS[value.outcome] + (value.remoteness === null ? "" : `\u2009${value.remoteness}`);
}

/** "Win in 5", for lists and screen readers. */
export function long(value) {
  if (!value.outcome) return "Not in the table";
  if (value.remoteness === null) return "Draw, endless";
  return `${NAMES[value.outcome]} in ${value.remoteness}`;
}

export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** The same value, seen by the player who moved there. */
export function forParent(value) {
  if (!value.outcome) return value;
  const outcome = { win: "loss", loss: "win", draw: "draw" }[value.outcome];
  return { outcome, remoteness: value.remoteness === null ? null : value.remoteness + 1 };
}

/** A game's name as a title: "gobblet" is "Gobblet". */
export const title = (name) => name.charAt(0).toUpperCase() + name.slice(1);
