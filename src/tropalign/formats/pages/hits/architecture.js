/* Sequences as lines, their domains as boxes; of many lines those in view alone are drawn. */
const LINE = 24, LABEL = 190, EDGE = 14, BOX = 14, TALLEST = 8_000_000;

/** A colour of its own for each model. */
function modelColour(model, isDark, isPale) {
  const hue = (model * 137.508 + 210) % 360;
  return `hsl(${hue} ${isDark ? 55 : 60}% ${isDark ? 46 : 52}% / ${isPale ? .4 : 1})`;
}

class Architecture {
  /** `host` scrolls; `told(domain)`: what is said of a domain; `onChoose(domain)`. */
  constructor(canvas, host, room, {sequences, domains, told, onChoose}) {
    Object.assign(this, {canvas, host, room, sequences, domains, told, onChoose, lines: [], chosen: -1});
    host.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), {passive: true});
    canvas.addEventListener("pointermove", (event) => {
      const domain = this.domainAt(event.offsetX, event.offsetY);
      tip(domain >= 0 ? told(domain) : this.nameAt(event.offsetY), event);
    });
    canvas.addEventListener("pointerleave", () => tip(""));
    canvas.addEventListener("click", (event) => {
      const domain = this.domainAt(event.offsetX, event.offsetY);
      if (domain >= 0) onChoose(domain);
    });
    canvas.addEventListener("keydown", (event) => this.press(event));
  }
  /** Lines [sequence, its domains from the worst to the best]. */
  show(lines) {
    this.lines = lines;
    this.longest = lines.reduce((most, [sequence]) => Math.max(most, this.sequences.lengths[sequence]), 1);
    this.room.style.height = `${Math.max(0, Math.min(lines.length * LINE, TALLEST) - this.height)}px`;
    this.draw();
  }
  get height() {
    return this.host.clientHeight;
  }
  get nSeen() {
    return Math.floor((this.height - LINE) / LINE);
  }
  /** The first line in view; of more than a browser can scroll, by the share of the way. */
  get first() {
    const most = Math.max(0, this.lines.length - this.nSeen), way = this.host.scrollHeight - this.host.clientHeight;
    return way > 0 ? Math.round(this.host.scrollTop / way * most) : 0;
  }
  scrollTo(line) {
    const {first, nSeen} = this, most = Math.max(1, this.lines.length - nSeen);
    if (line >= first && line < first + nSeen) return;
    const way = this.host.scrollHeight - this.host.clientHeight;
    this.host.scrollTop = clamp(line < first ? line : line - nSeen + 1, 0, most) / most * way;
  }
  setScale(isOwn) {
    this.isOwn = isOwn;
    this.draw();
  }
  setTheme(isDark) {
    this.isDark = isDark;
    this.draw();
  }
  x(position, sequence) {
    const length = this.isOwn ? this.sequences.lengths[sequence] : this.longest;
    return LABEL + position / Math.max(1, length) * (this.width - LABEL - EDGE);
  }
  draw() {
    this.width = this.host.clientWidth;
    if (this.width < 260) return;
    const brush = brushOf(this.canvas, this.width, this.height), ink = inks(), {first} = this;
    brush.font = `12px ${ink.sans}`, brush.textBaseline = "middle";
    if (!this.lines.length) {
      brush.fillStyle = ink.quiet;
      brush.fillText("No hit passes the filters.", EDGE, LINE);
    }
    for (let k = first; k < Math.min(this.lines.length, first + this.nSeen + 1); k++)
      this.drawLine(brush, ink, this.lines[k], (k - first + .5) * LINE);
    if (!this.isOwn && this.lines.length) this.drawScale(brush, ink);
  }
  drawLine(brush, ink, [sequence, own], y) {
    const {domains} = this, text = shown(this.sequences.names[sequence]);
    brush.fillStyle = ink.text;
    brush.fillText(text.length > 26 ? text.slice(0, 25) + "…" : text, EDGE, y, LABEL - EDGE - 8);
    brush.fillStyle = ink.faint;
    brush.fillRect(LABEL, y - 1, this.x(this.sequences.lengths[sequence], sequence) - LABEL, 2);
    for (const d of own) {
      const [a, b] = [domains.begin[d], domains.end[d]].map((at) => this.x(at, sequence));
      const [from, to] = [domains.from[d], domains.to[d]].map((at) => this.x(at, sequence));
      const width = Math.max(2, b - a);
      brush.fillStyle = modelColour(domains.model[d], this.isDark, true);
      brush.fillRect(from, y - 3, Math.max(1, to - from), 6);
      brush.fillStyle = ink.page;
      brush.fillRect(a, y - BOX / 2, width, BOX);
      brush.fillStyle = modelColour(domains.model[d], this.isDark, !domains.isIncluded[d]);
      brush.beginPath();
      brush.roundRect(a, y - BOX / 2, width, BOX, 4);
      brush.fill();
      if (d === this.chosen) brush.strokeStyle = ink.text, brush.lineWidth = 2, brush.stroke();
      const name = shown(domains.names[domains.model[d]]);
      if (width <= 24 || brush.measureText(name).width > width - 6) continue;
      brush.fillStyle = this.isDark || domains.isIncluded[d] ? "#ffffff" : ink.text;
      brush.fillText(name, a + 4, y + .5);
    }
  }
  drawScale(brush, ink) {
    const y = this.height - 10;
    brush.fillStyle = ink.page;
    brush.fillRect(0, y - 12, this.width, 24);
    brush.fillStyle = ink.quiet, brush.font = `11px ${ink.sans}`;
    for (let k = 0; k <= 4; k++) {
      brush.textAlign = k === 0 ? "left" : k === 4 ? "right" : "center";
      const at = Math.round(this.longest * k / 4);
      brush.fillText(`${at.toLocaleString("en")}${k === 4 ? " residues" : ""}`, this.x(at, 0), y);
    }
  }
  lineAt(py) {
    const at = this.first + Math.floor(py / LINE);
    return at < this.lines.length && at - this.first <= this.nSeen ? at : -1;
  }
  nameAt(py) {
    const line = this.lineAt(py);
    if (line < 0) return "";
    const [sequence] = this.lines[line], about = shown(this.sequences.descriptions[sequence]);
    return `${shown(this.sequences.names[sequence])}\n${counted(this.sequences.lengths[sequence], "residue")}${
      about && `\n${about}`}`;
  }
  /** The topmost domain at a point of the canvas; -1 for none. */
  domainAt(px, py) {
    const line = this.lineAt(py);
    if (line < 0) return -1;
    const [sequence, own] = this.lines[line], {begin, end} = this.domains;
    for (let k = own.length - 1; k >= 0; k--) {
      const a = this.x(begin[own[k]], sequence), b = Math.max(a + 2, this.x(end[own[k]], sequence));
      if (px >= a - 1 && px <= b + 1) return own[k];
    }
    return -1;
  }
  /** Marks a domain and brings its sequence into view. */
  choose(domain) {
    this.chosen = domain;
    const line = this.lines.findIndex(([, own]) => own.includes(domain));
    if (line >= 0) this.scrollTo(line);
    this.draw();
  }
  press(event) {
    const {lines, domains} = this, at = lines.findIndex(([, own]) => own.includes(this.chosen));
    const down = {ArrowDown: 1, ArrowUp: -1}[event.key], right = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!(down || right) || !lines.length) return;
    event.preventDefault();
    const line = at < 0 ? 0 : clamp(at + (down ?? 0), 0, lines.length - 1);
    const own = lines[line][1].slice().sort((a, b) => domains.begin[a] - domains.begin[b]);
    const found = right && at >= 0 ? own[clamp(own.indexOf(this.chosen) + right, 0, own.length - 1)] : own[0];
    if (found === undefined) return;
    this.onChoose(found);
    say(this.told(found).replaceAll("\n", ", "));
  }
}
