/* The tree on a canvas, rectangular or radial. A point is (depth, line); each shape says where that is on the canvas.
 */
const HEAT = {
  light: ["#f4c27a", "#ee9a3f", "#dc6a22", "#b93a1b", "#7f1420"],
  dark: ["#7a4d1c", "#b8681f", "#e88c33", "#ffb766", "#ffe9bf"]
};
const MARGIN = 12, ROOM = 170, AROUND = 110, LOWER = 30, TEXT = 11, TREE_HEIGHT = 620, CIRCLE = 2 * Math.PI * .985,
      FEW = 150;

class TreeView {
  /** `told(node)`: what is said of a branch; `names`; `onChoose(node)`. */
  constructor(canvas, host, layout, names, {told, onChoose}) {
    Object.assign(this, {canvas, host, layout, names, told, onChoose, chosen: -1, shape: "rectangular"});
    this.view = {zoom: 1, x: 0, y: 0};
    this.listen();
  }
  /** Colours by a number per node. */
  colour(values) {
    this.values = values, this.sums = this.layout.sums(values);
    this.most = values.reduce((a, b) => Math.max(a, b), 0);
    this.draw();
  }
  setShape(shape) {
    this.shape = shape;
    this.whole();
  }
  setTheme(isDark) {
    this.isDark = isDark;
    this.draw();
  }
  whole() {
    this.view = {zoom: 1, x: 0, y: 0};
    this.draw();
  }
  get width() {
    return this.host.clientWidth - 24;
  }
  get isRadial() {
    return this.shape === "radial";
  }
  /** Pixels of a line, at the tips. */
  get step() {
    const {nLines} = this.layout;
    return this.isRadial ? this.radius() * CIRCLE / nLines : (TREE_HEIGHT - LOWER - MARGIN) * this.view.zoom / nLines;
  }
  radius() {
    const around = this.layout.nLines > FEW ? 12 : AROUND;  // names stand there
    return Math.max(40, Math.min(this.width / 2, (TREE_HEIGHT - LOWER) / 2) - around) * this.view.zoom;
  }
  centre() {
    return [this.width / 2 - this.view.x, (TREE_HEIGHT - LOWER) / 2 - this.view.y];
  }
  at(depth, line) {
    if (!this.isRadial)
      return [MARGIN + depth * (this.width - ROOM - 2 * MARGIN), MARGIN + line * this.step - this.view.y];
    const [x, y] = this.centre(), angle = line / this.layout.nLines * CIRCLE, r = depth * this.radius();
    return [x + r * Math.cos(angle), y + r * Math.sin(angle)];
  }
  /** (depth, line) of a point of the canvas. */
  point(px, py) {
    if (!this.isRadial)
      return [(px - MARGIN) / (this.width - ROOM - 2 * MARGIN), (py - MARGIN + this.view.y) / this.step];
    const [x, y] = this.centre(), angle = (Math.atan2(py - y, px - x) + 2 * Math.PI) % (2 * Math.PI);
    return [Math.hypot(px - x, py - y) / this.radius(), angle / CIRCLE * this.layout.nLines];
  }
  /** The node whose branch is nearest to a point of the canvas, within some pixels; -1 for none. */
  nodeAt(px, py) {
    const {layout} = this, [depth, line] = this.point(px, py),
          scale = this.isRadial ? this.radius() : this.width - ROOM - 2 * MARGIN;
    const perLine = this.isRadial ? depth * this.radius() * CIRCLE / layout.nLines : this.step;
    let found = -1, least = 9;
    for (const k of layout.nodes) {
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
  share(value) {
    return value > 0 ? Math.min(1, Math.log1p(value) / Math.log1p(this.most || 1)) : 0;
  }
  heat(value) {
    const colours = HEAT[this.isDark ? "dark" : "light"];
    return colours[Math.min(colours.length - 1, Math.floor(this.share(value) * colours.length))];
  }

  draw() {
    if (!this.values || this.width < 160) return;
    const brush = brushOf(this.canvas, this.width, TREE_HEIGHT), ink = inks();
    this.brush = brush;
    brush.save();
    brush.beginPath();
    brush.rect(0, 0, this.width, TREE_HEIGHT - LOWER);
    brush.clip();
    const seen = this.layout.nodes.filter((k) => this.isSeen(k));
    this.drawPlain(seen, ink);
    this.drawHeat(seen);
    this.drawClades(seen, ink);
    if (this.chosen > 0) this.drawChosen(ink);
    if (this.step >= 8.5) this.drawNames(seen, ink);
    brush.restore();
    this.drawLegend(ink);
  }
  isSeen(k) {
    if (this.isRadial || !k) return true;
    const {layout} = this, isLeaf = layout.isLeaf(k);
    const from = isLeaf ? layout.line[k] - .5 : layout.line[layout.first[k]];
    const to = isLeaf ? layout.line[k] + .5 : layout.line[layout.last[k]];
    return this.at(0, to)[1] > -10 && this.at(0, from)[1] < TREE_HEIGHT;
  }
  /** The line along which a branch lies. */
  trace(k) {
    const {layout, brush} = this, line = layout.line[k];
    brush.moveTo(...this.at(layout.depth[layout.parent[k]], line));
    brush.lineTo(...this.at(layout.depth[k], line));
  }
  /** Branches without reads, and the lines across at nodes; a clade of less than a pixel is one line. */
  drawPlain(seen, ink) {
    const {layout, brush, step} = this, isNarrow = (k) => (layout.tips[k] - 1) * step < 1;
    brush.strokeStyle = ink.faint, brush.lineWidth = 1;
    brush.beginPath();
    let end = 0;
    for (const k of seen) {
      if (k < end) continue;
      if (k && !this.values[k]) this.trace(k);
      if (k && !layout.isLeaf(k) && isNarrow(k)) {
        brush.moveTo(...this.at(layout.depth[k], layout.line[k]));
        brush.lineTo(...this.at(layout.deepest[k], layout.line[k]));
        end = layout.end[k];
        continue;
      }
      if (layout.isLeaf(k)) continue;
      const [a, b] = [layout.line[layout.first[k]], layout.line[layout.last[k]]];
      brush.moveTo(...this.at(layout.depth[k], a));
      if (!this.isRadial) brush.lineTo(...this.at(layout.depth[k], b));
      else {
        const [x, y] = this.centre(), angle = CIRCLE / layout.nLines;
        brush.arc(x, y, layout.depth[k] * this.radius(), a * angle, b * angle);
      }
    }
    brush.stroke();
  }
  /** Those with reads, a few widths and colours of them, the strongest on top. */
  drawHeat(seen) {
    const {brush} = this, levels = new Map();
    for (const k of seen)
      if (k && this.values[k]) {
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
  /** Collapsed clades. */
  drawClades(seen, ink) {
    const {layout, brush} = this;
    for (const k of seen) {
      if (!layout.collapsed.has(k)) continue;
      brush.fillStyle = this.sums[k] ? this.heat(this.sums[k]) : ink.line;
      brush.beginPath();
      brush.moveTo(...this.at(layout.depth[k], layout.line[k]));
      brush.lineTo(...this.at(layout.deepest[k], layout.line[k] - .35));
      brush.lineTo(...this.at(layout.deepest[k], layout.line[k] + .35));
      brush.fill();
    }
  }
  drawChosen(ink) {
    const {brush, layout} = this, k = layout.seen(this.chosen);
    brush.strokeStyle = brush.fillStyle = ink.accent;
    brush.lineWidth = Math.max(3, 3.5 + this.share(this.values[k]) * 5.5);
    brush.beginPath();
    this.trace(k);
    brush.stroke();
    brush.beginPath();
    brush.arc(...this.at(layout.depth[k], layout.line[k]), 5, 0, 2 * Math.PI);
    brush.fill();
  }
  label(k) {
    if (!this.layout.collapsed.has(k)) return shown(this.names[k]);
    return `${counted(this.layout.tips[k], "tip")}, ${this.sums[k].toLocaleString("en", {maximumFractionDigits: 2})}`;
  }
  drawNames(seen, ink) {
    const {brush, layout} = this, most = this.isRadial ? 18 : 28;
    brush.font = `${TEXT}px ${ink.sans}`;
    brush.textBaseline = "middle";
    for (const k of seen) {
      if (!layout.isLeaf(k)) continue;
      const text = this.label(k), cut = text.length > most ? text.slice(0, most - 1) + "…" : text;
      const [x, y] = this.at(layout.deepest[k], layout.line[k]);
      brush.fillStyle = this.sums[k] ? ink.text : ink.quiet;
      if (!this.isRadial) {
        brush.fillText(cut, x + 8, y);
        continue;
      }
      const angle = layout.line[k] / layout.nLines * CIRCLE, isLeft = Math.cos(angle) < 0;
      brush.save();
      brush.translate(x, y);
      brush.rotate(isLeft ? angle + Math.PI : angle);
      brush.textAlign = isLeft ? "right" : "left";
      brush.fillText(cut, isLeft ? -8 : 8, 0);
      brush.restore();
    }
  }
  drawLegend(ink) {
    const {brush} = this, y = TREE_HEIGHT - 12, width = 18;
    brush.font = `${TEXT}px ${ink.sans}`, brush.textBaseline = "middle", brush.fillStyle = ink.quiet;
    const few = Math.min(1, this.most) ? (this.most < 1 ? this.most.toPrecision(2) : "1") : "0";
    brush.fillText(few, MARGIN, y);
    let x = MARGIN + brush.measureText(few).width + 6;
    HEAT[this.isDark ? "dark" : "light"].forEach((colour, k) => {
      brush.fillStyle = colour;
      brush.fillRect(x + k * width, y - 2 - k, width, 4 + 2 * k);
    });
    x += 5 * width + 6;
    brush.fillStyle = ink.quiet;
    const {layout} = this, hint = this.step < 8.5 ? " · zoom in for names" : "";
    const most = this.most.toLocaleString("en", {maximumFractionDigits: 2});
    brush.fillText(`${most} on a branch · ${counted(layout.tips[0], "tip")}${hint}`, x, y);
  }

  zoom(factor, px = this.width / 2, py = (TREE_HEIGHT - LOWER) / 2) {
    const [depth, line] = this.point(px, py), old = this.view.zoom;
    const most = Math.max(1, 40 * this.layout.nLines / (TREE_HEIGHT - LOWER));
    this.view.zoom = clamp(old * factor, 1, this.isRadial ? Math.max(8, most / 3) : most);
    const [x, y] = this.at(depth, line);
    this.move(this.isRadial ? x - px : 0, y - py);
  }
  /** Moves the view by pixels. */
  move(right, down) {
    const {view} = this, most = (TREE_HEIGHT - LOWER - MARGIN) * (view.zoom - 1);
    if (this.isRadial) {
      const far = this.radius() + AROUND;
      view.x = clamp(view.x + right, -far, far), view.y = clamp(view.y + down, -far, far);
    } else view.y = clamp(view.y + down, 0, most);
    this.draw();
  }
  /** Marks a branch and brings it into view. */
  choose(node) {
    this.chosen = node;
    if (node > 0) {
      const k = this.layout.seen(node), [x, y] = this.at(this.layout.depth[k], this.layout.line[k]);
      const isOut = y < 0 || y > TREE_HEIGHT - LOWER || (this.isRadial && (x < 0 || x > this.width));
      if (isOut) this.move(this.isRadial ? x - this.width / 2 : 0, y - (TREE_HEIGHT - LOWER) / 2);
    }
    this.draw();
  }
  /** Collapses the clade below a node, or opens it. */
  toggle(node) {
    const {layout} = this, at = layout.seen(node);
    if (at <= 0 || layout.isTip(at)) return;
    const open = new Set(layout.collapsed);
    open.delete(at) || open.add(at);
    layout.setCollapsed(open);
    this.move(0, 0);
  }
  /** The largest clades without reads; none of them where `isOpen`. */
  collapseEmpty(isOpen) {
    const {layout} = this, found = [];
    for (let k = 1; k < layout.n && !isOpen; k++)
      if (!layout.isTip(k) && !this.sums[k]) found.push(k), k = layout.end[k] - 1;
    layout.setCollapsed(found);
    this.whole();
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * .0018), event.offsetX, event.offsetY);
    }, {passive: false});
    canvas.addEventListener("dblclick", () => this.whole());
    canvas.addEventListener("pointerdown", (event) => this.drag(event));
    canvas.addEventListener("pointermove", (event) => {
      const node = event.buttons ? -1 : this.nodeAt(event.offsetX, event.offsetY);
      tip(node > 0 ? this.told(node) : "", event);
    });
    canvas.addEventListener("pointerleave", () => tip(""));
    canvas.addEventListener("keydown", (event) => this.press(event));
  }
  drag(event) {
    const {canvas} = this, {offsetX, offsetY} = event;
    let isMoved = false, last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
    const move = ({clientX, clientY}) => {
      isMoved ||= Math.hypot(clientX - last[0], clientY - last[1]) > 3;
      if (!isMoved) return;
      this.move(last[0] - clientX, last[1] - clientY);
      last = [clientX, clientY];
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", () => {
      canvas.removeEventListener("pointermove", move);
      const node = isMoved ? -1 : this.nodeAt(offsetX, offsetY);
      if (node > 0) this.onChoose(node);
    }, {once: true});
  }
  /** The branch to which a key leads from the chosen one. */
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
  press(event) {
    const {key} = event;
    if (key.startsWith("Arrow")) {
      this.choose(this.beside(key));
      say(this.told(this.chosen).replaceAll("\n", ", "));
    } else if (key === "Enter" && this.chosen > 0) this.onChoose(this.chosen);
    else if (key === "c" && this.chosen > 0) this.toggle(this.chosen);
    else if (key === "e") this.onEmpty?.();
    else if (key === "+" || key === "=") this.zoom(1.5);
    else if (key === "-") this.zoom(1 / 1.5);
    else if (key === "0") this.whole();
    else return;
    event.preventDefault();
  }
}
