/* Where the nodes of a tree stand: how far from the root (0 to 1), and in which line, a tip's or a collapsed clade's.
 */
class TreeLayout {
  /** Nodes in preorder: `parent` (-1 for the root, node 0), `length` of the branch above. */
  constructor(parent, length) {
    const n = parent.length;
    Object.assign(this, {n, parent, length, collapsed: new Set()});
    this.depth = new Float64Array(n), this.end = new Int32Array(n), this.tips = new Int32Array(n);
    this.deepest = new Float64Array(n), this.line = new Float64Array(n);
    this.first = new Int32Array(n).fill(-1), this.last = new Int32Array(n).fill(-1);
    for (let k = 1; k < n; k++) {
      this.depth[k] = this.depth[parent[k]] + length[k];
      if (this.first[parent[k]] < 0) this.first[parent[k]] = k;
      this.last[parent[k]] = k;
    }
    const most = this.depth.reduce((a, b) => Math.max(a, b), 0) || 1;
    for (let k = n - 1; k >= 0; k--) {
      this.depth[k] /= most;
      this.end[k] = Math.max(this.end[k], k + 1);
      this.deepest[k] = Math.max(this.deepest[k], this.depth[k]);
      if (this.first[k] < 0) this.tips[k] = 1;
      if (!k) continue;
      const above = parent[k];
      this.end[above] = Math.max(this.end[above], this.end[k]);
      this.deepest[above] = Math.max(this.deepest[above], this.deepest[k]);
      this.tips[above] += this.tips[k];
    }
    this.arrange();
  }
  isTip(node) {
    return this.first[node] < 0;
  }
  isLeaf(node) {
    return this.isTip(node) || this.collapsed.has(node);
  }
  /** Lines anew: `nodes` are those that are seen, in preorder. */
  arrange() {
    this.nodes = [], this.nLines = 0;
    for (let k = 0; k < this.n; k = this.isLeaf(k) ? this.end[k] : k + 1) {
      this.nodes.push(k);
      if (this.isLeaf(k)) this.line[k] = this.nLines++ + .5;
    }
    for (let at = this.nodes.length - 1; at >= 0; at--) {
      const k = this.nodes[at];
      if (!this.isLeaf(k)) this.line[k] = (this.line[this.first[k]] + this.line[this.last[k]]) / 2;
    }
  }
  setCollapsed(nodes) {
    this.collapsed = new Set(nodes);
    this.arrange();
  }
  /** A collapsed clade that the node is in, or the node itself. */
  seen(node) {
    let found = node;
    for (let k = node; k >= 0; k = this.parent[k])
      if (this.collapsed.has(k)) found = k;
    return found;
  }
  /** Lengths of the ways from a node to all others. */
  distances(node) {
    const found = new Float64Array(this.n).fill(-1);
    for (let k = node, sum = 0; k >= 0; sum += this.length[k], k = this.parent[k]) found[k] = sum;
    for (let k = 1; k < this.n; k++)
      if (found[k] < 0) found[k] = found[this.parent[k]] + this.length[k];
    return found;
  }
  /** Sums of a branch's numbers over the clade below it, its own included. */
  sums(values) {
    const found = Float64Array.from(values);
    for (let k = this.n - 1; k > 0; k--) found[this.parent[k]] += found[k];
    return found;
  }
}
