/* The tree of a reference; width and colour intensity of branches show their reads. */
const HEAT = {
  light: ["#f4c27a", "#ee9a3f", "#dc6a22", "#b93a1b", "#7f1420"],
  dark: ["#7a4d1c", "#b8681f", "#e88c33", "#ffb766", "#ffe9bf"]
};

class ReadsTree extends TreeView {
  /** Colour by a number per node. */
  colour(values) {
    this.values = values, this.sums = this.layout.sums(values);
    this.most = values.reduce((a, b) => Math.max(a, b), 0);
    this.found = Array.from(values.keys()).filter((k) => k && values[k]);
    this.draw();
  }
  share(value) {
    return value > 0 ? Math.min(1, Math.log1p(value) / Math.log1p(this.most || 1)) : 0;
  }
  heat(value) {
    const colours = HEAT[this.isDarkNow ? "dark" : "light"];
    return colours[Math.min(colours.length - 1, Math.floor(this.share(value) * colours.length))];
  }
  draw() {
    if (this.values) super.draw();
  }
  isPlain(k) {
    return !this.values[k];
  }
  /**
   * Draw branches without reads like any tree; above them those with reads, in a few widths and colours, strongest
   * last.
   */
  drawBranches(ink) {
    super.drawBranches(ink);
    const {brush, layout} = this, levels = new Map();
    for (const k of this.found)
      if (layout.isShown[k] && !this.isBeside(k)) {
        const level = Math.ceil(this.share(this.values[k]) * 10);
        levels.has(level) ? levels.get(level).push(k) : levels.set(level, [k]);
      }
    for (const level of [...levels.keys()].sort((a, b) => a - b)) {
      const nodes = levels.get(level);
      brush.strokeStyle = this.heat(this.values[nodes[0]]), brush.lineWidth = 1.5 + level * .55;
      brush.beginPath();
      for (const k of nodes) this.trace(k);
      brush.stroke();
    }
  }
  cladeInk(k, ink) {
    return this.sums[k] ? this.heat(this.sums[k]) : ink.line;
  }
  drawChosen(ink) {
    super.drawChosen(ink, Math.max(3, 3.5 + this.share(this.values[this.layout.seen(this.chosen)]) * 5.5));
  }
  label(k, most) {
    const label = super.label(k, most);
    if (!this.layout.collapsed.has(k)) return label;
    return `${label}, ${this.sums[k].toLocaleString("en", {maximumFractionDigits: 2})}`;
  }
  labelInk(k, ink) {
    return this.sums[k] ? ink.text : ink.quiet;
  }
  measure() {
    const isSeen = super.measure();
    this.legend = this.isPrinted && this.pies ? this.pies.legend(this.width) : [];
    this.lower = 30 + 18 * this.legend.length;
    return isSeen;
  }
  drawMarks(ink) {
    this.nHidden = this.pies?.draw(this, ink) ?? 0;
    super.drawMarks(ink);
  }
  drawLegend(ink) {
    const {brush} = this, y = this.height - 12 - 18 * this.legend.length, width = 18;
    this.legend.forEach(
      (row, k) => drawLegendRow(brush, ink, row, y + 18 * (k + 1), ({sample}) => [this.pies.ink(sample, false)]));
    brush.textAlign = "left";
    brush.fillStyle = ink.quiet;
    const few = Math.min(1, this.most) ? (this.most < 1 ? this.most.toPrecision(2) : "1") : "0";
    brush.fillText(few, MARGIN, y);
    let x = MARGIN + brush.measureText(few).width + 6;
    HEAT[this.isDarkNow ? "dark" : "light"].forEach((colour, k) => {
      brush.fillStyle = colour;
      brush.fillRect(x + k * width, y - 2 - k, width, 4 + 2 * k);
    });
    x += 5 * width + 6;
    brush.fillStyle = ink.quiet;
    const {layout} = this, hidden = this.nHidden ? ` · ${counted(this.nHidden, "circle")} without room` : "";
    const more = hidden ? "more" : this.step < NAMED ? "names" : "";
    const hint = `${hidden}${more && !this.isPrinted ? ` · zoom in for ${more}` : ""}`;
    const most = this.most.toLocaleString("en", {maximumFractionDigits: 2});
    brush.fillText(`${most} on a branch · ${counted(layout.tips[0], "tip")}${hint}`, x, y);
  }
  /** Collapse the largest clades without reads, or expand all if `isOpen`. */
  collapseEmpty(isOpen) {
    const {layout} = this, found = [];
    for (let k = 1; k < layout.n && !isOpen; k++)
      if (!layout.isTip(k) && !this.sums[k]) found.push(k), k = layout.end[k] - 1;
    layout.setCollapsed(found);
    this.whole();
  }
  press(event) {
    if (event.key !== "e") return super.press(event);
    this.onEmpty();
    return true;
  }
}
