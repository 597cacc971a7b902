/* Alignments along a sequence: a line per other sequence, a bar per alignment.
 *
 *     1 |------------------------------| 188     the ruler
 *     a    ==============   ====                 bars of one other sequence
 *     b  =====
 */
const LINE = 14, BAR = 8, TOP = 26, MOST_SPANS = 200;
/** Bit scores from which a bar is darker, as in BLAST's picture. */
const BITS = [0, 40, 50, 80, 200];
const BAR_SHADES = [.25, .4, .6, .8, 1];

/** `report` is the page's; `onChoose(row)`: a bar was chosen. */
class Spans extends Drawing {
  lines = [];
  of = null;
  /** All rows of a sequence on one side, with its span and the other sequence: {row, begin, end, other}. */
  rowsOf(side, k) {
    const {arrays, sides, nRows} = this.report, found = [], isOneSet = sides[0] === sides[1];
    const roles = isOneSet ? ["query", "target"] : [["query", "target"][side]];
    for (const role of roles) {
      const own = arrays[`${role}_index`], other = role === "query" ? "target" : "query";
      const others = arrays[`${other}_index`], begin = arrays[`${role}_start`], end = arrays[`${role}_end`];
      for (let row = 0; row < nRows; row++)
        if (own[row] === k && !(role === "target" && others[row] === k))  // self-alignments only once
          found.push({row, begin: begin[row], end: end[row], other: others[row]});
    }
    return found;
  }
  /** Show the alignments of query `k`. */
  show(k) {
    if (this.of === k) return;
    const {arrays, sides} = this.report, lineOf = new Map();
    const rows = this.rowsOf(0, k).sort((a, b) => arrays.score[b.row] - arrays.score[a.row] || a.row - b.row);
    for (const one of rows) lineOf.set(one.other, [...lineOf.get(one.other) ?? [], one]);
    const all = [...lineOf.values()];
    Object.assign(this, {of: k, name: sides[0].names[k], length: sides[0].lengths[k], lines: all.slice(0, MOST_SPANS)});
    this.bars = this.lines.flatMap((line, place) => line.map((one) => ({...one, place})));
    this.best = this.bars.length ? arrays.score[this.bars[0].row] : 1;
    const name = shown(this.name);
    element("spans-note").textContent = `${name}: ${counted(rows.length, "alignment")} with ${
      counted(all.length, "sequence")}${all.length > MOST_SPANS ? `; the best ${MOST_SPANS} are drawn` : ""}`;
    this.canvas.setAttribute(
      "aria-label",
      `Alignments along ${name}: ${counted(this.bars.length, "bar")}; arrow keys go from one to the next`);
    this.draw();
  }
  choose(row) {
    this.chosen = row;
    this.draw();
  }
  told(row) {
    const {arrays, numbers} = this.report, one = this.bars.find((bar) => bar.row === row);
    return `${shown(this.report.sides[1].names[one.other])}\n${one.begin + 1} to ${one.end}, score ${
      asNumber(arrays.score[row])}${arrays.evalue ? `, E ${asEvalue(arrays.evalue[row])}` : ""}, identity ${
      asShare(numbers.identity[row])}`;
  }
  /** Row of the bar at a point; -1 if there is no bar. */
  hit(x, y) {
    if (!this.width) return -1;
    const place = Math.floor((y - TOP) / LINE);
    const found = this.lines[place]?.find(
      ({begin, end}) => x >= this.x(begin) - 2 && x <= Math.max(this.x(end), this.x(begin) + 2) + 2);
    return found ? found.row : -1;
  }
  click(row) {
    this.onChoose(row);
  }
  press({key}) {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[key];
    if (!step || !this.bars?.length) return false;
    const now = this.bars.findIndex(({row}) => row === this.chosen);
    const next = this.bars[clamp(now < 0 ? 0 : now + step, 0, this.bars.length - 1)];
    this.onChoose(next.row);
    this.say(next.row);
    return true;
  }
  x(at) {
    return this.left + at / Math.max(1, this.length) * (this.width - this.left - 12);
  }
  shade(row) {
    const {arrays} = this.report;
    if (!arrays.bits)
      return BAR_SHADES[Math.min(4, Math.floor(Math.max(0, arrays.score[row]) / Math.max(1, this.best) * 5))];
    return BAR_SHADES[BITS.findLastIndex((least) => least === 0 || arrays.bits[row] >= least)];
  }
  measure() {
    this.width = this.host.clientWidth - 4;
    this.left = Math.min(170, this.width / 4);
    this.height = TOP + LINE * Math.max(1, this.lines.length) + 4;
    return this.of !== null && this.width >= 60;
  }
  paint(brush, ink) {
    brush.font = `11px ${ink.sans}`;
    brush.fillStyle = ink.quiet;
    const number = (share) => String(share ? Math.round(this.length * share) : Math.min(1, this.length));
    writeAxis(brush, this.left, this.x(this.length) - this.left, 11, number);
    brush.fillStyle = ink.text;
    brush.fillRect(this.x(0), 16, this.x(this.length) - this.x(0), 4);
    this.lines.forEach((line, place) => {
      const top = TOP + place * LINE;
      brush.fillStyle = ink.empty;
      brush.fillRect(this.x(0), top + BAR / 2, this.x(this.length) - this.x(0), 1);
      brush.fillStyle = ink.quiet;
      brush.fillText(fitted(brush, shown(this.report.sides[1].names[line[0].other]), this.left - 8), 0, top + BAR);
      for (const {row, begin, end} of line) {
        const from = this.x(begin), width = Math.max(2, this.x(end) - from);
        brush.fillStyle = mixed(ink.page, ink.accent, this.shade(row));
        brush.fillRect(from, top, width, BAR);
        if (row !== this.chosen) continue;
        brush.fillStyle = ink.text;
        brush.fillRect(from, top + BAR + 1, width, 2);
      }
    });
  }
}

/** Mix two colours of the form #rrggbb, with `share` of the second. */
function mixed(first, second, share) {
  const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const [a, b] = [parts(first), parts(second)];
  return `#${a.map((value, k) => Math.round(value + (b[k] - value) * share).toString(16).padStart(2, "0")).join("")}`;
}
