/* A tree with other roots and another order of its clades. A tree is {parent, length, support, id, edge}, each an
 * array over nodes in preorder: the node above (-1 for the root), the length and support of the branch to it, the
 * node in file order (-1 for a root that is not in the file), and the branch number; the two branches of a root with
 * two children have the same number.
 */
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
    for (; top.length === 1; top = below(top[0])) this.ends[top[0]] = null;  // a branch without siblings
    if (top.length === 2) {
      const [a, b] = top;
      edge[b] = a;
      this.ends[a] = [a, b], this.ends[b] = null;
      this.length[a] += this.length[b];
      // Keep the lower support of both halves, as `tropalign tree` does.
      if (!(this.support[a] <= this.support[b]) && !Number.isNaN(this.support[b])) this.support[a] = this.support[b];
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
  /** Root the tree on a branch, at this share of its length from the end `first`, which becomes the first child. */
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
  /** Farthest tip from a node, its distance, the branch that leads to each node, and nodes in visiting order. */
  farthest(start) {
    const far = new Float64Array(this.n), came = new Int32Array(this.n).fill(-1), stack = [start], order = [];
    while (stack.length) {
      const node = stack.pop();
      order.push(node);
      for (const edge of this.around[node]) {
        const next = this.across(edge, node);
        if (edge === came[node]) continue;
        far[next] = far[node] + this.length[edge], came[next] = edge;
        stack.push(next);
      }
    }
    let end = -1;
    for (let k = 0; k < this.n; k++)
      if (this.around[k].length === 1 && k !== start && (end < 0 || far[k] > far[end])) end = k;
    return {end, whole: far[end], came, order};
  }
  /**
   * An end of the longest path between two tips; with negative lengths, `farthest` need not find one.
   * As in results/rooting.py: the longest path up to each node from the tips below it, and the two longest joined.
   */
  endOfLongest(first) {
    const {came, order} = this.farthest(first), far = new Float64Array(this.n).fill(-Infinity);
    const tip = Int32Array.from(far.keys());
    let end = first, longest = -Infinity;
    for (const node of order.reverse()) {
      if (this.around[node].length === 1 && node !== first) far[node] = 0;
      if (node === first) break;
      const above = this.across(came[node], node), path = far[node] + this.length[came[node]];
      const other = above === first ? 0 : far[above], lowest = Math.min(tip[node], tip[above]);
      const whole = path + other;
      if (other > -Infinity && (whole > longest || (whole === longest && lowest < end))) longest = whole, end = lowest;
      if (path > far[above] || (path === far[above] && tip[node] < tip[above]))
        far[above] = path, tip[above] = tip[node];
    }
    return end;
  }
  /** Root the tree in the middle of the longest path between two tips. */
  atMidpoint() {
    if (this.around.length < 3) return this.given;
    const first = this.around.findIndex((edges) => edges.length === 1);
    const start =
      this.given.length.every((length) => length >= 0) ? this.farthest(first).end : this.endOfLongest(first);
    const {end, whole, came} = this.farthest(start);
    for (let node = end, walked = 0;;) {
      const edge = came[node], length = this.length[edge], before = this.across(edge, node), half = whole / 2;
      // The middle of a path of negative length lies on a branch of negative length.
      const isPast = whole >= 0 ? walked + length >= half : walked + length <= half;
      if (isPast || before === start)
        return this.rootedOn(edge, node, length ? Math.min(1, Math.max(0, (half - walked) / length)) : .5);
      node = before, walked += length;
    }
  }
}

/** Convert the numbers of a tree to typed arrays. */
function typed({parent, length, support, id, edge}) {
  return {
    parent: Int32Array.from(parent),
    length: Float64Array.from(length),
    support: Float64Array.from(support),
    id: Int32Array.from(id),
    edge: Int32Array.from(edge)
  };
}

/** Order sibling clades by size, the smallest first. */
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
