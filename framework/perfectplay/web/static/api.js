// The JSON interface, as far as the page uses it. What is known of a position never changes, so it is kept.
// A server that does not answer, or asks to wait, is asked again until it answers; what people see of that is told to `trouble`.

const KEPT = 300;
const kept = new Map();

/** Called with a sentence while the server does not answer, and with null once it does again. */
export const trouble = { tell: () => {} };

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function fetchPatiently(path, options) {
  for (let attempt = 0; ; attempt += 1) {
    let wait = Math.min(4000, 500 * 2 ** attempt);
    try {
      const response = await fetch(path, options);
      if (response.status !== 429) {
        if (attempt) trouble.tell(null);
        return response;
      }
      wait = 1000 * (Number(response.headers.get("retry-after")) || 1);
      trouble.tell("The server asks for a pause. Trying again…");
    } catch (error) {
      if (error.name === "AbortError") throw error;
      if (options?.method) throw new Error("The server does not answer. Is `solve serve` still running?");
      trouble.tell("The server does not answer. Is `solve serve` still running? Trying again…");
    }
    await pause(wait);
    options?.signal?.throwIfAborted();
  }
}

async function ask(path, options) {
  const response = await fetchPatiently(`/api/${path}`, options);
  const answer = await response.json().catch(() => ({ error: "The server's answer cannot be read." }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** Whether an answer will be the same tomorrow: what is not known may be known once the table has been finished. */
function isFinal(answer) {
  if ("complete" in answer) return answer.complete; // the whole table in numbers
  const position = answer.position ?? answer;
  const valued = [position, ...(position.moves ?? []), ...(answer.timeline ?? [])];
  return position.solved !== false && valued.every((each) => each.outcome !== null);
}

async function remembered(path, signal) {
  if (kept.has(path)) {
    const answer = kept.get(path);
    kept.delete(path);
    kept.set(path, answer); // the latest used last
    return answer;
  }
  const answer = await ask(path, signal && { signal });
  if (isFinal(answer)) kept.set(path, answer);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return answer;
}

/** A game's name as it stands in an address. */
export const pathOf = (game) => encodeURIComponent(game).replaceAll("%3D", "=");

const path = (game, rest) => `${pathOf(game)}/${rest}`;

const query = (where) => {
  const given = Object.entries(where).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const games = async () => (await ask("games")).games;

/** Whether a text is a position: {possible, reason, id}. */
export const check = (game, text) => ask(path(game, `check${query({ position: text })}`));

/** Everything about a position; by its id. */
export const position = (game, id, signal) => remembered(path(game, `position${query({ id })}`), signal);

/** A whole game by its moves, looked at after `ply` of them. */
export const replay = (game, where, signal) => remembered(path(game, `replay${query(where)}`), signal);

export const line = (game, id) => remembered(path(game, `line${query({ id })}`));

export const overview = (game) => remembered(path(game, "overview"));

export const find = (game, where) => ask(path(game, `find${query(where)}`));

export const solveProgress = (game) => ask(path(game, "solve"));

export const startSolve = (game) => ask(path(game, "solve"), { method: "POST" });

export const stopSolve = (game) => ask(path(game, "solve"), { method: "DELETE" });

/** After a solve, what was said of an unsolved game is no longer true. */
export const forget = () => kept.clear();
