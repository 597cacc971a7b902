/* A tree with other roots and another order of its clades.
   A tree is {parent, length, support, id, edge}, one of each per node in preorder: the node above (-1 for the root),
   the branch to it, the node in the file's order (-1 for a root that the file does not have), and the number of the
   branch, which both branches of a root of two children have in common. */
class Roots {
  /** `given`: parent, length and support of the file's tree in preorder. */
  constructor({parent, length, support}) {
    const n = parent.length, edge = Int32Array.from(parent.keys());
    this.n = n;
    this.ends = Array.from(parent, (above, k) => [k, above]);
    this.length = Float64Array.from(length), this.support = Float64Array.from(support);
    this.ends[0] = null;
    const below = (node) => Array.from(parent.keys()).filter((k) => parent[k] === node);
    let top = below(0);
    for (; top.length === 1; top = below(top[0])) this.ends[top[0]] = null;  // a branch with nothing beside it
    if (top.length === 2) {
      const [a, b] = top;
      edge[b] = a;
      this.ends[a] = [a, b], this.ends[b] = null;
      this.length[a] += this.length[b];
      if (!Number.isNaN(this.support[b])) this.support[a] = this.support[b];
    }
    this.given = {parent, length, support, id: Int32Array.from(parent.keys()), edge};
    this.around = Array.from(parent, () => []);
    this.ends.forEach((ends, number) => ends && ends.forEach((node) => this.around[node].push(number)));
  }
  /** The node at the other end of a branch. */
  across(edge, node) {
    const [a, b] = this.ends[edge];
    return a === node ? b : a;
  }
  /** The tree whose root lies on a branch, this share of its length away from one of its ends, which comes first. */
  rootedOn(edge, first, share) {
    const found = {parent: [-1], length: [0], support: [NaN], id: [-1], edge: [-1]};
    const second = this.across(edge, first), whole = this.length[edge];
    const stack = [[second, edge, 0, whole * (1 - share)], [first, edge, 0, whole * share]];
    while (stack.length) {
      const [node, from, above, length] = stack.pop(), at = found.parent.length;
      found.parent.push(above), found.length.push(length), found.id.push(node), found.edge.push(from);
      found.support.push(this.around[node].length > 1 ? this.support[from] : NaN);
      for (const next of this.around[node].toReversed())
        if (next !== from) stack.push([this.across(next, node), next, at, this.length[next]]);
    }
    return typed(found);
  }
  /**
   * The tip farthest from a node, how far, and the branch by which each node is reached; lengths below 0 count as 0.
   */
  farthest(start) {
    const far = new Float64Array(this.n).fill(-1), came = new Int32Array(this.n).fill(-1), stack = [start];
    far[start] = 0;
    while (stack.length) {
      const node = stack.pop();
      for (const edge of this.around[node]) {
        const next = this.across(edge, node);
        if (far[next] >= 0) continue;
        far[next] = far[node] + Math.max(0, this.length[edge]), came[next] = edge;
        stack.push(next);
      }
    }
    let end = -1;
    for (let k = 0; k < this.n; k++)
      if (this.around[k].length === 1 && k !== start && (end < 0 || far[k] > far[end])) end = k;
    return {end, whole: far[end], came};
  }
  /** The tree with its root in the middle of the longest path between two tips. */
  atMidpoint() {
    if (this.around.length < 3) return this.given;
    const {end: start} = this.farthest(this.around.findIndex((edges) => edges.length === 1));
    const {end, whole, came} = this.farthest(start);
    for (let node = end, walked = 0;;) {
      const edge = came[node], length = Math.max(0, this.length[edge]), before = this.across(edge, node);
      if (walked + length >= whole / 2 || came[before] < 0)
        return this.rootedOn(edge, node, length > 0 ? Math.min(1, (whole / 2 - walked) / length) : .5);
      node = before, walked += length;
    }
  }
}

/** Numbers of a tree in typed arrays. */
function typed({parent, length, support, id, edge}) {
  return {
    parent: Int32Array.from(parent),
    length: Float64Array.from(length),
    support: Float64Array.from(support),
    id: Int32Array.from(id),
    edge: Int32Array.from(edge)
  };
}

/** The tree with the smaller of neighbouring clades first. */
function bySize(tree) {
  const n = tree.parent.length, tips = new Int32Array(n), below = Array.from({length: n}, () => []);
  for (let k = n - 1; k > 0; k--) tips[tree.parent[k]] += tips[k] ||= 1, below[tree.parent[k]].push(k);
  const order = [], place = new Int32Array(n), stack = [0];
  while (stack.length) {
    const k = stack.pop();
    place[k] = order.length;
    order.push(k);
    stack.push(...below[k].sort((a, b) => tips[b] - tips[a] || b - a));
  }
  const moved = (name) => order.map((k) => tree[name][k]);
  const [length, support, id, edge] = ["length", "support", "id", "edge"].map(moved);
  return typed({parent: order.map((k) => k ? place[tree.parent[k]] : -1), length, support, id, edge});
}
