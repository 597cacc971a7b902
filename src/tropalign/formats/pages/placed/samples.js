/* Samples on the branches of a tree: a pie chart per branch with the counts of its samples.
 *
 *     ----( )---   in the middle of the branch, or at a collapsed clade, with the sums of the clade; its size is the
 *                  logarithm of the counts. If two overlap, the one with fewer counts is drawn only when zoomed in.
 */
const LEAST_CIRCLE = 4, MORE_CIRCLE = 10;

class SamplePies {
  /** `nodeOf`: the node of each branch; `arrays`: counts by branch and sample. */
  constructor(samples, nodeOf, arrays, nNodes) {
    const {sample_branch: branch, sample_number: number, sample_count: count} = arrays;
    const order = Uint32Array.from(branch.keys()).sort((a, b) => nodeOf[branch[a]] - nodeOf[branch[b]]);
    this.samples = samples, this.isChosen = new Uint8Array(samples.length).fill(1);
    this.number = order.map((k) => number[k]), this.count = Float64Array.from(order, (k) => count[k]);
    this.begin = new Uint32Array(nNodes + 1);
    for (const k of order) this.begin[nodeOf[branch[k]] + 1]++;
    for (let k = 0; k < nNodes; k++) this.begin[k + 1] += this.begin[k];
  }
  /** Counts per sample of the chosen samples on the branches of nodes `from` to `to`. */
  counts(from, to = from + 1) {
    const found = new Float64Array(this.samples.length);
    for (let k = this.begin[from]; k < this.begin[to]; k++)
      if (this.isChosen[this.number[k]]) found[this.number[k]] += this.count[k];
    return found;
  }
  /** Sums of these counts per node. */
  sums() {
    return Float64Array.from({length: this.begin.length - 1}, (_, k) => this.counts(k).reduce((a, b) => a + b, 0));
  }
  ink(sample, isDark) {
    return shadesOf(hueOf(sample), isDark).edge;
  }
  /** Draw the circles that have room, the largest first; return the number of the others. */
  draw(tree, ink) {
    const {layout, seen} = tree, circles = [], drawn = [], narrow = new Set(seen.narrow);
    for (const k of [...seen.open, ...seen.leaves, ...seen.narrow]) {
      const isWhole = layout.collapsed.has(k) || narrow.has(k);
      const sum = isWhole ? tree.sums[k] : tree.values[k];
      if (!k || !sum) continue;
      const middle = (layout.depth[layout.parent[k]] + layout.depth[k]) / 2;
      const [x, y] = tree.at(isWhole ? layout.depth[k] : middle, layout.line[k]);
      circles.push(
        {k, sum, x, y, r: LEAST_CIRCLE + MORE_CIRCLE * tree.share(sum), to: isWhole ? layout.end[k] : k + 1});
    }
    circles.sort((a, b) => b.sum - a.sum || a.k - b.k);
    for (const one of circles) {
      if (drawn.some(({x, y, r}) => Math.hypot(x - one.x, y - one.y) < .8 * (r + one.r))) continue;
      drawn.push(one);
      this.drawCircle(tree, ink, one);
    }
    return circles.length - drawn.length;
  }
  drawCircle({brush, isDarkNow}, ink, {k, to, x, y, r}) {
    const counts = this.counts(k, to), whole = counts.reduce((a, b) => a + b, 0);
    let from = -Math.PI / 2;
    counts.forEach((count, sample) => {
      if (!count) return;
      const until = from + count / whole * 2 * Math.PI;
      brush.fillStyle = this.ink(sample, isDarkNow);
      brush.beginPath();
      brush.moveTo(x, y);
      brush.arc(x, y, r, from, until);
      brush.fill();
      from = until;
    });
    brush.strokeStyle = ink.page, brush.lineWidth = 1;
    brush.beginPath();
    brush.arc(x, y, r + .5, 0, 2 * Math.PI);
    brush.stroke();
  }
  /** Describe branches: the samples with most counts. */
  told(from, to) {
    const counts = this.counts(from, to), order = [...counts.keys()].filter((k) => counts[k]);
    order.sort((a, b) => counts[b] - counts[a] || a - b);
    const few = order.slice(0, 6).map((k) => `${shown(this.samples[k])} ${asNumber(counts[k])}`);
    return `${few.join(", ")}${order.length > 6 ? `, and ${counted(order.length - 6, "sample")}` : ""}`;
  }
  /** Rows of a picture's legend. */
  legend(width) {
    const items = [...this.samples.keys()].filter((sample) => this.isChosen[sample]);
    return legendRows(
      items.map((sample) => ({sample, text: shown(this.samples[sample])})), `${TEXT}px sans-serif`,
      {left: MARGIN, right: width, most: 200});
  }
}

/** List of samples next to a tree: check boxes in their colours. `onChange()`: the choice changed. */
class SampleList {
  constructor(pies, onChange) {
    Object.assign(this, {pies, onChange});
    this.boxes = pies.samples.map((name, sample) => {
      const box = made("input");
      box.type = "checkbox", box.checked = true;
      box.addEventListener("change", () => this.choose([sample], box.checked));
      return box;
    });
    this.swatches = pies.samples.map(() => made("span", "swatch"));
    const host = element("sample-boxes");
    pies.samples.forEach((name, k) => {
      const label = made("label");
      label.append(this.boxes[k], this.swatches[k], made("span", "name", shown(name)));
      host.append(label);
    });
    const every = [...pies.samples.keys()];
    on("samples-all", "click", () => this.choose(every, true));
    on("samples-none", "click", () => this.choose(every, false));
  }
  choose(samples, isChosen) {
    for (const k of samples) this.pies.isChosen[k] = Number(isChosen), this.boxes[k].checked = isChosen;
    this.onChange();
    const n = this.pies.isChosen.reduce((a, b) => a + b, 0);
    say(`${n.toLocaleString("en")} of ${counted(this.boxes.length, "sample")} on the tree`);
  }
  setTheme(isDark) {
    this.swatches.forEach((swatch, k) => swatch.style.background = this.pies.ink(k, isDark));
  }
}
