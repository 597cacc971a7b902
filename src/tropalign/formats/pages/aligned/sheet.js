/* The drawing: names, tracks and visible residues, on one canvas that stays while the frame scrolls behind it. All
 * lengths are device pixels.
 *
 *     0     treeWidth   pane                        width
 *     +---------+-------+---------------------------+ 0
 *     |   titles of the | tracks: ruler, logo, ...  |
 *     +---------+-------+---------------------------+ head
 *     |  tree   | names | cells                     |   column c starts at pane + c * cellWidth - scrolled x,
 *     +---------+-------+---------------------------+   line r at head + r * cellHeight - scrolled y
 *
 * A line is a row in the chosen order; order[line] is its row in the alignment.
 */
const SIZES =
  [[1, 1], [1, 2], [2, 3], [3, 4], [4, 6], [6, 9], [8, 13], [9, 15], [11, 18], [13, 21], [16, 25], [21, 32]];
const START = 8;
const LEAST_FOR_LETTERS = 8, LEAST_FOR_NAMES = 9;
/* Cell colours are palette indices, or this value. */
const NO_RESIDUE = 63;
/* Okabe and Ito 2008: colours that are distinct for colour-blind readers. */
const FEATURE_COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#8b5e3c"];
const MONO = "\"DejaVu Sans Mono\", Menlo, Consolas, \"Liberation Mono\", ui-monospace, monospace";

/** Characters on their colours, each drawn once and then copied. */
class Tiles {
  constructor(width, height, ink) {
    Object.assign(this, {width, height, ink, n: 0});
    this.placeOf = new Int32Array(256 * 64).fill(-1);
    this.canvas = new OffscreenCanvas(64 * width, 24 * height);
    this.brush = this.canvas.getContext("2d");
    this.brush.font = `${Math.round(height * .74)}px ${MONO}`;
    this.brush.textAlign = "center";
  }
  place(byte, colour) {
    const known = this.placeOf[byte << 6 | colour];
    return known >= 0 ? known : this.make(byte, colour);
  }
  make(byte, colour) {
    const place = this.n < 64 * 24 ? this.n++ : 64 * 24 - 1, [back, front] = this.ink(byte, colour);
    const x = place % 64 * this.width, y = Math.floor(place / 64) * this.height;
    this.brush.fillStyle = back;
    this.brush.fillRect(x, y, this.width, this.height);
    this.brush.fillStyle = front;
    this.brush.fillText(String.fromCharCode(byte), x + this.width / 2, y + this.height * .76);
    return (this.placeOf[byte << 6 | colour] = place);
  }
}

class Sheet {
  constructor(alignment, frame, canvas, extent, map) {
    Object.assign(this, {alignment, frame, canvas, extent, size: START, paneShare: null, isDark: false});
    this.brush = canvas.getContext("2d", {alpha: false});
    this.strip = new Strip(this, map);
    this.setOrder("input");
    this.setHits([]);
    this.selection = this.cursor = this.hover = null;
  }
  /** Set the search hits: [{row, begin, end}], with columns for motifs only. */
  setHits(hits) {
    this.hits = hits;
    this.hit = -1;
    this.hitsOf = Map.groupBy(hits, (hit) => hit.row);
  }

  /** Show another alignment: some rows and columns of the same one. */
  show(alignment) {
    this.alignment = alignment;
    this.setOrder(this.isTreeShown ? "tree" : "input");
    this.setHits([]);
    this.selection = this.cursor = this.hover = null;
    this.setScheme(this.schemeName);
    this.layout();
  }
  setOrder(name) {
    const rows = Int32Array.from({length: this.alignment.nRows}, (_, row) => row);
    this.isTreeShown = name === "tree" && this.alignment.tree !== null;
    this.order = this.isTreeShown ? this.alignment.tree.order : rows;
    this.rank = new Int32Array(rows.length);
    this.order.forEach((row, line) => {
      this.rank[row] = line;
    });
  }
  setScheme(name) {
    this.scheme = SCHEMES[name].make(this.alignment);
    this.schemeName = name;
    const {letters, slotOf, nRows, nColumns} = this.alignment;
    this.colours = new Uint8Array(letters.length);  // palette index of each cell
    for (let row = 0, cell = 0; row < nRows; row++)
      for (let column = 0; column < nColumns; column++, cell++) {
        const slot = slotOf[letters[cell]];
        this.colours[cell] = slot === GAP ? NO_RESIDUE : this.scheme.of(row, column, slot);
      }
  }

  /** Recompute sizes and colours, after any change except scrolling. */
  layout() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    this.ink = Object.fromEntries(
      ["page", "panel", "line", "text", "quiet", "faint", "accent", "hit", "bar"].map((n) => [n, colour(n)]));
    this.sans = colour("sans");
    this.dpr = window.devicePixelRatio || 1;
    const px = this.px = (n) => Math.max(1, Math.round(n * this.dpr));
    [this.cellWidth, this.cellHeight] = SIZES[this.size].map(px);
    this.hasLetters = SIZES[this.size][0] >= LEAST_FOR_LETTERS;
    this.width = Math.round(this.frame.clientWidth * this.dpr);
    this.height = Math.round(this.frame.clientHeight * this.dpr);
    this.nameFont = `${px(Math.min(13, Math.max(8, SIZES[this.size][1] * .72)))}px ${this.sans}`;
    this.trackFont = `${px(11)}px ${this.sans}`;
    this.treeWidth = this.isTreeShown ? px(110) : 0;
    this.pane = this.treeWidth + this.namesWidth();
    this.tracks = new Tracks(this);
    this.head = this.tracks.height + px(4);
    const {nRows, nColumns} = this.alignment;
    this.extent.style.width = `${(this.pane + nColumns * this.cellWidth + px(2)) / this.dpr}px`;
    this.extent.style.height = `${(this.head + nRows * this.cellHeight + px(2)) / this.dpr}px`;
    this.canvas.style.width = `${this.frame.clientWidth}px`;
    this.canvas.style.height = `${this.frame.clientHeight}px`;
    this.canvas.width = this.width;
    this.canvas.height = this.height;
    this.paint = this.scheme.palette.map((c) => c && this.shade(c));
    this.tiles = new Tiles(this.cellWidth, this.cellHeight, (byte, k) => this.tileInk(byte, k));
    this.letters = null;
    this.cutNames = new Map();
    this.strip.layout();
    this.draw();  // immediately: a resized canvas is black until it is drawn
  }

  /** Mute a colour on a dark page. */
  shade(colour) {
    return this.isDark ? mix(colour, rgb(this.ink.page), .74) : colour;
  }
  tileInk(byte, k) {
    if (k === NO_RESIDUE) return [this.ink.page, this.ink.faint];
    const back = this.paint[k];
    if (!back) return [this.ink.page, this.ink.text];
    return [css(back), .299 * back[0] + .587 * back[1] + .114 * back[2] > 128 ? "#0c0e12" : "#ffffff"];
  }
  namesWidth() {
    const most = this.width * .5;
    if (this.paneShare !== null) return Math.min(Math.max(this.px(30), this.paneShare * this.width), most);
    this.brush.font = this.nameFont;
    const width = this.longestName() + this.px(24);
    return Math.round(Math.min(Math.max(width, this.px(104)), this.width * .26));
  }
  /** Width of the longest name, among the 40 with most characters, since measuring is slow. */
  longestName() {
    const longest = this.alignment.names.map((name) => shown(name.slice(0, 60))).sort((a, b) => b.length - a.length);
    return longest.slice(0, 40).reduce((most, name) => Math.max(most, this.brush.measureText(name).width), 0);
  }
  get scrollX() {
    return Math.round(this.frame.scrollLeft * this.dpr);
  }
  get scrollY() {
    return Math.round(this.frame.scrollTop * this.dpr);
  }
  x(column) {
    return this.pane + column * this.cellWidth - this.scrollX;
  }
  y(line) {
    return this.head + line * this.cellHeight - this.scrollY;
  }
  /** Visible columns and lines: start and end of each. */
  view() {
    const {nRows, nColumns} = this.alignment, {scrollX, scrollY} = this;
    return {
      left: Math.floor(scrollX / this.cellWidth),
      top: Math.floor(scrollY / this.cellHeight),
      right: Math.min(nColumns, Math.ceil((scrollX + this.width - this.pane) / this.cellWidth)),
      bottom: Math.min(nRows, Math.ceil((scrollY + this.height - this.head) / this.cellHeight)),
    };
  }

  redraw() {
    if (!this.isWaiting)
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.draw();
      });
    this.isWaiting = true;
  }
  draw() {
    const {brush, ink, pane, head, width, height} = this, view = this.view();
    brush.fillStyle = ink.page;
    brush.fillRect(0, 0, width, height);
    this.clipped(pane, head, width, height, () => {
      if (this.hasLetters) this.drawTiles();
      else this.drawSmall(view);
      this.drawFeatures(view);
      this.drawMarks(view);
    });
    this.clipped(pane, 0, width, head, () => {
      this.tracks.draw(view.left, view.right);
      this.markColumns();
    });
    brush.fillStyle = ink.panel;
    brush.fillRect(0, 0, pane, height);
    this.clipped(0, head, pane, height, () => {
      this.drawNames(view);
      if (this.isTreeShown) this.drawTree(view);
    });
    this.tracks.drawTitles();
    brush.fillStyle = ink.line;
    brush.fillRect(pane - this.px(1), 0, this.px(1), height);
    brush.fillRect(0, head - this.px(1), width, this.px(1));
    this.strip.draw(view);
  }
  clipped(left, top, right, bottom, draw) {
    this.brush.save();
    this.brush.beginPath();
    this.brush.rect(left, top, right - left, bottom - top);
    this.brush.clip();
    draw();
    this.brush.restore();
  }

  /**
   * Draw the residues from a separate canvas that moves with the frame, so that only newly visible strips are drawn:
   *
   *      +---------+--+
   *      |  moved  |  |   moved right by dx and down by dy, the strips
   *      |         |  |   at the right and below are new
   *      +---------+--+
   *      +------------+
   */
  drawTiles() {
    const width = Math.max(this.width - this.pane, 1), height = Math.max(this.height - this.head, 1),
          {scrollX, scrollY} = this;
    this.letters ??= {canvas: new OffscreenCanvas(width, height), x: Infinity, y: Infinity};
    const brush = this.letters.canvas.getContext("2d", {alpha: false}), dx = scrollX - this.letters.x,
          dy = scrollY - this.letters.y;
    if (Math.abs(dx) < width && Math.abs(dy) < height) {
      if (dx || dy) brush.drawImage(this.letters.canvas, -dx, -dy);
      this.fillTiles(brush, dx > 0 ? width - dx : 0, 0, Math.abs(dx), height);
      this.fillTiles(brush, 0, dy > 0 ? height - dy : 0, width, Math.abs(dy));
    } else this.fillTiles(brush, 0, 0, width, height);
    Object.assign(this.letters, {x: scrollX, y: scrollY});
    this.brush.drawImage(this.letters.canvas, this.pane, this.head);
  }
  /** Draw all residues in a rectangle of their canvas. */
  fillTiles(brush, x, y, width, height) {
    const {tiles, cellWidth, cellHeight, colours, scrollX, scrollY} = this, {letters, nRows, nColumns} = this.alignment;
    const left = Math.floor((scrollX + x) / cellWidth),
          right = Math.min(nColumns, Math.ceil((scrollX + x + width) / cellWidth));
    const top = Math.floor((scrollY + y) / cellHeight),
          bottom = Math.min(nRows, Math.ceil((scrollY + y + height) / cellHeight));
    brush.fillStyle = this.ink.page;
    brush.fillRect(x, y, width, height);
    if (!width || !height) return;
    for (let line = top; line < bottom; line++) {
      const row = this.order[line] * nColumns, down = line * cellHeight - scrollY;
      for (let column = left; column < right; column++) {
        const place = tiles.place(letters[row + column], colours[row + column]);
        brush.drawImage(
          tiles.canvas, place % 64 * cellWidth, (place >> 6) * cellHeight, cellWidth, cellHeight,
          column * cellWidth - scrollX, down, cellWidth, cellHeight);
      }
    }
  }
  /** Draw cells too small for characters: a pixel each, enlarged. */
  drawSmall({left, right, top, bottom}) {
    const nColumns = right - left, nLines = bottom - top;
    if (nColumns <= 0 || nLines <= 0) return;
    const image = new ImageData(nColumns, nLines), pixels = new Uint32Array(image.data.buffer), hues = this.hues();
    for (let line = top, k = 0; line < bottom; line++) {
      const begin = this.order[line] * this.alignment.nColumns;
      for (let column = left; column < right; column++) pixels[k++] = hues[this.colours[begin + column]];
    }
    const small = new OffscreenCanvas(nColumns, nLines);
    small.getContext("2d").putImageData(image, 0, 0);
    this.brush.imageSmoothingEnabled = false;
    this.brush.drawImage(small, this.x(left), this.y(top), nColumns * this.cellWidth, nLines * this.cellHeight);
  }
  /** Pixel values by palette index. */
  hues() {
    const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0, page = rgb(this.ink.page);
    const hues = new Uint32Array(NO_RESIDUE + 1).fill(pixel(page));
    this.paint.forEach((colour, k) => {
      hues[k] = pixel(colour ?? mix(rgb(this.ink.text), page, .16));
    });
    return hues;
  }

  /** Draw features as bars below their residues, stacked if they overlap. */
  drawFeatures({top, bottom}) {
    const {brush, alignment, cellWidth, cellHeight, px} = this, tall = Math.min(px(3), cellHeight / 3);
    for (let line = top; line < bottom; line++)
      for (const {begin, end, kind, lane} of alignment.features.get(this.order[line]) ?? []) {
        brush.fillStyle = this.featureColour(alignment.kinds.indexOf(kind));
        const y = this.y(line + 1) - Math.min(lane + 1, 3) * tall;
        brush.fillRect(this.x(begin), y, (end - begin) * cellWidth, Math.max(tall - 1, 1));
      }
  }
  featureColour(k) {
    return FEATURE_COLOURS[k % FEATURE_COLOURS.length];
  }

  drawMarks({top, bottom}) {
    const {brush, ink, cellWidth, cellHeight} = this;
    const box =
      (line, begin, end) => [this.x(begin) + .5, this.y(line) + .5, (end - begin) * cellWidth - 1, cellHeight - 1];
    brush.lineWidth = this.px(1.5);
    brush.strokeStyle = ink.hit;
    for (let line = top; line < bottom; line++)
      for (const hit of this.hitsOf.get(this.order[line]) ?? []) {
        if (hit.end === undefined) continue;
        if (hit === this.hits[this.hit]) this.fillFaintly(ink.hit, .35, ...box(line, hit.begin, hit.end));
        brush.strokeRect(...box(line, hit.begin, hit.end));
      }
    if (this.hover?.line !== undefined && this.hasLetters) {
      this.fillFaintly(ink.text, .07, this.pane, this.y(this.hover.line), this.width, cellHeight);
    }
    if (this.selection) {
      const {top: a, bottom: b, left, right} = this.selection;
      const area = [this.x(left), this.y(a), (right - left) * cellWidth, (b - a) * cellHeight];
      this.fillFaintly(ink.accent, .16, ...area);
      brush.lineWidth = this.px(1.5);
      brush.strokeStyle = ink.accent;
      brush.strokeRect(...area);
    }
    if (this.cursor) {
      brush.lineWidth = this.px(2);
      brush.strokeStyle = ink.text;
      brush.strokeRect(...box(this.cursor.line, this.cursor.column, this.cursor.column + 1));
    }
  }
  markColumns() {
    const mark = (colour, alpha, from, to) =>
      this.fillFaintly(colour, alpha, this.x(from), 0, (to - from) * this.cellWidth, this.head);
    if (this.selection) mark(this.ink.accent, .14, this.selection.left, this.selection.right);
    if (this.hover?.column !== undefined) mark(this.ink.text, .1, this.hover.column, this.hover.column + 1);
  }
  fillFaintly(colour, alpha, ...box) {
    this.brush.fillStyle = colour;
    this.brush.globalAlpha = alpha;
    this.brush.fillRect(...box);
    this.brush.globalAlpha = 1;
  }

  drawNames({top, bottom}) {
    const {brush, ink, cellHeight, px} = this, left = this.treeWidth + px(10), right = this.pane - px(10);
    if (cellHeight < px(LEAST_FOR_NAMES)) return;
    brush.font = this.nameFont;
    brush.textBaseline = "middle";
    for (let line = top; line < bottom; line++) {
      const row = this.order[line], y = this.y(line);
      const isChosen = this.selection && line >= this.selection.top && line < this.selection.bottom;
      const hit = (this.hitsOf.get(row) ?? []).find((h) => h.end === undefined);
      if (isChosen || hit || this.hover?.line === line) {
        const alpha = hit ? (hit === this.hits[this.hit] ? .55 : .25) : isChosen ? .2 : .07;
        const colour = hit ? ink.hit : isChosen ? ink.accent : ink.text;
        this.fillFaintly(colour, alpha, this.treeWidth, y, this.pane - this.treeWidth, cellHeight);
      }
      brush.fillStyle = ink.text;
      brush.fillText(this.cutName(row, right - left), left, y + cellHeight / 2 + 1);
    }
    brush.textBaseline = "alphabetic";
  }
  cutName(row, width) {
    let cut = this.cutNames.get(row);
    if (cut === undefined) {
      const name = [...shown(this.alignment.names[row])];
      let n = name.length;
      if (this.brush.measureText(name.join("")).width > width) {
        let most = n;
        for (n = 0; n < most - 1;) {
          const middle = (n + most) >> 1;
          if (this.brush.measureText(name.slice(0, middle).join("") + "…").width > width) most = middle;
          else n = middle;
        }
      }
      cut = n < name.length ? name.slice(0, n).join("") + "…" : name.join("");
      this.cutNames.set(row, cut);
    }
    return cut;
  }
  drawTree({top, bottom}) {
    const {brush, px} = this,
                  {parent, depth, y, top: first, bottom: last, isInner, leaves, deepest} = this.alignment.tree;
    const x = (k) => px(8) + (deepest ? depth[k] / deepest : 0) * (this.treeWidth - px(16));
    const at = (line) => this.y(line) + this.cellHeight / 2;
    const stroke = (x1, y1, x2, y2) => {
      brush.moveTo(x1, y1);
      brush.lineTo(x2, y2);
    };
    brush.strokeStyle = this.ink.quiet;
    brush.lineWidth = px(1);
    brush.beginPath();
    for (let k = 0; k < parent.length; k++) {
      if (isInner[k] && last[k] >= top - 1 && first[k] <= bottom) stroke(x(k), at(first[k]), x(k), at(last[k]));
      if (k && y[k] >= top - 1 && y[k] <= bottom) stroke(x(parent[k]), at(y[k]), x(k), at(y[k]));
    }
    brush.stroke();
    brush.strokeStyle = this.ink.line;
    brush.beginPath();
    for (let line = top; line < bottom; line++) {
      stroke(x(leaves[line]) + px(2), at(line), this.treeWidth, at(line));
    }
    brush.stroke();
  }
}
