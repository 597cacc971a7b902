/* A tree on a canvas, rectangular or radial. A point is (depth, line); each shape maps it to the canvas.
 * A page's tree extends this class by drawing on branches and a legend below.
 *
 *     gather()   walks the tree from the root and skips everything outside the view; a clade smaller than a pixel is
 *                one line and is not entered. So a frame draws at most as many lines as the canvas has pixels, for any
 *                number of tips.
 */
const MARGIN = 12, ROOM = 170, AROUND = 110, TEXT = 11, CIRCLE = 2 * Math.PI * .985, FEW = 150,
      LINE = 13,  // height of a line, in pixels, in a picture of the full tree
  NAMED = 8.5;    // height of a line, in pixels, from which names are drawn

class TreeView extends Drawing {
  /** Pixels: total height, height of the area below the tree, and line height at maximum zoom. */
  height = 620;
  lower = 30;
  mostStep = 40;
  shape = "rectangular";
  view = {zoom: 1, wide: 1, x: 0, y: 0};
  labels = new Map();
  /** `layout`; `names`; `told(node)`: description of a branch; `onChoose(node)`: it was chosen. */
  constructor(canvas, parts) {
    super(canvas, parts);
    this.width = this.inside;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const factor = Math.exp(-(event.deltaY || event.deltaX) * .0018);  // with Shift, some systems scroll sideways
      event.shiftKey ? this.widen(factor, event.offsetX) : this.zoom(factor, event.offsetX, event.offsetY);
    }, {passive: false});
  }
  setShape(shape) {
    this.shape = shape;
    this.whole();
  }
  /** True if the current drawing has a dark background; saved pictures are light. */
  get isDarkNow() {
    return this.isDark && !this.isPrinted;
  }
  whole() {
    this.view = {zoom: 1, wide: 1, x: 0, y: 0};
    this.draw();
  }
  /** Measure once per drawing, since reading a size forces a page layout. */
  measure() {
    this.width = this.inside;
    return this.width >= 160;
  }
  get isRadial() {
    return this.shape === "radial";
  }
  /** Pixels between the root and the tips. */
  get span() {
    return Math.max(30, this.width - this.room - 2 * MARGIN) * this.view.wide;
  }
  /** Width of names in pixels. */
  get room() {
    return Math.min(ROOM, this.width * .4);
  }
  /** Height of a line in pixels, at the tips. */
  get step() {
    const {nLines} = this.layout;
    return this.isRadial ? this.radius() * CIRCLE / nLines :
                           (this.height - this.lower - MARGIN) * this.view.zoom / nLines;
  }
  radius() {
    const around = this.layout.nLines > FEW ? 12 : AROUND;  // room for names
    return Math.max(40, Math.min(this.width / 2, (this.height - this.lower) / 2) - around) * this.view.zoom;
  }
  centre() {
    return [this.width / 2 - this.view.x, (this.height - this.lower) / 2 - this.view.y];
  }
  at(depth, line) {
    if (!this.isRadial) return [MARGIN + depth * this.span - this.view.x, MARGIN + line * this.step - this.view.y];
    const [x, y] = this.centre(), angle = line / this.layout.nLines * CIRCLE, r = depth * this.radius();
    return [x + r * Math.cos(angle), y + r * Math.sin(angle)];
  }
  /** Map a point of the canvas to (depth, line). */
  point(px, py) {
    if (!this.isRadial) return [(px - MARGIN + this.view.x) / this.span, (py - MARGIN + this.view.y) / this.step];
    const [x, y] = this.centre(), angle = (Math.atan2(py - y, px - x) + 2 * Math.PI) % (2 * Math.PI);
    return [Math.hypot(px - x, py - y) / this.radius(), angle / CIRCLE * this.layout.nLines];
  }
  /** Range of visible lines; for a circle whose centre is not visible, it may extend beyond the last line. */
  linesSeen() {
    const {nLines} = this.layout, bottom = this.height - this.lower;
    if (!this.isRadial) return [this.point(0, -10)[1], this.point(0, bottom + 10)[1]];
    const [x, y] = this.centre();
    if (x > -20 && x < this.width + 20 && y > -20 && y < bottom + 20) return [0, nLines];
    const middle = Math.atan2(bottom / 2 - y, this.width / 2 - x);
    let far = 0;
    for (const [px, py] of [[0, 0], [this.width, 0], [0, bottom], [this.width, bottom]]) {
      const turn = Math.atan2(py - y, px - x) - middle;
      far = Math.max(far, Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn))));
    }
    const lines = nLines / CIRCLE, from = ((middle - far + 2 * Math.PI) % (2 * Math.PI)) * lines - 1;
    return [from, from + 2 * far * lines + 2];
  }
  /** Range of visible depths; names extend beyond their tips. */
  depthsSeen() {
    const bottom = this.height - this.lower;
    if (!this.isRadial) return [this.point(-this.room, 0)[0], this.point(this.width, 0)[0]];
    const [x, y] = this.centre(), beside = (at, size) => Math.max(0, -at, at - size);
    const near = Math.hypot(beside(x, this.width), beside(y, bottom)) - AROUND;
    const far = Math.hypot(Math.max(x, this.width - x), Math.max(y, bottom - y));
    return [near / this.radius(), far / this.radius()];
  }
  /** True if nothing of the clade below a node, including its own branch, is visible. */
  isBeside(k) {
    const [from, to] = this.seenLines, {top, bottom, nLines} = this.layout, [least, most] = this.seenDepths;
    if (this.layout.deepest[k] < least || this.layout.depth[this.layout.parent[k]] > most) return true;
    const isOut = bottom[k] < from || top[k] > to;
    return isOut && !(this.isRadial && to > nLines && top[k] <= to - nLines / .985);
  }
  /** Visible nodes: `open` clades, `leaves` (tips and collapsed clades), and `narrow` clades smaller than a pixel. */
  gather() {
    const {layout, step} = this, open = [], leaves = [], narrow = [];
    this.seenLines = this.linesSeen(), this.seenDepths = this.depthsSeen();
    for (let k = 0; k < layout.n;) {
      const height = (layout.bottom[k] - layout.top[k]) * step * (this.isRadial ? layout.deepest[k] : 1);
      if (k && this.isBeside(k)) k = layout.end[k];
      else if (layout.isLeaf(k)) leaves.push(k), k = layout.end[k];
      else if (k && height < 1) narrow.push(k), k = layout.end[k];
      else open.push(k), k++;
    }
    return {open, leaves, narrow};
  }
  /** Node whose branch is nearest to a point of the canvas, within some pixels; -1 if no branch is near. */
  hit(px, py) {
    const {layout} = this, [depth, line] = this.point(px, py), scale = this.isRadial ? this.radius() : this.span;
    const perLine = this.isRadial ? depth * this.radius() * CIRCLE / layout.nLines : this.step;
    const {open, leaves, narrow} = this.gather();
    let found = -1, least = 9;
    for (const k of [...open, ...leaves, ...narrow]) {
      if (!k) continue;
      const from = layout.depth[layout.parent[k]], isLeaf = layout.isLeaf(k);
      const to = isLeaf ? Math.max(layout.deepest[k], layout.depth[k]) : layout.depth[k];
      const beside = Math.max(0, from - depth, depth - to) * scale;
      const labels = isLeaf && depth > to && this.step >= 9 ? 0 : beside;
      const distance = Math.hypot(labels, (layout.line[k] - line) * perLine);
      if (distance < least) least = distance, found = k;
    }
    return found;
  }

  /** Schedule one drawing for the next animation frame. */
  redraw() {
    this.waiting ??= requestAnimationFrame(() => this.draw());
  }
  draw() {
    cancelAnimationFrame(this.waiting);
    this.waiting = null;
    super.draw();
  }
  /** Draw with a brush: a canvas context or an SvgBrush. */
  paint(brush, ink) {
    this.brush = brush, this.seen = this.gather();
    brush.save();
    brush.beginPath();
    brush.rect(0, 0, this.width, this.height - this.lower);
    brush.clip();
    this.drawBranches(ink);
    this.drawClades(ink);
    this.drawMarks(ink);
    if (this.step >= NAMED) this.drawNames(ink);
    brush.restore();
    brush.font = `${TEXT}px ${ink.sans}`, brush.textBaseline = "middle";
    this.drawLegend(ink);
  }
  /** Trace the line of a branch. */
  trace(k) {
    const {layout, brush} = this, line = layout.line[k];
    brush.moveTo(...this.at(layout.depth[layout.parent[k]], line));
    brush.lineTo(...this.at(layout.depth[k], line));
  }
  /** Trace the line across a node, from its first child to its last. */
  traceAcross(k) {
    const {layout, brush} = this, [a, b] = [layout.line[layout.first[k]], layout.line[layout.last[k]]];
    brush.moveTo(...this.at(layout.depth[k], a));
    if (!this.isRadial) return brush.lineTo(...this.at(layout.depth[k], b));
    const [x, y] = this.centre(), angle = CIRCLE / layout.nLines;
    brush.arc(x, y, layout.depth[k] * this.radius(), a * angle, b * angle);
  }
  /** Trace a clade smaller than a pixel: a line from the node above to its farthest tip. */
  traceNarrow(k) {
    const {layout, brush} = this, line = layout.line[k];
    brush.moveTo(...this.at(layout.depth[layout.parent[k]], line));
    brush.lineTo(...this.at(layout.deepest[k], line));
  }
  /** True if a branch is drawn in the plain style; otherwise the page draws it. */
  isPlain() {
    return true;
  }
  branchInk(ink) {
    return ink.faint;
  }
  drawBranches(ink) {
    const {brush, seen} = this;
    brush.strokeStyle = this.branchInk(ink), brush.lineWidth = 1;
    brush.beginPath();
    for (const k of seen.open) {
      if (k && this.isPlain(k)) this.trace(k);
      this.traceAcross(k);
    }
    for (const k of seen.leaves) k && this.isPlain(k) && this.trace(k);
    seen.narrow.forEach((k) => this.traceNarrow(k));
    brush.stroke();
  }
  /** Draw collapsed clades. */
  drawClades(ink) {
    const {layout, brush} = this;
    for (const k of this.seen.leaves) {
      if (!layout.collapsed.has(k)) continue;
      brush.fillStyle = this.cladeInk(k, ink);
      brush.beginPath();
      brush.moveTo(...this.at(layout.depth[k], layout.line[k]));
      brush.lineTo(...this.at(layout.deepest[k], layout.line[k] - .35));
      brush.lineTo(...this.at(layout.deepest[k], layout.line[k] + .35));
      brush.fill();
    }
  }
  cladeInk(k, ink) {
    return ink.bar;
  }
  /** Draw marks above branches and below names. */
  drawMarks(ink) {
    if (this.chosen > 0) this.drawChosen(ink);
  }
  drawChosen(ink, width = 3.5) {
    const {brush, layout} = this, k = layout.seen(this.chosen);
    brush.strokeStyle = brush.fillStyle = ink.accent;
    brush.lineWidth = width;
    brush.beginPath();
    this.trace(k);
    brush.stroke();
    brush.beginPath();
    brush.arc(...this.at(layout.depth[k], layout.line[k]), 5, 0, 2 * Math.PI);
    brush.fill();
  }
  /** A tip's name, cut to this many characters. */
  name(k, most) {
    let text = this.labels.get(k);
    if (text === undefined) this.labels.set(k, text = shown(this.names[k].slice(0, 64)));
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }
  label(k, most) {
    return this.layout.collapsed.has(k) ? counted(this.layout.tips[k], "tip") : this.name(k, most);
  }
  labelInk(k, ink) {
    return ink.text;
  }
  drawNames(ink) {
    const {brush, layout} = this, most = this.isRadial ? 18 : Math.floor(this.room / 6);
    brush.font = `${TEXT}px ${ink.sans}`, brush.textBaseline = "middle";
    for (const k of this.seen.leaves) {
      const text = this.label(k, most), [x, y] = this.at(layout.deepest[k], layout.line[k]);
      brush.fillStyle = this.labelInk(k, ink);
      if (!this.isRadial) {
        brush.fillText(text, x + 8, y);
        continue;
      }
      const angle = layout.line[k] / layout.nLines * CIRCLE, isLeft = Math.cos(angle) < 0;
      brush.save();
      brush.translate(x, y);
      brush.rotate(isLeft ? angle + Math.PI : angle);
      brush.textAlign = isLeft ? "right" : "left";
      brush.fillText(text, isLeft ? -8 : 8, 0);
      brush.restore();
    }
  }
  drawLegend() {}

  /** Save a picture of the view, or of the full tree with a line for each name, in print colours. */
  async save(kind, part, name) {
    const {view, height, lower} = this, isWhole = part === "whole";
    this.isPrinted = true;
    this.measure();
    this.height += this.lower - lower;  // a picture's legend may be taller
    const lines = this.isRadial ? this.layout.nLines * LINE / Math.PI + 2 * AROUND :
                                  this.layout.nLines * LINE + this.lower + MARGIN;
    const most = kind === "png" ? MOST_PIXELS : Infinity;
    if (isWhole) {
      this.view = {zoom: 1, wide: 1, x: 0, y: 0};
      this.height = Math.min(most, Math.max(400, lines));
      if (this.isRadial) this.width = this.height - this.lower;
    }
    try {
      await savePicture(kind, name, this.width, this.height, ON_PAPER.page, (brush) => this.paint(brush, ON_PAPER));
    } finally {
      this.view = view, this.height = height, this.isPrinted = false;
      this.draw();
    }
  }

  zoom(factor, px = this.width / 2, py = (this.height - this.lower) / 2) {
    const [depth, line] = this.point(px, py), old = this.view.zoom;
    const most = Math.max(1, this.mostStep * this.layout.nLines / (this.height - this.lower));
    this.view.zoom = clamp(old * factor, 1, this.isRadial ? Math.max(8, most / 3) : most);
    this.keep(depth, line, px, py);
  }
  /** Lengthen or shorten branches; a circle is scaled as a whole. */
  widen(factor, px = this.width / 2) {
    if (this.isRadial) return this.zoom(factor);
    const [depth, line] = this.point(px, 0);
    this.view.wide = clamp(this.view.wide * factor, 1, 200);
    this.keep(depth, line, px, 0);
  }
  /** Move a point of the tree to a point of the canvas. */
  keep(depth, line, px, py) {
    const [x, y] = this.at(depth, line);
    this.move(x - px, y - py);
  }
  /** Move the view by pixels. */
  move(right, down) {
    const {view} = this, most = (this.height - this.lower - MARGIN) * (view.zoom - 1);
    if (this.isRadial) {
      const far = this.radius() + AROUND;
      view.x = clamp(view.x + right, -far, far), view.y = clamp(view.y + down, -far, far);
    } else {
      view.x = clamp(view.x + right, 0, this.span - this.span / view.wide);
      view.y = clamp(view.y + down, 0, most);
    }
    this.redraw();
  }
  /** Mark a branch and scroll to it. */
  choose(node) {
    this.chosen = node;
    if (node > 0) {
      const k = this.layout.seen(node), [x, y] = this.at(this.layout.depth[k], this.layout.line[k]);
      const bottom = this.height - this.lower;
      if (x < 0 || x > this.width || y < 0 || y > bottom) this.move(x - this.width / 2, y - bottom / 2);
    }
    this.draw();
  }
  /** Collapse the clade below a node, or expand it. */
  toggle(node) {
    const {layout} = this, at = layout.seen(node);
    if (at <= 0 || layout.isTip(at)) return;
    const open = new Set(layout.collapsed);
    open.delete(at) || open.add(at);
    layout.setCollapsed(open);
    this.zoom(1);
  }

  /** Connect the buttons that every tree page has. */
  addButtons() {
    on("tree-shape", "change", (event) => this.setShape(event.target.value));
    on("tree-larger", "click", () => this.zoom(1.5));
    on("tree-smaller", "click", () => this.zoom(1 / 1.5));
    on("tree-whole", "click", () => this.whole());
    on("tree-collapse", "click", () => this.chosen > 0 && this.toggle(this.chosen));
  }
  click(node) {
    this.onChoose(node);
  }
  clickTwice() {
    this.whole();
  }
  /** Branch to which a key leads from the chosen one. */
  beside(key) {
    const {layout} = this, at = layout.nodes.indexOf(layout.seen(Math.max(this.chosen, 0))), k = layout.nodes[at];
    const found = {
      ArrowLeft: layout.parent[k],
      ArrowRight: layout.isLeaf(k) ? k : layout.first[k],
      ArrowUp: layout.nodes[at - 1],
      ArrowDown: layout.nodes[at + 1]
    }[key];
    return found > 0 ? found : Math.max(k, 1);
  }
  /** Handle a key; return true if it was handled. */
  press({key}) {
    if (key.startsWith("Arrow") && this.layout.n > 1) {
      this.choose(this.beside(key));
      this.say(this.chosen);
    } else if (key === "Enter" && this.chosen > 0) this.onChoose(this.chosen);
    else if (key === "c" && this.chosen > 0) this.toggle(this.chosen);
    else if (key === "+" || key === "=") this.zoom(1.5);
    else if (key === "-") this.zoom(1 / 1.5);
    else if (key === ">") this.widen(1.5);
    else if (key === "<") this.widen(1 / 1.5);
    else if (key === "0") this.whole();
    else return false;
    return true;
  }
}
