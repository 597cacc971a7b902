/* Number of domains that span each position of a model, and number of residues there. */
const INSERT = 46, DELETE = 45, COVERAGE_HEIGHT = 150;

/** Count both per position; `lineBegins` is the offset of each domain's characters in the lines. */
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

class Coverage {
  constructor(canvas) {
    this.canvas = canvas;
    canvas.addEventListener("pointermove", (event) => {
      if (!this.over?.length) return;
      const k = clamp(Math.floor((event.offsetX - 8) / (this.width - 16) * this.over.length), 0, this.over.length - 1);
      tip(`position ${k + 1}: ${counted(this.over[k], "domain")}, ${counted(this.residues[k], "residue")}`, event);
    });
    canvas.addEventListener("pointerleave", () => tip(""));
  }
  show(model, {over, residues}) {
    const name = shown(model);
    Object.assign(this, {model, over, residues});
    this.most = over.reduce((a, b) => Math.max(a, b), 0);
    this.canvas.setAttribute(
      "aria-label",
      `Coverage of ${name}: ${counted(over.length, "position")}, at most ${counted(this.most, "domain")}`);
    this.draw();
  }
  setTheme(isDark) {
    this.isDark = isDark;
    this.draw();
  }
  draw() {
    this.width = this.canvas.parentElement.clientWidth - 24;
    if (!this.over || this.width < 60) return;
    this.paint(brushOf(this.canvas, this.width, COVERAGE_HEIGHT), inks(), this.isDark);
  }
  save(kind) {
    if (!this.over) return;
    savePicture(
      kind, "coverage", this.width, COVERAGE_HEIGHT, ON_PAPER.page, (brush) => this.paint(brush, ON_PAPER, false));
  }
  paint(brush, ink, isDark) {
    const height = COVERAGE_HEIGHT, floor = height - 20, n = this.over.length,
          step = (this.width - 16) / Math.max(1, n);
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
    area(this.over, shades.fill), area(this.residues, shades.edge);
    brush.fillStyle = ink.line;
    brush.fillRect(8, floor, this.width - 16, 1);
    brush.fillStyle = ink.quiet, brush.font = `11px ${ink.sans ?? "sans-serif"}`, brush.textAlign = "left";
    brush.fillText(
      `${fitted(brush, shown(this.model), this.width / 2)}: ${counted(this.most, "domain")} at most`, 8, 11);
    for (let k = 0; k <= 4 && n; k++) {
      brush.textAlign = k === 0 ? "left" : k === 4 ? "right" : "center";
      brush.fillText(String(1 + Math.round((n - 1) * k / 4)), 8 + (this.width - 16) * k / 4, height - 5);
    }
  }
}
