/* Number of domains that span each position of a model, and number of residues there. */
const INSERT = 46, DELETE = 45, COVERAGE_HEIGHT = 150;

/** Count domains and residues; `lineBegins`: offset of each domain's characters in the lines. */
function coverageOf(length, domains, arrays, lineBegins) {
  const over = new Uint32Array(length), residues = new Uint32Array(length);
  for (const d of domains) {
    let node = arrays.domain_model_begin[d];
    for (let at = lineBegins[d], end = at + arrays.line_sizes[d]; at < end; at++) {
      if (arrays.model_line[at] === INSERT) continue;
      over[node]++;
      if (arrays.target_line[at] !== DELETE) residues[node]++;
      node++;
    }
  }
  return {over, residues};
}

class Coverage extends Drawing {
  height = COVERAGE_HEIGHT;
  hit(x) {
    const n = this.spans?.length;
    return n ? clamp(Math.floor((x - 8) / (this.width - 16) * n), 0, n - 1) : -1;
  }
  told(k) {
    return `position ${k + 1}: ${counted(this.spans[k], "domain")}, ${counted(this.residues[k], "residue")}`;
  }
  show(model, {over: spans, residues}) {
    const name = shown(model);
    Object.assign(this, {model, spans, residues, most: spans.reduce((a, b) => Math.max(a, b), 0)});
    this.canvas.setAttribute(
      "aria-label",
      `Coverage of ${name}: ${counted(spans.length, "position")}, at most ${counted(this.most, "domain")}`);
    this.draw();
  }
  measure() {
    this.width = this.inside;
    return !!this.spans && this.width >= 60;
  }
  paint(brush, ink, isDark) {
    const {height} = this, floor = height - 20, n = this.spans.length, step = (this.width - 16) / Math.max(1, n);
    const shades = shadesOf(hueOfName(this.model), isDark);
    const area = (values, colour) => {
      brush.fillStyle = colour;
      brush.beginPath();
      brush.moveTo(8, floor);
      values.forEach((value, k) => {
        const y = floor - value / Math.max(1, this.most) * (floor - 18);
        brush.lineTo(8 + k * step, y), brush.lineTo(8 + (k + 1) * step, y);
      });
      brush.lineTo(8 + n * step, floor);
      brush.fill();
    };
    area(this.spans, shades.fill), area(this.residues, shades.edge);
    brush.fillStyle = ink.line;
    brush.fillRect(8, floor, this.width - 16, 1);
    brush.fillStyle = ink.quiet, brush.font = `11px ${ink.sans}`, brush.textAlign = "left";
    brush.fillText(
      `${fitted(brush, shown(this.model), this.width / 2)}: ${counted(this.most, "domain")} at most`, 8, 11);
    if (n) writeAxis(brush, 8, this.width - 16, height - 5, (share) => String(1 + Math.round((n - 1) * share)));
  }
}
