// The JSON interface, as far as the page uses it. Answers about positions never change, so they are kept.

const KEPT = 500;
const kept = new Map();

async function ask(path, options) {
  let response;
  try {
    response = await fetch(`/api/${path}`, options);
  } catch {
    throw new Error("The server does not answer: is `solve serve` still running?");
  }
  const answer = await response.json().catch(() => ({ error: "The server's answer cannot be read." }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

export const games = async () => (await ask("games")).games;

async function remembered(key, path) {
  if (kept.has(key)) {
    const answer = kept.get(key);
    kept.delete(key);
    kept.set(key, answer); // the latest used last
    return answer;
  }
  const answer = await ask(path);
  if (answer.solved !== false) kept.set(key, answer);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return answer;
}

const query = (where) => new URLSearchParams(where).toString();

/** Whether a text is a position: {possible, reason, id}. */
export const check = (game, text) => ask(`${encodeURIComponent(game)}/check?${query({ position: text })}`);

/** Everything about a position; by its id. */
export const position = (game, id) => remembered(`${game} ${id}`, `${encodeURIComponent(game)}/position?${query({ id })}`);

export const line = (game, id) => remembered(`${game} line ${id}`, `${encodeURIComponent(game)}/line?${query({ id })}`);

export const solveProgress = (game) => ask(`${encodeURIComponent(game)}/solve`);

export const startSolve = (game) => ask(`${encodeURIComponent(game)}/solve`, { method: "POST" });

export const stopSolve = (game) => ask(`${encodeURIComponent(game)}/solve`, { method: "DELETE" });

/** After a solve, what was said of an unsolved game is no longer true. */
export const forget = () => kept.clear();
