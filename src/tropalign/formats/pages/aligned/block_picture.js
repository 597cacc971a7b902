/* Picture of the selection, or of everything: names, residues on their colours, column numbers. */
const MOST_DRAWN = 100_000;
const DRAWN = {
  width: 11,
  height: 16,
  ruler: 18,
  edge: 8,
  mostName: 260,
  ink: "#14171c",
  quiet: "#667085"
};

class BlockPicture {
  constructor(sheet, {top, bottom, left, right}) {
    Object.assign(this, {sheet, left, right, rows: [...sheet.order.subarray(top, bottom)]});
    const ruler = new OffscreenCanvas(1, 1).getContext("2d");
    ruler.font = "12px sans-serif";
    this.names = this.rows.map((row) => [...shown(sheet.alignment.names[row])].slice(0, 40).join(""));
    const widest = this.names.reduce((most, name) => Math.max(most, ruler.measureText(name).width), 0);
    this.pane = 2 * DRAWN.edge + Math.min(Math.ceil(widest * 1.05), DRAWN.mostName);
    this.width = this.pane + (right - left) * DRAWN.width + DRAWN.edge;
    this.height = 2 * DRAWN.edge + DRAWN.ruler + this.rows.length * DRAWN.height;
  }

  paint(brush) {
    const {columnOf} = this.sheet.alignment;
    brush.font = "10px sans-serif";
    brush.textAlign = "center";
    brush.fillStyle = DRAWN.quiet;
    for (let column = this.left; column < this.right; column++) {
      const number = columnOf[column] + 1;
      if (column === this.left || number % 10 === 0)
        brush.fillText(String(number), this.x(column + .5), DRAWN.edge + 10);
    }
    this.rows.forEach((row, line) => this.paintRow(brush, row, line));
  }
  paintRow(brush, row, line) {
    const {alignment} = this.sheet, y = DRAWN.edge + DRAWN.ruler + line * DRAWN.height;
    brush.font = "12px sans-serif";
    brush.textAlign = "left";
    brush.fillStyle = DRAWN.ink;
    brush.fillText(this.names[line], DRAWN.edge, y + 12);
    for (const [begin, end, colour] of colourRuns(this.sheet, row, this.left, this.right)) {
      if (!colour) continue;
      brush.fillStyle = colour;
      brush.fillRect(this.x(begin), y, (end - begin) * DRAWN.width, DRAWN.height);
    }
    brush.textAlign = "center";
    brush.fillStyle = DRAWN.ink;
    for (let column = this.left; column < this.right; column++)
      brush.fillText(alignment.letter(row, column), this.x(column + .5), y + 12);
  }
  x(column) {
    return this.pane + (column - this.left) * DRAWN.width;
  }
}
