/* The tree of a family: colours of groups, support, lengths, found tips, rerooting. */
const LEAST_SUPPORT = 50;

class FamilyTree extends TreeView {
  /**
   * `given`: parent, length, support and group per node in the file's order; `groups`: their hues; `labels`:
   * non-numeric labels of branches, by the node below; `hasMidpoint`: whether all branches have lengths.
   */
  constructor(canvas, {given, labels, ...parts}) {
    const roots = new Roots(given);
    super(canvas, {...parts, layout: new TreeLayout(given.parent, given.length)});
    Object.assign(this, {roots, groupOf: given.group, lengths: "scale", support: "numbers", order: "given", hits: []});
    // Some programs write support as fractions of 1.
    this.percentOfSupport = given.support.every((value) => !(value > 1)) ? 100 : 1;
    // By node in the file's tree, by branch number in a rerooted one.
    this.labelsOf = {node: labels, edge: {}};
    roots.given.edge.forEach((edge, node) => labels[node] && (this.labelsOf.edge[edge] ??= labels[node]));
    this.rooted = roots.given;
    this.arrange();
  }
  branchInk(ink) {
    return ink.quiet;
  }
  hueInk(group) {
    return this.groups[group - 1][this.isDarkNow ? "dark" : "light"];
  }
  /**
   * Rebuild the tree after a change of root, order or scale. Chosen and collapsed clades are found again by their
   * branches.
   */
  arrange() {
    const {tree: old, chosen} = this, kept = old && {chosen: chosen > 0 ? old.id[chosen] : -1};
    const isSame = old && this.root === this.rooted,
          folded = isSame ? [...this.layout.collapsed].map((k) => old.id[k]) : [];
    this.root = this.rooted;
    this.tree = this.order === "size" ? bySize(this.rooted) : this.rooted;
    const {parent, length, id} = this.tree, n = parent.length;
    this.layout = new TreeLayout(parent, length, this.lengths === "level");
    this.placeOf = new Int32Array(this.names.length).fill(-1);
    id.forEach((node, k) => node >= 0 && (this.placeOf[node] = k));
    if (folded.length) this.layout.setCollapsed(folded.map((node) => this.placeOf[node]));
    this.labels.clear();
    this.chosen = kept?.chosen >= 0 ? this.placeOf[kept.chosen] : -1;
    this.hue = new Uint16Array(n);
    const isMixed = new Uint8Array(n);
    for (let k = n - 1; k >= 0; k--) {
      if (this.layout.isTip(k)) this.hue[k] = this.groupOf[id[k]];
      if (isMixed[k]) this.hue[k] = 0;
      if (!k) continue;
      const above = parent[k], isFirst = k === this.layout.last[above];
      if (isFirst) this.hue[above] = this.hue[k];
      isMixed[above] ||= isMixed[k] || this.hue[k] !== this.hue[above];
    }
    this.markHits();
  }
  setOrder(order) {
    this.order = order;
    this.arrange(), this.whole();
  }
  setLengths(lengths) {
    this.lengths = lengths;
    this.arrange(), this.draw();
  }
  /** Put the root in the middle of the branch above a node. */
  rootAbove(k) {
    if (k <= 0) return;
    const {id, edge} = this.tree;
    this.rooted = this.roots.rootedOn(edge[k], id[k], .5);
    this.arrange(), this.whole();
  }
  rootAtMidpoint() {
    if (!this.hasMidpoint) return;
    this.rooted = this.roots.atMidpoint();
    this.arrange(), this.whole();
  }
  rootAsGiven() {
    this.rooted = this.roots.given;
    this.arrange(), this.whole();
  }
  name(k, most) {
    let text = this.labels.get(k);
    if (text === undefined) this.labels.set(k, text = shown((this.names[this.tree.id[k]] ?? "").slice(0, 64)));
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }
  /** Label of an inner node in the file, with the support or label of its branch. */
  label(k) {
    const value = this.tree.support[k], sure = Number.isNaN(value) ? this.branchLabel(k) : String(+value.toFixed(2));
    return [this.name(k, 24), sure].filter(Boolean).join("/");
  }
  branchLabel(k) {
    const {tree: {id, edge}, labelsOf, roots, rooted} = this;
    const label = rooted === roots.given ? labelsOf.node[id[k]] : labelsOf.edge[edge[k]];
    return shown((label ?? "").slice(0, 64));
  }
  /** Mark tips: `nodes` in file order. */
  find(nodes) {
    this.found = nodes;
    this.markHits();
    this.draw();
  }
  markHits() {
    this.hits = (this.found ?? []).map((node) => this.placeOf[node]).sort((a, b) => a - b);
    this.isHit = new Set(this.hits);
  }
  /** Scroll to a tip, large enough for its name. */
  show(k) {
    const {layout} = this, open = new Set(layout.collapsed);
    for (let above = k; above >= 0; above = layout.parent[above]) open.delete(above);
    if (open.size < layout.collapsed.size) layout.setCollapsed(open);
    if (this.step < LINE) this.zoom(LINE / this.step);
    this.chosen = k;
    this.keep(
      layout.depth[k], layout.line[k], this.isRadial ? this.width / 2 : this.width - this.room,
      (this.height - this.lower) / 2);
    this.draw();
  }

  isPlain(k) {
    return !this.hue[k];
  }
  drawBranches(ink) {
    const {brush, layout, seen, chosen} = this;
    if (chosen > 0 && !this.isRadial && layout.isShown[chosen]) {
      const [x, top] = this.at(layout.depth[layout.parent[chosen]], layout.top[chosen] - .5);
      const [, bottom] = this.at(0, layout.bottom[chosen] + .5);
      brush.fillStyle = ink.chosen;
      brush.fillRect(x, top, this.width - x, bottom - top);
    }
    super.drawBranches(ink);
    const byHue = new Map();
    const add = (k, trace) => {
      if (!this.hue[k]) return;
      byHue.has(this.hue[k]) ? byHue.get(this.hue[k]).push([k, trace]) : byHue.set(this.hue[k], [[k, trace]]);
    };
    for (const k of seen.open) add(k, "traceAcross"), k && add(k, "trace");
    for (const k of seen.leaves) k && add(k, "trace");
    for (const k of seen.narrow) add(k, "traceNarrow");
    for (const [hue, traces] of byHue) {
      brush.strokeStyle = this.hueInk(hue), brush.lineWidth = 1.6;
      brush.beginPath();
      for (const [k, trace] of traces) this[trace](k);
      brush.stroke();
    }
  }
  cladeInk(k, ink) {
    return this.hue[k] ? this.hueInk(this.hue[k]) : ink.bar;
  }
  labelInk(k, ink) {
    return this.isHit.has(k) ? ink.accent : this.hue[k] ? this.hueInk(this.hue[k]) : ink.text;
  }
  drawMarks(ink) {
    this.drawHits(ink);
    super.drawMarks(ink);
    const {brush} = this;
    brush.font = `9px ${ink.sans}`, brush.textBaseline = "middle";
    if (this.support !== "none") this.drawSupport(ink);
    if (this.lengths === "numbers" && this.step >= NAMED) this.drawLengths(ink);
    brush.textAlign = "left";
  }
  /** Draw a dot at each found tip, one per pixel at most. */
  drawHits(ink) {
    const {brush, layout} = this;
    brush.fillStyle = ink.accent;
    let last = null;
    for (const hit of this.hits) {
      const k = layout.isShown[hit] ? hit : layout.seen(hit);
      if (this.isBeside(k) || (last !== null && Math.abs(layout.line[k] - last) * this.step < 1)) continue;
      last = layout.line[k];
      brush.beginPath();
      brush.arc(...this.at(layout.deepest[k], last), 3, 0, 2 * Math.PI);
      brush.fill();
    }
  }
  drawSupport(ink) {
    const {brush, layout, tree: {support}} = this, isDots = this.support === "dots", taken = new Set();
    brush.fillStyle = isDots ? ink.text : ink.quiet, brush.textAlign = "right";
    for (const k of this.seen.open) {
      const value = support[k], text = isDots || !k ? "" : this.label(k);
      if (isDots ? Number.isNaN(value) : !text) continue;
      if ((layout.bottom[k] - layout.top[k]) * this.step < (isDots ? 4 : 10)) continue;
      const [x, y] = this.at(layout.depth[k], layout.line[k]);
      if (!isDots) {
        const places =
          [-1, 0, 1].flatMap((dy) => [-1, 0, 1].map((dx) => `${Math.floor(x / 10) + dx} ${Math.floor(y / 7) + dy}`));
        if (taken.has(places[4])) continue;  // a number is already there
        places.forEach((place) => taken.add(place));
        brush.fillText(text, x - 3, y - 6);
        continue;
      }
      const percent = value * this.percentOfSupport;
      if (percent < LEAST_SUPPORT) continue;
      brush.beginPath();
      brush.arc(x, y, 1.5 + 2.5 * (percent - LEAST_SUPPORT) / (100 - LEAST_SUPPORT), 0, 2 * Math.PI);
      brush.fill();
    }
  }
  drawLengths(ink) {
    const {brush, layout, tree: {length}} = this;
    brush.fillStyle = ink.quiet, brush.textAlign = "center";
    for (const k of [...this.seen.open, ...this.seen.leaves]) {
      if (!k) continue;
      const [x, y] = this.at(layout.depth[k], layout.line[k]),
                [from, begin] = this.at(layout.depth[layout.parent[k]], layout.line[k]);
      if (Math.hypot(x - from, y - begin) >= 34)
        brush.fillText(String(+length[k].toPrecision(3)), (x + from) / 2, (y + begin) / 2 + 6);
    }
  }
  /** Also lay out the legend: the scale, then as many groups as fit in four rows. */
  measure() {
    const isSeen = super.measure(), room = Math.max(60, this.width - 2 * MARGIN);
    const items = this.groups.map(({name}, k) => ({text: cut(shown(name.slice(0, 64)), 24), group: k + 1}));
    const indent = this.layout.span > 0 && this.lengths !== "level" ? 130 : 0;
    this.legend = legendRows(items, `${TEXT}px ${ON_PAPER.sans}`, {left: MARGIN, right: room, indent});
    const left = this.legend.slice(4).flat().length;
    if (left) this.legend[3].push({x: MARGIN + room - 60, text: `+ ${left}`}), this.legend.length = 4;
    this.lower = 14 + 18 * Math.max(1, this.legend.length);
    return isSeen;
  }
  drawLegend(ink) {
    const {brush} = this, top = this.height - this.lower + 14;
    this.drawScale(ink, top);
    this.legend.forEach(
      (row, at) => drawLegendRow(brush, ink, row, top + 18 * at, ({group}) => group ? [this.hueInk(group)] : null));
    if (this.groups.length) return;
    const hint = this.step < NAMED ? " · zoom in for names" : "";
    brush.fillStyle = ink.quiet;
    brush.fillText(`${counted(this.layout.tips[0], "tip")}${hint}`, MARGIN + 130, top);
  }
  /** Draw a scale bar of a round length. */
  drawScale(ink, y) {
    const {brush, layout} = this, perUnit = (this.isRadial ? this.radius() : this.span) / layout.span;
    if (this.lengths === "level" || !(layout.span > 0)) return;
    const power = 10 ** Math.floor(Math.log10(80 / perUnit)),
          length = [5, 2, 1].find((times) => times * power * perUnit <= 80) * power;
    brush.fillStyle = ink.quiet;
    brush.fillRect(MARGIN, y, length * perUnit, 1.5);
    brush.fillText(String(+length.toPrecision(3)), MARGIN + length * perUnit + 5, y);
  }
  press(event) {
    const act = {
      r: () => this.rootAbove(this.chosen),
      m: () => this.rootAtMidpoint(),
      g: () => this.rootAsGiven()
    }[event.key];
    if (!act) return super.press(event);
    act();
    return true;
  }
}

/** Cut a text to `most` characters. */
function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
