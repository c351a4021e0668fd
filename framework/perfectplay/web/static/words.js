// How values are written beside moves. Letters and words go with every colour: colour alone says nothing here.

export const LETTERS = { win: "W", draw: "D", loss: "L" };
const NAMES = { win: "Win", draw: "Draw", loss: "Loss" };

export const kind = (value) => value.outcome ?? "unknown";

const signed = (score) => (score > 0 ? `+${score}` : `${score}`.replace("-", "−"));

export const hasScore = (value) => typeof value.score === "number";

/** The number beside the letter: the score where the game has one, else the plies left; "" for an endless draw. */
export const number = (value) => (hasScore(value) ? signed(value.score) : value.remoteness === null ? "" : `${value.remoteness}`);

/** "Win in 5", for lists and screen readers. */
export function long(value) {
  if (!value.outcome) return "Not in the table";
  if (value.remoteness === null) return "Draw, endless";
  const score = hasScore(value) && value.score ? ` by ${Math.abs(value.score)}` : "";
  return `${NAMES[value.outcome]}${score} in ${value.remoteness}`;
}

export const count = (number) => number.toLocaleString("en");

export const plies = (number) => (number === 1 ? "1 ply" : `${count(number)} plies`);

/** Whether two values are the same. */
export const same = (a, b) => a.outcome === b.outcome && a.remoteness === b.remoteness && a.score === b.score;

const ORDINALS = { 2: "second", 3: "third", 4: "fourth", 5: "fifth" };
export const ordinal = (number) => ORDINALS[number] ?? `${number}th`;

/** 1,234,567 bytes as people say it. */
export function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let power = 0;
  while (bytes >= 1024 && power < units.length - 1) {
    bytes /= 1024;
    power += 1;
  }
  return `${bytes < 10 && power ? bytes.toFixed(1) : Math.round(bytes)} ${units[power]}`;
}
