/* Overview strip of the full alignment, with the visible part and the search hits. */
class Strip {
  constructor(sheet, canvas) {
    Object.assign(this, {sheet, canvas});
    this.brush = canvas.getContext("2d");
  }

  /** Redraw all cells after a change of sizes, colours or order: a pixel is the mean of the cells under it. */
  layout() {
    const {sheet, canvas} = this, {nRows, nColumns} = sheet.alignment, hues = sheet.hues();
    const height = Math.min(Math.max(nRows * 2, 24), 84);
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(canvas.clientWidth * sheet.dpr);
    canvas.height = Math.round(height * sheet.dpr);
    const wide = Math.min(nColumns, canvas.width), tall = Math.min(nRows, canvas.height);
    const sums = new Uint32Array(wide * tall * 4);  // red, green, blue, number of cells
    for (let line = 0; line < nRows; line++) {
      const row = sheet.order[line] * nColumns, base = Math.floor(line * tall / nRows) * wide;
      for (let column = 0; column < nColumns; column++) {
        const hue = hues[sheet.colours[row + column]], k = 4 * (base + Math.floor(column * wide / nColumns));
        sums[k] += hue & 255;
        sums[k + 1] += hue >> 8 & 255;
        sums[k + 2] += hue >> 16 & 255;
        sums[k + 3]++;
      }
    }
    const image = new ImageData(Math.max(wide, 1), Math.max(tall, 1));
    for (let k = 0; k < sums.length; k += 4) {
      for (let c = 0; c < 3; c++) image.data[k + c] = sums[k + c] / sums[k + 3];
      image.data[k + 3] = 255;
    }
    this.image = new OffscreenCanvas(image.width, image.height);
    this.image.getContext("2d").putImageData(image, 0, 0);
    this.mark();
  }
  /** Pixels per column and per row. */
  get scale() {
    return [this.canvas.width / this.sheet.alignment.nColumns, this.canvas.height / this.sheet.alignment.nRows];
  }

  /** Draw the search hits on a separate canvas, since there may be thousands. */
  mark() {
    const {sheet, canvas} = this, [x, y] = this.scale;
    this.hits = new OffscreenCanvas(Math.max(canvas.width, 1), Math.max(canvas.height, 1));
    const brush = this.hits.getContext("2d");
    brush.fillStyle = sheet.ink.hit;
    for (const {row, begin = 0, end = sheet.alignment.nColumns} of sheet.hits) {
      const width = Math.max((end - begin) * x, sheet.px(2)), height = Math.max(y, sheet.px(1));
      brush.fillRect(begin * x, sheet.rank[row] * y, width, height);
    }
  }

  draw({left, right, top, bottom}) {
    const {brush, canvas} = this, {ink, px} = this.sheet, [x, y] = this.scale;
    const wide = Math.max((right - left) * x, px(3)), tall = Math.max((bottom - top) * y, px(3));
    brush.imageSmoothingEnabled = false;
    brush.drawImage(this.image, 0, 0, canvas.width, canvas.height);
    brush.fillStyle = ink.page;
    brush.globalAlpha = .35;
    brush.beginPath();
    brush.rect(0, 0, canvas.width, canvas.height);
    brush.rect(left * x, top * y, wide, tall);
    brush.fill("evenodd");
    brush.globalAlpha = 1;
    brush.drawImage(this.hits, 0, 0);
    brush.strokeStyle = ink.accent;
    brush.lineWidth = px(2);
    brush.strokeRect(left * x + px(1), top * y + px(1), Math.max(wide - px(2), 1), Math.max(tall - px(2), 1));
  }
}
