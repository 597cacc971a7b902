/* Layout of a tree: distance of each node from the root (0 to 1), and its line; each tip or collapsed clade has a
 * line.
 */
class TreeLayout {
  /**
   * Nodes in preorder: `parent` (-1 for the root, node 0), `length` of the branch above. `isLevel`: draw branches so
   * that all tips are aligned. A negative length is drawn as 0.
   */
  constructor(parent, length, isLevel = false) {
    const n = parent.length;
    Object.assign(this, {n, parent, length, collapsed: new Set()});
    this.depth = new Float64Array(n), this.end = new Int32Array(n), this.tips = new Int32Array(n);
    this.deepest = new Float64Array(n), this.line = new Float64Array(n), this.isShown = new Uint8Array(n);
    this.top = new Float64Array(n), this.bottom = new Float64Array(n);
    this.first = new Int32Array(n).fill(-1), this.last = new Int32Array(n).fill(-1);
    for (let k = 1; k < n; k++) {
      this.depth[k] = this.depth[parent[k]] + Math.max(0, length[k]);
      if (this.first[parent[k]] < 0) this.first[parent[k]] = k;
      this.last[parent[k]] = k;
    }
    if (isLevel) this.level();
    this.span = this.depth.reduce((a, b) => Math.max(a, b), 0);
    for (let k = n - 1; k >= 0; k--) {
      this.depth[k] /= this.span || 1;
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
  /** Set depths by the number of branches below, so that tips are in one column. */
  level() {
    const height = new Int32Array(this.n);
    for (let k = this.n - 1; k > 0; k--) height[this.parent[k]] = Math.max(height[this.parent[k]], height[k] + 1);
    for (let k = 0; k < this.n; k++) this.depth[k] = height[0] - height[k];
  }
  isTip(node) {
    return this.first[node] < 0;
  }
  isLeaf(node) {
    return this.isTip(node) || this.collapsed.has(node);
  }
  /** Assign lines: `nodes` are the visible nodes, in preorder; the lines of a clade are `top` to `bottom`. */
  arrange() {
    const {first, last, line, top, bottom} = this;
    this.nodes = [], this.nLines = 0;
    this.isShown.fill(0);
    for (let k = 0; k < this.n; k = this.isLeaf(k) ? this.end[k] : k + 1) {
      this.nodes.push(k), this.isShown[k] = 1;
      if (this.isLeaf(k)) line[k] = top[k] = bottom[k] = this.nLines++ + .5;
    }
    for (let at = this.nodes.length - 1; at >= 0; at--) {
      const k = this.nodes[at];
      if (this.isLeaf(k)) continue;
      line[k] = (line[first[k]] + line[last[k]]) / 2;
      top[k] = top[first[k]], bottom[k] = bottom[last[k]];
    }
  }
  setCollapsed(nodes) {
    this.collapsed = new Set(nodes);
    this.arrange();
  }
  /** Outermost collapsed clade that contains the node, or the node itself. */
  seen(node) {
    let found = node;
    for (let k = node; k >= 0; k = this.parent[k])
      if (this.collapsed.has(k)) found = k;
    return found;
  }
  /** Path lengths from a node to all others. */
  distances(node) {
    const found = new Float64Array(this.n).fill(-1);
    for (let k = node, sum = 0; k >= 0; sum += this.length[k], k = this.parent[k]) found[k] = sum;
    for (let k = 1; k < this.n; k++)
      if (found[k] < 0) found[k] = found[this.parent[k]] + this.length[k];
    return found;
  }
  /** Sums of a branch's numbers over the clade below it, including its own. */
  sums(values) {
    const found = Float64Array.from(values);
    for (let k = this.n - 1; k > 0; k--) found[this.parent[k]] += found[k];
    return found;
  }
}
