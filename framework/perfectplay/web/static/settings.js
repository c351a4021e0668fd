// What people choose once and find again after a reload: kept by the browser, for this address only.

const KEY = "perfectplay";
const DEFAULTS = { hints: true, flipped: false, shortcuts: true, strength: "perfect", roles: {} };

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY)) ?? {};
    const right = Object.entries(DEFAULTS).filter(([name, value]) => found[name] !== null && typeof found[name] === typeof value);
    return { ...DEFAULTS, ...Object.fromEntries(right.map(([name]) => [name, found[name]])) };
  } catch {
    return { ...DEFAULTS }; // a browser may forbid to keep anything
  }
}

export const settings = read();

export function keep(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // it holds until the page is closed
  }
}
