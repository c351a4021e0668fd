// The lines of moves tried in a game, as a tree. A node is {move, children}; the first child of a node is its main
// continuation. The root has no move. The tree is kept for the tab, so that no line is lost by Back or a reload.

const keyOf = (game, start) => `perfectplay lines ${game} ${start ?? ""}`;

const makeNode = (move) => ({ move, children: [] });

const childOf = (node, move) => node?.children.find((child) => child.move === move);

export function loadTree(game, start) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(game, start))) ?? makeNode(null);
  } catch {
    return makeNode(null); // the browser may forbid storage
  }
}

export function saveTree(tree, game, start) {
  try {
    sessionStorage.setItem(keyOf(game, start), JSON.stringify(tree));
  } catch {
    // the lines last until the page is closed
  }
}

/** The node after these moves, or undefined. */
export const findNode = (tree, moves) => moves.reduce(childOf, tree);

export function addLine(tree, moves) {
  let node = tree;
  for (const move of moves) {
    let child = childOf(node, move);
    if (!child) node.children.push((child = makeNode(move)));
    node = child;
  }
}

/** The main continuation after a node. */
export function continuationOf(node) {
  const moves = [];
  for (let next = node?.children[0]; next; [next] = next.children) moves.push(next.move);
  return moves;
}

/** The other moves that were tried instead of move `ply` of a line, each with its continuation. */
export function alternativesAt(tree, moves, ply) {
  const parent = findNode(tree, moves.slice(0, ply));
  const others = parent?.children.filter((child) => child.move !== moves[ply]) ?? [];
  return others.map((child) => [child.move, ...continuationOf(child)]);
}

/** The first move at which a line leaves the main line, counted from 0; -1 for the main line. */
export function firstDeviation(tree, moves) {
  let node = tree;
  for (const [ply, move] of moves.entries()) {
    if (node?.children[0]?.move !== move) return ply;
    [node] = node.children;
  }
  return -1;
}

/** Makes a line the main line. */
export function promoteLine(tree, moves) {
  let node = tree;
  for (const move of moves) {
    const child = childOf(node, move);
    node.children = [child, ...node.children.filter((each) => each !== child)];
    node = child;
  }
}

/** Removes move `ply` of a line and everything after it. */
export function removeLine(tree, moves, ply) {
  const parent = findNode(tree, moves.slice(0, ply));
  parent.children = parent.children.filter((child) => child.move !== moves[ply]);
}
