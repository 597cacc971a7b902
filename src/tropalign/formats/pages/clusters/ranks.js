/* Sizes of clusters by rank, the largest first. Clusters of equal size form one step:
 *
 *     size   |■■
 *            |■■■■■
 *            |■■■■■■■■■■■■■■
 *            +--------------- rank          x(r) is the left edge of the bar of rank r, r = 1 and up
 */
const RANKS_HEIGHT = 220, EDGE = {
  left: 52,
  right: 12,
  top: 12,
  bottom: 36
};

class Ranks extends Drawing {
  marksOver = true;
  marked = null;
  isLog = false;
  height = RANKS_HEIGHT;
  /**
   * `steps`: arrays {size, count}, largest first; `told(k)`: description of the cluster of rank k + 1, for the
   * `nKnown` clusters on the page; `onChoose(k)`: it was chosen.
   */
  constructor(canvas, steps, {told, ...acts}) {
    super(canvas, {steps, toldKnown: told, ...acts});
    this.n = steps.count.reduce((sum, value) => sum + value, 0);
    this.most = steps.size[0] ?? 1;
    canvas.setAttribute(
      "aria-label",
      `Sizes of ${counted(this.n, "cluster")}, the largest ${
        this.most.toLocaleString("en")}: left and right go from cluster to cluster`);
  }
  setAxes(isLog) {
    this.isLog = isLog;
    this.draw();
  }
  /** Colour only these clusters; null: all. */
  mark(rows) {
    this.marked = rows && new Uint8Array(this.nKnown);
    for (const row of rows ?? []) this.marked[row] = 1;
    this.draw();
  }
  /** Highlight the chosen cluster. */
  choose(k, isTold = true) {
    this.chosen = k;
    this.draw();
    if (isTold) this.onChoose(k);
  }

  /** Left edge of the bar of a rank, in pixels. */
  x(rank) {
    const room = this.width - EDGE.left - EDGE.right;
    const share = this.isLog ? Math.log(rank) / Math.log(this.n + 1) : (rank - 1) / this.n;
    return EDGE.left + share * room;
  }
  /** Top of the bar of a size; on a logarithmic axis, size 1 also has a height. */
  y(size) {
    const room = RANKS_HEIGHT - EDGE.top - EDGE.bottom, log = (value) => Math.log(value / .7);
    const share = this.isLog ? Math.max(0, log(size)) / log(Math.max(2, this.most)) : size / this.most;
    return RANKS_HEIGHT - EDGE.bottom - share * room;
  }
  /** Cluster (rank - 1) at a pixel; -1 outside the bars. */
  hit(px) {
    const share = (px - EDGE.left) / (this.width - EDGE.left - EDGE.right);
    if (share < 0 || share >= 1 || !this.n) return -1;
    return clamp(Math.floor(this.isLog ? (this.n + 1) ** share : 1 + share * this.n) - 1, 0, this.n - 1);
  }
  sizeOf(k) {
    let before = 0, step = 0;
    while (before + this.steps.count[step] <= k) before += this.steps.count[step++];
    return this.steps.size[step];
  }
  measure() {
    this.width = Math.max(240, this.inside);
  }
  paint(brush, ink) {
    brush.font = `11px ${ink.sans}`;
    this.paintAxes(brush, ink);
    this.paintSteps(brush, this.marked ? ink.faint : ink.accent);
    if (this.marked) this.paintMarked(brush, ink.accent);
    this.frame(brush, this.over, ink.quiet), this.frame(brush, this.chosen, ink.text);
  }
  /** Draw a frame around the bar of a cluster. */
  frame(brush, k, colour) {
    if (k < 0) return;
    const x = this.x(k + 1) - 2, y = this.y(this.sizeOf(k)) - 2, floor = RANKS_HEIGHT - EDGE.bottom;
    const width = Math.max(5, this.x(k + 2) - x + 1), height = floor - y + 1;
    brush.fillStyle = colour;
    brush.fillRect(x, y, width, 2), brush.fillRect(x, floor - 1, width, 2);
    brush.fillRect(x, y, 2, height), brush.fillRect(x + width - 2, y, 2, height);
  }
  /** Draw a bar per step, or a bar per cluster if wide enough. */
  paintSteps(brush, colour) {
    brush.fillStyle = colour;
    let rank = 1;
    this.steps.count.forEach((count, step) => {
      let done = 0;
      for (; done < count && this.x(rank + 1) - this.x(rank) >= 3; done++, rank++) this.bar(brush, rank, 1, step, 1);
      if (done < count) this.bar(brush, rank, count - done, step, 0), rank += count - done;
    });
  }
  bar(brush, rank, count, step, gap) {
    const x = this.x(rank), y = this.y(this.steps.size[step]);
    brush.fillRect(x, y, Math.max(.5, this.x(rank + count) - x - gap), RANKS_HEIGHT - EDGE.bottom - y);
  }
  /** Draw the coloured clusters, at most one per pixel. */
  paintMarked(brush, colour) {
    brush.fillStyle = colour;
    let last = -1, k = 0;
    this.steps.count.forEach((count, step) => {
      const y = this.y(this.steps.size[step]);
      for (const end = Math.min(k + count, this.nKnown); k < end; k++) {
        if (!this.marked[k]) continue;
        const x = this.x(k + 1), width = this.x(k + 2) - x;
        if (width < 1 && Math.floor(x) === last) continue;
        last = Math.floor(x);
        brush.fillRect(x, y, Math.max(1, width >= 3 ? width - 1 : width), RANKS_HEIGHT - EDGE.bottom - y);
      }
    });
  }
  paintAxes(brush, ink) {
    const floor = RANKS_HEIGHT - EDGE.bottom, right = this.width - EDGE.right;
    for (const value of labelsTo(this.most, this.isLog)) {
      const y = this.y(value);
      brush.fillStyle = ink.line, brush.fillRect(EDGE.left, Math.round(y), right - EDGE.left, 1);
      brush.fillStyle = ink.quiet, brush.textAlign = "right", brush.textBaseline = "middle";
      brush.fillText(short(value), EDGE.left - 6, y);
    }
    brush.textBaseline = "alphabetic";
    let free = -Infinity;
    for (const value of labelsTo(this.n, this.isLog)) {
      if (!value) continue;
      const x = (this.x(value) + this.x(value + 1)) / 2, half = brush.measureText(short(value)).width / 2;
      if (x - half < free || x + half > this.width) continue;
      free = x + half + 8;
      brush.fillStyle = ink.quiet, brush.textAlign = "center";
      brush.fillText(short(value), x, floor + 15);
    }
    brush.textAlign = "right";
    brush.fillText("rank", right, RANKS_HEIGHT - 5);
    brush.textAlign = "left";
    brush.fillText("size", 2, 10);
    brush.fillStyle = ink.quiet, brush.fillRect(EDGE.left, floor, right - EDGE.left, 1);
  }
  told(k) {
    const place = `rank ${(k + 1).toLocaleString("en")}, size ${this.sizeOf(k).toLocaleString("en")}`;
    return k < this.nKnown ? this.toldKnown(k) : place;
  }
  click(k) {
    if (k < this.nKnown) this.choose(k);
  }
  press({key}) {
    const last = this.nKnown - 1;
    const places = {ArrowRight: this.chosen + 1, ArrowLeft: this.chosen - 1, Home: 0, End: last};
    if (!(key in places) || last < 0) return false;
    this.choose(clamp(places[key], 0, last));
    this.say(this.chosen);
    return true;
  }
}

/** Axis labels up to `most`: powers of ten on a logarithmic axis. */
function labelsTo(most, isLog) {
  return isLog ? Array.from({length: 1 + Math.floor(Math.log10(most))}, (_, k) => 10 ** k) : ticksTo(most);
}

/** Format a number compactly. */
const short = (value) => value.toLocaleString("en", {notation: value >= 10_000 ? "compact" : "standard"});
