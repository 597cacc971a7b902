/* Lineages as rings (a sunburst): the width of a taxon shows its counts, and the taxa below it lie around it.
 *
 *     layout    begin[k] to end[k]: the share of all counts that taxon k has, in order; within it its children, the
 *               largest of all samples first, and then counts without a taxon below
 *     view      the taxon in the middle, `root`, fills the circle; a ring per rank below it, as many as have room
 */
const TURN = 2 * Math.PI, TOP = -TURN / 4, RING = 26, LETTERS = 11.5, LEAST_ARC = .35;

/** Taxa as a tree: `parent` of each in preorder, so that subtrees are contiguous. */
class TaxonTree {
  constructor(parent) {
    const n = this.n = parent.length;
    Object.assign(this, {parent, depth: new Uint16Array(n), last: Uint32Array.from({length: n}, (_, k) => k + 1)});
    this.children = Array.from({length: n}, () => []);
    for (let k = 1; k < n; k++) this.depth[k] = this.depth[parent[k]] + 1, this.children[parent[k]].push(k);
    for (let k = n - 1; k > 0; k--) this.last[parent[k]] = Math.max(this.last[parent[k]], this.last[k]);
  }
  /** Sums of a number over each taxon and all taxa below it. */
  sums(own) {
    const found = Float64Array.from(own);
    for (let k = this.n - 1; k > 0; k--) found[this.parent[k]] += found[k];
    return found;
  }
  /** Taxa from the root to this one. */
  above(k) {
    const found = [k];
    while (this.parent[found[0]] >= 0) found.unshift(this.parent[found[0]]);
    return found;
  }
  /** Sort children by these sums, the largest first. */
  arrange(sums) {
    for (const some of this.children) some.sort((a, b) => sums[b] - sums[a] || a - b);
  }
}

class Rings extends Drawing {
  marksOver = true;
  chosen = 0;
  root = 0;
  marked = null;
  /** `told(k)`: description of a taxon; `onChoose(k)`, `onRoot(k)`: it was chosen, or moved into the middle. */
  constructor(canvas, tree, names, acts) {
    super(canvas, {tree, names, ...acts, begin: new Float64Array(tree.n), end: new Float64Array(tree.n)});
  }
  /** Show other numbers: the counts of each taxon and all taxa below it. */
  show(sums) {
    const {tree, begin, end} = this;
    this.sums = sums;
    begin[0] = 0, end[0] = 1;
    for (let k = 0; k < tree.n; k++) {
      let at = begin[k];
      const size = sums[k] ? (end[k] - begin[k]) / sums[k] : 0;
      for (const child of tree.children[k]) begin[child] = at, at += sums[child] * size, end[child] = at;
    }
    this.setRoot(this.root);
  }
  /** Colour only these taxa and those above them; null: all. */
  mark(taxa) {
    this.marked = taxa && new Uint8Array(this.tree.n);
    for (const taxon of taxa ?? [])
      for (let k = taxon; k >= 0 && !this.marked[k]; k = this.tree.parent[k]) this.marked[k] = 1;
    this.draw();
  }
  /** Move this taxon into the middle, or the nearest one above it that has counts. */
  setRoot(k) {
    while (k && !this.sums[k]) k = this.tree.parent[k];
    this.root = k;
    this.paintOf = this.colours();
    this.onRoot(k);
    this.draw();
  }
  /** Choose a taxon, and bring it into view. */
  choose(k, isTold = true) {
    const {tree} = this;
    this.chosen = k;
    const isBelow = k >= this.root && k < tree.last[this.root];
    if (!isBelow || tree.depth[k] - tree.depth[this.root] > this.nRings) {
      this.setRoot(k && !tree.children[k].length ? tree.parent[k] : k);
    } else this.draw();
    if (isTold) this.onChoose(k);
  }
  /** Move a taxon with others below it into the middle; if it is there already, move its parent there. */
  enter(k) {
    if (k === this.root && k) this.setRoot(this.tree.parent[k]);
    else if (this.tree.children[k].length) this.setRoot(k);
  }

  /**
   * Hue of each visible taxon: each taxon of the first ring with several taxa has its own hue, the same in all
   * samples.
   */
  colours() {
    const {tree, root, sums} = this, found = new Map();
    tree.children[this.fork(root)].forEach((child, number) => {
      for (let k = child; k < tree.last[child]; k++)
        if (sums[k]) found.set(k, hueOf(number));
    });
    return found;
  }
  /** Nearest taxon, this one or below it, that has several children. */
  fork(k) {
    const {children} = this.tree;
    while (children[k].length === 1) [k] = children[k];
    return k;
  }
  seen(k) {
    return this.tree.children[k].filter((child) => this.sums[child]);
  }
  fill(k, ink, isDark) {
    if (this.marked && !this.marked[k]) return ink.empty;
    const [first, last, saturation] = isDark ? DARK : LIGHT, hue = this.paintOf.get(k);
    const share = clamp((this.tree.depth[k] - this.tree.depth[this.root] - 1) / Math.max(1, this.nRings - 1), 0, 1);
    const lightness = first + (last - first) * share;
    return hue === undefined ? hexOf(0, 0, lightness) : hexOf(hue, saturation, lightness);
  }

  /** Measure the sizes, in pixels, of the figure, of the middle and of a ring. */
  measure() {
    const room = Math.max(200, this.inside), {tree, root} = this;
    if (!this.sums) return false;
    const size = clamp(Math.min(room, innerHeight - 190), Math.min(room, 260), 1000);
    const radius = size / 2 - 4, middle = clamp(radius * .17, 26, 90);
    let deepest = 0;
    for (let k = root; k < tree.last[root]; k++)
      if (this.sums[k]) deepest = Math.max(deepest, tree.depth[k] - tree.depth[root]);
    this.nRings = clamp(deepest, 1, Math.max(2, Math.floor((radius - middle) / RING)));
    Object.assign(this, {width: size, height: size, middle, ring: (radius - middle) / this.nRings});
  }
  /** Start and end angles of a taxon. */
  angles(k) {
    const {begin, end, root} = this, size = end[root] - begin[root] || 1;
    return [begin[k], end[k]].map((at) => TOP + (at - begin[root]) / size * TURN);
  }
  /** Call `act(k, ring, from, to)` for each visible taxon, parents first. */
  eachSeen(act) {
    const {tree, root, sums} = this;
    for (let k = root + 1; k < tree.last[root]; k++) {
      const ring = tree.depth[k] - tree.depth[root];
      if (!sums[k] || ring > this.nRings) continue;
      const [from, to] = this.angles(k);
      if ((to - from) * (this.middle + ring * this.ring) < LEAST_ARC) k = tree.last[k] - 1;
      else act(k, ring, from, to);
    }
  }
  paint(brush, ink, isDark) {
    const x = this.width / 2, y = this.height / 2, {chosen, over} = this;
    brush.font = `${LETTERS}px ${ink.sans}`;
    brush.textAlign = "center", brush.textBaseline = "middle";
    this.eachSeen((k, ring, from, to) => {
      const inner = this.middle + (ring - 1) * this.ring;
      this.trace(brush, x, y, inner, inner + this.ring, from, to);
      brush.fillStyle = this.fill(k, ink, isDark), brush.fill();
      brush.strokeStyle = ink.page, brush.lineWidth = clamp((to - from) * inner / 6, .1, 1), brush.stroke();
    });
    this.eachSeen((k, ring, from, to) => this.write(brush, x, y, k, ring, from, to, ink));
    this.paintMiddle(brush, x, y, ink);
    for (const k of [over, chosen]) {
      const ring = this.tree.depth[k] - this.tree.depth[this.root];
      if (k < this.root || k >= this.tree.last[this.root] || ring > this.nRings || !this.sums[k]) continue;
      const [from, to] = this.angles(k), inner = this.middle + (ring - 1) * this.ring;
      brush.beginPath();
      if (ring) this.trace(brush, x, y, inner, inner + this.ring, from, to);
      else brush.arc(x, y, this.middle - 1, 0, TURN);
      brush.strokeStyle = k === chosen ? ink.accent : ink.text, brush.lineWidth = 2.5, brush.stroke();
    }
  }
  /** Trace the outline of a ring segment, without a radial line for a full ring. */
  trace(brush, x, y, inner, outer, from, to) {
    const isWhole = to - from > TURN - 1e-9, place = (r, angle) => [x + r * Math.cos(angle), y + r * Math.sin(angle)];
    brush.beginPath();
    brush.moveTo(...place(outer, from));
    brush.arc(x, y, outer, from, to);
    isWhole ? brush.moveTo(...place(inner, to)) : brush.lineTo(...place(inner, to));
    brush.arc(x, y, inner, to, from, true);
    if (!isWhole) brush.lineTo(...place(outer, from));
  }
  paintMiddle(brush, x, y, ink) {
    brush.fillStyle = ink.text;
    const room = 2 * this.middle - 10, name = this.root ? shown(this.names[this.root]) : "all";
    brush.fillText(fitted(brush, name, room), x, y - 8);
    brush.fillStyle = ink.quiet;
    const value = this.sums[this.root], isWide = brush.measureText(wholeOf(value)).width <= room;
    brush.fillText(isWide ? wholeOf(value) : value.toLocaleString("en", {notation: "compact"}), x, y + 8);
  }
  /** Write the name along or across its ring segment, whichever has more room. */
  write(brush, x, y, k, ring, from, to, ink) {
    const middle = this.middle + (ring - .5) * this.ring, angle = (from + to) / 2, width = (to - from) * middle;
    const across = width < LETTERS + 3 ? 0 : this.ring - 6;
    const bend = (this.ring - LETTERS) / 2 - 1;  // largest deviation of a straight line from its ring
    const half = Math.min(
      Math.sqrt(Math.max(0, 2 * middle * bend - bend * bend)), middle * Math.sin(Math.min(to - from, TURN / 2) / 2));
    const along = this.ring < LETTERS + 5 ? 0 : 2 * half - 6;
    const name = fitted(brush, shown(this.names[k]), Math.max(across, along));
    if (!name) return;
    brush.save();
    brush.translate(x + middle * Math.cos(angle), y + middle * Math.sin(angle));
    const turned = along >= across ? angle + TURN / 4 : angle, isOver = Math.cos(turned) < -1e-9;
    brush.rotate(isOver ? turned + TURN / 2 : turned);
    brush.fillStyle = this.marked && !this.marked[k] ? ink.quiet : ink.text;
    brush.fillText(name, 0, 0);
    brush.restore();
  }
  /** Taxon at a point of the canvas; -1 if there is no taxon. */
  hit(px, py) {
    const x = px - this.width / 2, y = py - this.height / 2, r = Math.hypot(x, y), {tree, root, begin, end} = this;
    if (r < this.middle) return root;
    const ring = Math.floor((r - this.middle) / this.ring) + 1;
    if (ring > this.nRings) return -1;
    const turn = ((Math.atan2(y, x) - TOP + TURN) % TURN) / TURN;
    const place = begin[root] + turn * (end[root] - begin[root]);
    let k = root;
    for (let depth = 0; depth < ring && k >= 0; depth++)
      k = tree.children[k].find((child) => this.sums[child] && place >= begin[child] && place < end[child]) ?? -1;
    return k;
  }
  click(k) {
    this.over = -1;
    tip("");
    this.choose(k);
    this.enter(k);
  }
  /** Taxon to which a key leads from the chosen one. */
  beside(key) {
    const {tree, chosen, root} = this;
    if (key === "ArrowUp") return chosen ? tree.parent[chosen] : chosen;
    if (key === "ArrowDown") return this.seen(chosen)[0] ?? chosen;
    const isInside = chosen > root && chosen < tree.last[root],
          depth = isInside ? tree.depth[chosen] : tree.depth[root];
    const around = [];
    for (let k = root; k < tree.last[root]; k++)
      if (this.sums[k] && tree.depth[k] === depth) around.push(k);
    around.sort((a, b) => this.begin[a] - this.begin[b]);
    const step = key === "ArrowRight" ? 1 : -1;
    return around[(around.indexOf(chosen) + step + around.length) % around.length] ?? chosen;
  }
  /** Handle a key; return true if it was handled. */
  press({key}) {
    if (["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(key)) {
      this.choose(this.beside(key));
      this.say(this.chosen);
    } else if (key === "Enter") this.enter(this.chosen);
    else if (key === "Backspace" && this.root) this.setRoot(this.tree.parent[this.root]);
    else if (key === "0") this.setRoot(0);
    else return false;
    return true;
  }
}

/** Format a count. */
const wholeOf = (value) => value.toLocaleString("en");
