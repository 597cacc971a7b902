/* Sequences as lines and their domains as boxes; only visible lines are drawn. */
const LINE = 24, LABEL = 190, EDGE = 14, BOX = 14, TALLEST = 8_000_000;
/** Most sequences in a picture, so that it fits a PNG, and most models in a legend. */
const MOST_LINES = 600, MOST_MODELS = 24;

class Architecture extends Drawing {
  lines = [];
  /**
   * `room`: the element that makes the host scroll; `toldDomain(domain)`: its description; `onChoose(domain)`: it was
   * chosen.
   */
  constructor(canvas, parts) {
    super(canvas, parts);
    this.host.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), {passive: true});
  }
  /** Show lines [sequence, its domains from the worst to the best]. */
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
  /** First visible line; with more lines than a browser can scroll, from the relative scroll position. */
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
  /** Width of names in pixels. */
  get label() {
    return Math.min(LABEL, this.width * .4);
  }
  x(position, sequence) {
    const length = this.isOwn ? this.sequences.lengths[sequence] : this.longest;
    return this.label + position / Math.max(1, length) * (this.width - this.label - EDGE);
  }
  measure() {
    this.width = this.host.clientWidth;
    return this.width >= 160;
  }
  paint(brush, ink, isDark) {
    const {first} = this;
    brush.font = `12px ${ink.sans}`, brush.textBaseline = "middle";
    if (!this.lines.length) {
      brush.fillStyle = ink.quiet;
      brush.fillText("No hit passes the filters.", EDGE, LINE);
    }
    for (let k = first; k < Math.min(this.lines.length, first + this.nSeen + 1); k++)
      this.drawLine(brush, ink, isDark, this.lines[k], (k - first + .5) * LINE);
    if (!this.isOwn && this.lines.length) this.drawScale(brush, ink, this.height - 10);
  }
  /** Save the lines that pass the filters, as many as fit, in print colours, with a legend of their models. */
  save(kind) {
    const {width, chosen} = this, lines = this.lines.slice(0, MOST_LINES), top = lines.length * LINE;
    const models = [...new Set(lines.flatMap(([, own]) => own.map((d) => this.domains.model[d])))];
    const floor = top + (this.isOwn ? 6 : LINE), legend = this.legend(models, width);
    const height = floor + legend.length * 18 + 8;
    this.chosen = -1;
    try {
      savePicture(kind, "architecture", width, height, ON_PAPER.page, (brush) => {
        brush.font = "12px sans-serif", brush.textBaseline = "middle";
        lines.forEach((line, k) => this.drawLine(brush, ON_PAPER, false, line, (k + .5) * LINE));
        if (!this.isOwn && lines.length) this.drawScale(brush, ON_PAPER, top + 12);
        brush.font = "12px sans-serif";
        legend.forEach((row, k) => drawLegendRow(brush, ON_PAPER, row, floor + k * 18 + 9, ({colours}) => colours));
      });
    } finally {
      this.chosen = chosen;
    }
    const left = this.lines.length - lines.length;
    say(`${counted(lines.length, "sequence")} saved${
      left ? `; ${left.toLocaleString("en")} more do not fit in a picture` : ""}`);
  }
  /** Rows of a legend; if there are too many models, the last item says how many. */
  legend(models, width) {
    const items = models.slice(0, MOST_MODELS).map((model) => {
      const name = this.domains.names[model], {fill, edge} = shadesOf(hueOfName(name), false);
      return {text: shown(name), colours: [edge, fill]};
    });
    if (models.length > MOST_MODELS) items.push({text: `and ${counted(models.length - MOST_MODELS, "more model")}`});
    return legendRows(items, "12px sans-serif", {left: EDGE, right: width, most: width - 2 * EDGE - 40});
  }
  drawLine(brush, ink, isDark, [sequence, own], y) {
    const {domains, label} = this;
    brush.fillStyle = ink.text, brush.textAlign = "left";
    brush.fillText(fitted(brush, shown(this.sequences.names[sequence]), label - EDGE - 8), EDGE, y);
    brush.fillStyle = ink.faint;
    brush.fillRect(label, y - 1, this.x(this.sequences.lengths[sequence], sequence) - label, 2);
    for (const d of own) {
      const [a, b] = [domains.begin[d], domains.end[d]].map((at) => this.x(at, sequence));
      const [from, to] = [domains.from[d], domains.to[d]].map((at) => this.x(at, sequence));
      const width = Math.max(2, b - a), name = domains.names[domains.model[d]];
      const {fill, pale, edge} = shadesOf(hueOfName(name), isDark);
      brush.fillStyle = pale;
      brush.fillRect(from, y - 3, Math.max(1, to - from), 6);
      brush.fillStyle = domains.isIncluded[d] ? fill : pale;
      brush.beginPath();
      brush.roundRect(a, y - BOX / 2, width, BOX, 4);
      brush.fill();
      brush.strokeStyle = d === this.chosen ? ink.text : edge, brush.lineWidth = d === this.chosen ? 2 : 1;
      brush.stroke();
      const text = shown(name);
      if (width <= 24 || brush.measureText(text).width > width - 6) continue;
      brush.fillStyle = ink.text;
      brush.fillText(text, a + 4, y + .5);
    }
  }
  drawScale(brush, ink, y) {
    brush.fillStyle = ink.page;
    brush.fillRect(0, y - 12, this.width, 24);
    brush.fillStyle = ink.quiet, brush.font = `11px ${ink.sans}`;
    const step = this.width - this.label < 250 ? 4 :
      this.width - this.label < 420            ? 2 :
                                                 1;  // otherwise numbers would overlap
    const label = (share) =>
      `${Math.round(this.longest * share).toLocaleString("en")}${share === 1 ? " residues" : ""}`;
    writeAxis(brush, this.label, this.width - this.label - EDGE, y, label, step);
  }
  lineAt(py) {
    const at = this.first + Math.floor(py / LINE);
    return at < this.lines.length && at - this.first <= this.nSeen ? at : -1;
  }
  /** Description of a domain, or of the sequence of a line. */
  told({domain, line}) {
    if (domain >= 0) return this.toldDomain(domain);
    const {names, lengths, descriptions} = this.sequences, [sequence] = this.lines[line];
    const about = shown(descriptions[sequence]);
    return `${shown(names[sequence])}\n${counted(lengths[sequence], "residue")}${about && `\n${about}`}`;
  }
  hit(px, py) {
    const line = this.lineAt(py);
    return line < 0 ? null : {line, domain: this.domainAt(px, py)};
  }
  /** Topmost domain at a point of the canvas; -1 if there is no domain. */
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
  click({domain}) {
    if (domain >= 0) this.onChoose(domain);
  }
  /** Mark a domain and scroll to its sequence. */
  choose(domain) {
    this.chosen = domain;
    const line = this.lines.findIndex(([, own]) => own.includes(domain));
    if (line >= 0) this.scrollTo(line);
    this.draw();
  }
  press({key}) {
    const {lines, domains} = this, at = lines.findIndex(([, own]) => own.includes(this.chosen));
    const down = {ArrowDown: 1, ArrowUp: -1}[key], right = {ArrowRight: 1, ArrowLeft: -1}[key];
    if (!(down || right) || !lines.length) return false;
    const line = at < 0 ? 0 : clamp(at + (down ?? 0), 0, lines.length - 1);
    const own = lines[line][1].slice().sort((a, b) => domains.begin[a] - domains.begin[b]);
    const found = right && at >= 0 ? own[clamp(own.indexOf(this.chosen) + right, 0, own.length - 1)] : own[0];
    if (found !== undefined) this.onChoose(found), say(this.toldDomain(found).replaceAll("\n", ", "));
    return true;
  }
}
