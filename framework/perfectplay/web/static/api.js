// The server's JSON API, as far as the page uses it. Values never change, so answers are cached. If the server does not
// answer or is busy, requests are repeated until it answers, and `connection.report` shows that to the user.

const CACHE_SIZE = 300;
const cache = new Map(); // the most recently used last

/** `report` is called with a sentence when the server stops answering, and with null when it answers again. */
export const connection = { report: () => {} };

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function fetchWithRetries(path, options) {
  for (let attempt = 0; ; attempt += 1) {
    let delay = Math.min(4000, 500 * 2 ** attempt);
    try {
      const response = await fetch(path, options);
      if (response.status !== 429) {
        if (attempt) connection.report(null);
        return response;
      }
      delay = 1000 * (Number(response.headers.get("retry-after")) || 1);
      connection.report("Server busy, retrying…");
    } catch (error) {
      if (error.name === "AbortError") throw error;
      if (options?.method) throw new Error("The server does not answer. Is `solve serve` still running?");
      connection.report("The server does not answer. Is `solve serve` still running? Retrying…");
    }
    await wait(delay);
    options?.signal?.throwIfAborted();
  }
}

async function request(path, options) {
  const response = await fetchWithRetries(`/api/${path}`, options);
  const answer = await response.json().catch(() => ({ error: "The server's answer is not JSON." }));
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

/** Whether an answer cannot change any more. Unknown values may be known once the table is finished. */
function isFinal(answer) {
  if ("complete" in answer) return answer.complete; // statistics of a table
  const position = answer.position ?? answer;
  const values = [position, ...(position.moves ?? []), ...(answer.timeline ?? [])];
  return position.solved !== false && values.every((value) => value.outcome !== null);
}

async function requestCached(path, options) {
  const cached = cache.get(path);
  if (cached) {
    cache.delete(path);
    cache.set(path, cached);
    return cached;
  }
  const answer = await request(path, options);
  if (isFinal(answer)) cache.set(path, answer);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value);
  return answer;
}

/** A game's name as part of an address. */
export const pathOf = (game) => encodeURIComponent(game).replaceAll("%3D", "=");

function pathWithQuery(game, endpoint, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = given.length ? `?${new URLSearchParams(given)}` : "";
  return `${pathOf(game)}/${endpoint}${text}`;
}

export const games = async () => (await request("games")).games;

/** Whether a text is a position: {possible, reason, id}. */
export const check = (game, text) => request(pathWithQuery(game, "check", { position: text }));

// The browser may keep answers about a position for other sites; one of an earlier version would not fit this page.
const FRESH = { cache: "no-store" };

/** Everything about the position with this id. */
export const position = (game, id, signal) =>
  requestCached(pathWithQuery(game, "position", { id }), { ...FRESH, signal });

/** A whole game by its moves, and everything about the position after `ply` of them. */
export const replay = (game, query, signal) => requestCached(pathWithQuery(game, "replay", query), { signal });

/** The computer's move after a game's moves. */
export const choose = (game, query) => request(pathWithQuery(game, "choose", query));

export const line = (game, id) => requestCached(pathWithQuery(game, "line", { id }), FRESH);

export const overview = (game) => requestCached(pathWithQuery(game, "overview"));

export const find = (game, query) => request(pathWithQuery(game, "find", query));

export const solveProgress = (game) => request(pathWithQuery(game, "solve"));

export const startSolve = (game) => request(pathWithQuery(game, "solve"), { method: "POST" });

export const stopSolve = (game) => request(pathWithQuery(game, "solve"), { method: "DELETE" });

/** Forgets all answers, because those about an unsolved game are outdated once it is solved. */
export const clearCache = () => cache.clear();
