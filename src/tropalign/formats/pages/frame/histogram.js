/* A histogram with selectable ranges of bars. */
class Histogram extends Drawing {
  height = 140;
  range = null;
  /** `onRange(from, to)` receives the range of bars that was dragged over or clicked; null, null if it was cleared. */
  constructor(canvas, onRange) {
    super(canvas, {onRange});
    canvas.addEventListener("pointerdown", (event) => {
      const first = this.hit(event.offsetX), old = this.range;
      canvas.setPointerCapture(event.pointerId);
      const move = ({offsetX}) => this.choose(...[first, this.hit(offsetX)].sort((a, b) => a - b));
      move(event);
      canvas.addEventListener("pointermove", move);
      canvas.addEventListener("pointerup", (up) => {
        canvas.removeEventListener("pointermove", move);
        const isSame = old && this.range && old[0] === this.range[0] && old[1] === this.range[1];
        if (isSame && this.hit(up.offsetX) === first) this.range = null;  // a second click on the range clears it
        this.draw();
        this.onRange(...(this.range ? [this.edge(this.range[0]), this.edge(this.range[1] + 1)] : [null, null]));
      }, {once: true});
    });
  }
  hit(x) {
    return clamp(Math.floor((x - this.left) / this.step), 0, this.counts.length - 1);
  }
  told(k) {
    const last = k === this.counts.length - 1 ? "" : "below ";
    return `${this.format(this.edge(k))} to ${last}${this.format(this.edge(k + 1))}: ${
      this.counts[k].toLocaleString("en")}`;
  }
  /** Show numbers. `from` and `to` bound the axis; `format(value)` formats its labels. */
  show(values, from, to, format, nBars = 50) {
    const counts = new Uint32Array(nBars), scale = nBars / (to - from || 1);
    for (let k = 0; k < values.length; k++) counts[clamp(Math.floor((values[k] - from) * scale), 0, nBars - 1)]++;
    Object.assign(this, {counts, from, to: to > from ? to : from + 1, format, range: null});
    this.canvas.setAttribute(
      "aria-label",
      `Histogram of ${counted(values.length, "value")} from ${format(from)} to ${format(to)}; the maximum, ${
        Math.max(...counts)}, near ${format(this.edge(counts.indexOf(Math.max(...counts))))}`);
    this.draw();
  }
  edge(k) {
    return this.from + (this.to - this.from) * k / this.counts.length;
  }
  choose(first, last) {
    this.range = [first, last];
    this.draw();
  }
  clear() {
    this.range = null;
    this.draw();
  }
  measure() {
    this.width = this.inside;
    if (!this.counts || this.width < 40) return false;
    this.left = 8, this.step = (this.width - 16) / this.counts.length;
  }
  paint(brush, ink) {
    const {width, height} = this, floor = height - 20, most = Math.max(1, ...this.counts);
    this.counts.forEach((count, k) => {
      const isIn = !this.range || (k >= this.range[0] && k <= this.range[1]);
      const bar = count ? Math.max(1, count / most * (floor - 18)) : 0;
      brush.fillStyle = isIn ? ink.accent : ink.faint;
      brush.fillRect(this.left + k * this.step + .5, floor - bar, Math.max(1, this.step - 1), bar);
    });
    brush.fillStyle = ink.line;
    brush.fillRect(this.left, floor, width - 16, 1);
    brush.fillStyle = ink.quiet;
    brush.font = `11px ${ink.sans}`;
    brush.fillText(`${most.toLocaleString("en")} at most`, this.left, 11);
    writeAxis(
      brush, this.left, width - 16, height - 5, (share) => this.format(this.from + (this.to - this.from) * share));
  }
}
