/* The graph: vertices and edges; thin lines are the shortest paths from one vertex, a thick line is the chosen path. */
const EDGE = 28, DOT = 4, REACH = 14, ARROW = 7;

class Graph extends Drawing {
  marksOver = true;
  tree = [];
  route = [];
  /**
   * `edges`: [source, target, isBoth] of each; `x`, `y`: coordinates from 0 to 1; `name(v)`; `told(v)`: description
   * of a vertex; `click(v)`, `clickTwice(v)`: it was chosen as end or as start of paths.
   */
  constructor(canvas, parts) {
    super(canvas, parts);
    canvas.setAttribute(
      "aria-label",
      `Graph of ${counted(this.n, "vertex").replace("vertexs", "vertices")}: arrows go to the nearest ` +
        "vertex on that side, Enter makes it the source");
  }
  get n() {
    return this.x.length;
  }
  /** `tree`: [from, to] of the steps of all paths; `route`: vertices of the chosen path. */
  show(tree, route) {
    Object.assign(this, {tree, route});
    this.draw();
  }
  get target() {
    return this.route.at(-1) ?? -1;
  }

  measure() {
    this.width = Math.max(240, this.inside);
    this.height = clamp(Math.round(this.width * .6), 260, 640);
  }
  /** Position of a vertex in pixels; the graph is centred and keeps its aspect ratio. */
  at(v) {
    const width = this.width - 2 * EDGE, height = this.height - 2 * EDGE;
    const right = Math.max(...this.x, 1e-9), low = Math.max(...this.y, 1e-9);
    const scale = Math.min(width / right, height / low);
    return [
      EDGE + (width - right * scale) / 2 + this.x[v] * scale, EDGE + (height - low * scale) / 2 + this.y[v] * scale
    ];
  }
  paint(brush, ink) {
    this.places = Array.from({length: this.n}, (_, v) => this.at(v));
    brush.lineWidth = 1, brush.strokeStyle = brush.fillStyle = ink.faint;
    for (const [from, to, isBoth] of this.edges) this.line(brush, from, to, !isBoth);
    brush.strokeStyle = ink.accent;
    for (const [from, to] of this.tree) this.line(brush, from, to, false);
    brush.lineWidth = 4, brush.fillStyle = ink.accent;
    this.route.forEach((v, k) => k && this.line(brush, this.route[k - 1], v, true));
    brush.lineWidth = 1;
    this.paintVertices(brush, ink);
  }
  line(brush, from, to, hasArrow) {
    const [x, y] = this.places[from], [toX, toY] = this.places[to];
    brush.beginPath(), brush.moveTo(x, y), brush.lineTo(toX, toY), brush.stroke();
    const length = Math.hypot(toX - x, toY - y);
    if (!hasArrow || length < 3 * ARROW) return;
    const dx = (toX - x) / length, dy = (toY - y) / length, tipX = toX - dx * (DOT + 1), tipY = toY - dy * (DOT + 1);
    brush.beginPath(), brush.moveTo(tipX, tipY);
    for (const side of [-1, 1])
      brush.lineTo(tipX - dx * ARROW - side * dy * ARROW / 2, tipY - dy * ARROW + side * dx * ARROW / 2);
    brush.fill();
  }
  /** Draw dots, and names if there is room, those of the route first. */
  paintVertices(brush, ink) {
    const isOnRoute = new Set(this.route), taken = [];
    const order = [...this.route, ...Array.from({length: this.n}, (_, v) => v).filter((v) => !isOnRoute.has(v))];
    for (const v of order) {
      const [x, y] = this.places[v], isEnd = v === this.route[0] || v === this.target || v === this.over;
      brush.beginPath(), brush.arc(x, y, isEnd ? DOT + 2 : DOT, 0, 2 * Math.PI);
      brush.fillStyle = isOnRoute.has(v) || v === this.over ? ink.accent : ink.quiet, brush.fill();
    }
    brush.font = `12px ${ink.sans}`, brush.textAlign = "left", brush.textBaseline = "middle";
    for (const v of order) {
      const text = this.name(v).slice(0, 24), [x, y] = this.places[v], width = brush.measureText(text).width;
      const left = x + DOT + 4 + width > this.width ? x - DOT - 4 - width : x + DOT + 4;
      const box = [left, y - 7, left + width, y + 7];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]))
        continue;
      taken.push(box);
      brush.fillStyle = ink.text, brush.fillText(text, left, y);
    }
  }
  /** Vertex at a pixel; -1 if no vertex is near. */
  hit(px, py) {
    let best = -1, least = REACH;
    this.places.forEach(([x, y], v) => {
      const away = Math.hypot(x - px, y - py);
      if (away < least) best = v, least = away;
    });
    return best;
  }
  /** Nearest vertex in a direction from another one; sideways distance counts double. */
  beside(v, dx, dy) {
    const [x, y] = this.places[v];
    let best = -1, least = Infinity;
    this.places.forEach(([otherX, otherY], other) => {
      const along = (otherX - x) * dx + (otherY - y) * dy, aside = Math.abs((otherX - x) * dy - (otherY - y) * dx);
      if (other !== v && along > aside && along + 2 * aside < least) best = other, least = along + 2 * aside;
    });
    return best;
  }
  press({key}) {
    const sides = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const v = Math.max(0, this.target);
    if (!this.n || key !== "Enter" && !(key in sides)) return false;
    if (key === "Enter") return this.clickTwice(v), true;
    const next = this.beside(v, ...sides[key]);
    if (next >= 0) this.click(next), this.say(next);
    return true;
  }
}
