/* The drawing: names, tracks and the letters that are in view, on one canvas that stays while the frame scrolls behind it.
   All lengths here are pixels of the device.

       0     treeWidth   pane                        width
       +---------+-------+---------------------------+ 0
       |   titles of the | tracks: ruler, logo, ...  |
       +---------+-------+---------------------------+ head
       |  tree   | names | cells                     |   column c begins at pane + c * cellWidth - scrolled x,
       +---------+-------+---------------------------+   line r at head + r * cellHeight - scrolled y

   A line is a row as it is shown, in the chosen order; order[line] is its row in the alignment. */
const SIZES = [[1, 1], [1, 2], [2, 3], [3, 4], [4, 6], [6, 9], [8, 13], [9, 15], [11, 18], [13, 21], [16, 25], [21, 32]];
const START = 8;
const LEAST_FOR_LETTERS = 8, LEAST_FOR_NAMES = 9;
/* Colours of cells are numbers of the palette, or this. */
const NO_RESIDUE = 63;
const MONO = '"DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", ui-monospace, monospace';

/** Letters on their colours, drawn once each and copied from then on. */
class Tiles {
  constructor(width, height, ink) {
    Object.assign(this, { width, height, ink, n: 0 });
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
    Object.assign(this, { alignment, frame, canvas, extent, map, size: START, paneShare: null, isDark: false });
    this.brush = canvas.getContext("2d", { alpha: false });
    this.setOrder("input");
    this.hits = []; this.hit = -1; this.hitsOf = new Map();
    this.selection = this.cursor = this.hover = null;
    this.frames = 0;
  }

  setOrder(name) {
    const rows = Int32Array.from({ length: this.alignment.nRows }, (_, row) => row);
    this.isTreeShown = name === "tree" && this.alignment.tree !== null;
    this.order = this.isTreeShown ? this.alignment.tree.order : rows;
    this.rank = new Int32Array(rows.length);
    this.order.forEach((row, line) => { this.rank[row] = line; });
  }
  setScheme(name) {
    this.scheme = SCHEMES[name].make(this.alignment);
    this.schemeName = name;
    const { letters, slotOf, nRows, nColumns } = this.alignment;
    this.colours = new Uint8Array(letters.length);  // of each cell the number of its colour
    for (let row = 0, cell = 0; row < nRows; row++)
      for (let column = 0; column < nColumns; column++, cell++) {
        const slot = slotOf[letters[cell]];
        this.colours[cell] = slot === GAP ? NO_RESIDUE : this.scheme.of(row, column, slot);
      }
  }

  /** Sizes and colours anew, after anything but scrolling. */
  layout() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--" + name).trim();
    this.ink = Object.fromEntries(["page", "panel", "line", "text", "quiet", "faint", "accent", "hit", "bar"].map((n) => [n, colour(n)]));
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
    this.tracks = this.trackList();
    this.head = this.tracks.reduce((y, track) => (track.top = y, y + track.height), 0) + px(4);
    const { nRows, nColumns } = this.alignment;
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
    this.drawMap();
    this.draw();  // at once: a canvas of another size is black until it is drawn
  }

  /** Colours are toned down on a dark page. */
  shade(colour) { return this.isDark ? mix(colour, rgb(this.ink.page), .74) : colour; }
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
  /** Width of the longest name: among the 40 with the most letters, since measuring takes long. */
  longestName() {
    const longest = this.alignment.names.map((name) => shown(name.slice(0, 60))).sort((a, b) => b.length - a.length);
    return longest.slice(0, 40).reduce((most, name) => Math.max(most, this.brush.measureText(name).width), 0);
  }
  trackList() {
    const { px, alignment } = this;
    const bars = (values, colour) => (track, from, to) => this.drawBars(track, from, to, values, colour);
    const tracks = [{ title: "", height: px(24), draw: (t, a, b) => this.drawRuler(t, a, b) },
      { title: "Logo (bits)", height: px(60), draw: (t, a, b) => this.drawLogo(t, a, b) }];
    if (this.hasLetters) tracks.push({ title: "Consensus", height: this.cellHeight + px(4), draw: (t, a, b) => this.drawConsensus(t, a, b) });
    tracks.push({ title: "Conservation", height: px(26), draw: bars(alignment.conservation, () => this.ink.bar) });
    if (alignment.columnConfidence) {
      const hue = (value) => css(this.shade(along(UNSURE_TO_SURE, value)));
      tracks.push({ title: "Confidence", height: px(26), draw: bars(alignment.columnConfidence, hue) });
    }
    tracks.push({ title: "Residues", height: px(18), draw: bars(alignment.occupancy, () => this.ink.faint) });
    return tracks;
  }

  get scrollX() { return Math.round(this.frame.scrollLeft * this.dpr); }
  get scrollY() { return Math.round(this.frame.scrollTop * this.dpr); }
  x(column) { return this.pane + column * this.cellWidth - this.scrollX; }
  y(line) { return this.head + line * this.cellHeight - this.scrollY; }
  /** Columns and lines in view: begin and end of each. */
  view() {
    const { nRows, nColumns } = this.alignment, { scrollX, scrollY } = this;
    return {
      left: Math.floor(scrollX / this.cellWidth), top: Math.floor(scrollY / this.cellHeight),
      right: Math.min(nColumns, Math.ceil((scrollX + this.width - this.pane) / this.cellWidth)),
      bottom: Math.min(nRows, Math.ceil((scrollY + this.height - this.head) / this.cellHeight)),
    };
  }

  redraw() {
    if (!this.isWaiting) requestAnimationFrame(() => { this.isWaiting = false; this.draw(); });
    this.isWaiting = true;
  }
  draw() {
    const { brush, ink, pane, head, width, height } = this, view = this.view();
    this.frames++;
    brush.fillStyle = ink.page;
    brush.fillRect(0, 0, width, height);
    this.clipped(pane, head, width, height, () => {
      if (this.hasLetters) this.drawTiles(); else this.drawSmall(view);
      this.drawMarks(view);
    });
    this.clipped(pane, 0, width, head, () => {
      for (const track of this.tracks) track.draw(track, view.left, view.right);
      this.markColumns();
    });
    brush.fillStyle = ink.panel;
    brush.fillRect(0, 0, pane, height);
    this.clipped(0, head, pane, height, () => { this.drawNames(view); if (this.isTreeShown) this.drawTree(view); });
    this.drawTitles();
    brush.fillStyle = ink.line;
    brush.fillRect(pane - this.px(1), 0, this.px(1), height);
    brush.fillRect(0, head - this.px(1), width, this.px(1));
    this.drawMapView(view);
  }
  clipped(left, top, right, bottom, draw) {
    this.brush.save();
    this.brush.beginPath();
    this.brush.rect(left, top, right - left, bottom - top);
    this.brush.clip();
    draw();
    this.brush.restore();
  }

  /** The letters, from a sheet of their own that moves as the frame scrolls, so that only what comes into view is drawn:

          +---------+--+
          |  moved  |  |   moved right by dx and down by dy, the strips
          |         |  |   at the right and below are new
          +---------+--+
          +------------+ */
  drawTiles() {
    const width = Math.max(this.width - this.pane, 1), height = Math.max(this.height - this.head, 1), { scrollX, scrollY } = this;
    this.letters ??= { canvas: new OffscreenCanvas(width, height), x: Infinity, y: Infinity };
    const brush = this.letters.canvas.getContext("2d", { alpha: false }), dx = scrollX - this.letters.x, dy = scrollY - this.letters.y;
    if (Math.abs(dx) < width && Math.abs(dy) < height) {
      if (dx || dy) brush.drawImage(this.letters.canvas, -dx, -dy);
      this.fillTiles(brush, dx > 0 ? width - dx : 0, 0, Math.abs(dx), height);
      this.fillTiles(brush, 0, dy > 0 ? height - dy : 0, width, Math.abs(dy));
    } else this.fillTiles(brush, 0, 0, width, height);
    Object.assign(this.letters, { x: scrollX, y: scrollY });
    this.brush.drawImage(this.letters.canvas, this.pane, this.head);
  }
  /** All letters that a rectangle of their sheet shows. */
  fillTiles(brush, x, y, width, height) {
    const { tiles, cellWidth, cellHeight, colours, scrollX, scrollY } = this, { letters, nRows, nColumns } = this.alignment;
    const left = Math.floor((scrollX + x) / cellWidth), right = Math.min(nColumns, Math.ceil((scrollX + x + width) / cellWidth));
    const top = Math.floor((scrollY + y) / cellHeight), bottom = Math.min(nRows, Math.ceil((scrollY + y + height) / cellHeight));
    brush.fillStyle = this.ink.page;
    brush.fillRect(x, y, width, height);
    if (!width || !height) return;
    for (let line = top; line < bottom; line++) {
      const row = this.order[line] * nColumns, down = line * cellHeight - scrollY;
      for (let column = left; column < right; column++) {
        const place = tiles.place(letters[row + column], colours[row + column]);
        brush.drawImage(tiles.canvas, place % 64 * cellWidth, (place >> 6) * cellHeight, cellWidth, cellHeight,
          column * cellWidth - scrollX, down, cellWidth, cellHeight);
      }
    }
  }
  /** Cells too small for letters: a pixel each, enlarged. */
  drawSmall({ left, right, top, bottom }) {
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
  /** Colours as pixels, by number. */
  hues() {
    const pixel = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0, page = rgb(this.ink.page);
    const hues = new Uint32Array(NO_RESIDUE + 1).fill(pixel(page));
    this.paint.forEach((colour, k) => { hues[k] = pixel(colour ?? mix(rgb(this.ink.text), page, .16)); });
    return hues;
  }

  drawMarks({ top, bottom }) {
    const { brush, ink, cellWidth, cellHeight } = this;
    const box = (line, begin, end) => [this.x(begin) + .5, this.y(line) + .5, (end - begin) * cellWidth - 1, cellHeight - 1];
    brush.lineWidth = this.px(1.5);
    brush.strokeStyle = ink.hit;
    for (let line = top; line < bottom; line++)
      for (const hit of this.hitsOf.get(this.order[line]) ?? []) {
        if (hit.end === undefined) continue;
        if (hit === this.hits[this.hit]) brush.fillStyle = ink.hit, brush.globalAlpha = .35, brush.fillRect(...box(line, hit.begin, hit.end)), brush.globalAlpha = 1;
        brush.strokeRect(...box(line, hit.begin, hit.end));
      }
    if (this.hover?.line !== undefined && this.hasLetters) {
      brush.fillStyle = ink.text;
      brush.globalAlpha = .07;
      brush.fillRect(this.pane, this.y(this.hover.line), this.width, cellHeight);
      brush.globalAlpha = 1;
    }
    if (this.selection) {
      const { top: a, bottom: b, left, right } = this.selection;
      const area = [this.x(left), this.y(a), (right - left) * cellWidth, (b - a) * cellHeight];
      brush.fillStyle = ink.accent;
      brush.globalAlpha = .16;
      brush.fillRect(...area);
      brush.globalAlpha = 1;
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
    const { brush, ink, cellWidth } = this;
    const mark = (from, to, colour, alpha) => {
      brush.fillStyle = colour;
      brush.globalAlpha = alpha;
      brush.fillRect(this.x(from), 0, (to - from) * cellWidth, this.head);
      brush.globalAlpha = 1;
    };
    if (this.selection) mark(this.selection.left, this.selection.right, ink.accent, .14);
    if (this.hover?.column !== undefined) mark(this.hover.column, this.hover.column + 1, ink.text, .1);
  }

  drawNames({ top, bottom }) {
    const { brush, ink, cellHeight, px } = this, left = this.treeWidth + px(10), right = this.pane - px(10);
    if (cellHeight < px(LEAST_FOR_NAMES)) return;
    brush.font = this.nameFont;
    brush.textBaseline = "middle";
    for (let line = top; line < bottom; line++) {
      const row = this.order[line], y = this.y(line);
      const isChosen = this.selection && line >= this.selection.top && line < this.selection.bottom;
      const hit = (this.hitsOf.get(row) ?? []).find((h) => h.end === undefined);
      if (isChosen || hit || this.hover?.line === line) {
        brush.fillStyle = hit ? ink.hit : isChosen ? ink.accent : ink.text;
        brush.globalAlpha = hit ? (hit === this.hits[this.hit] ? .55 : .25) : isChosen ? .2 : .07;
        brush.fillRect(this.treeWidth, y, this.pane - this.treeWidth, cellHeight);
        brush.globalAlpha = 1;
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
          if (this.brush.measureText(name.slice(0, middle).join("") + "…").width > width) most = middle; else n = middle;
        }
      }
      cut = n < name.length ? name.slice(0, n).join("") + "…" : name.join("");
      this.cutNames.set(row, cut);
    }
    return cut;
  }
  drawTree({ top, bottom }) {
    const { brush, px } = this, { parent, depth, y, top: first, bottom: last, isInner, deepest } = this.alignment.tree;
    const x = (k) => px(8) + (deepest ? depth[k] / deepest : 0) * (this.treeWidth - px(16));
    const at = (line) => this.y(line) + this.cellHeight / 2;
    brush.strokeStyle = this.ink.quiet;
    brush.lineWidth = px(1);
    brush.beginPath();
    for (let k = 0; k < parent.length; k++) {
      if (isInner[k] && last[k] >= top - 1 && first[k] <= bottom) brush.moveTo(x(k), at(first[k])), brush.lineTo(x(k), at(last[k]));
      if (k && y[k] >= top - 1 && y[k] <= bottom) brush.moveTo(x(parent[k]), at(y[k])), brush.lineTo(x(k), at(y[k]));
    }
    brush.stroke();
    brush.strokeStyle = this.ink.line;
    brush.beginPath();
    for (let line = top; line < bottom; line++) {
      const end = x(this.leaf(line));
      brush.moveTo(end + px(2), at(line)), brush.lineTo(this.treeWidth, at(line));
    }
    brush.stroke();
  }
  leaf(line) {
    this.leaves ??= this.alignment.tree.parent.map((_, k) => k).filter((k) => !this.alignment.tree.isInner[k]);
    return this.leaves[line];
  }
  drawTitles() {
    const { brush, ink, px } = this;
    brush.font = this.trackFont;
    brush.textAlign = "right";
    brush.textBaseline = "middle";
    brush.fillStyle = ink.quiet;
    for (const track of this.tracks) brush.fillText(track.title, this.pane - px(10), track.top + track.height / 2 + 1);
    brush.textAlign = "left";
    brush.textBaseline = "alphabetic";
  }

  drawRuler(track, from, to) {
    const { brush, ink, px, cellWidth } = this, bottom = track.height;
    const step = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((n) => n * cellWidth >= px(56)) ?? 20000;
    const minor = step === 10 ? 5 : step / 10;
    brush.font = this.trackFont;
    brush.textAlign = "center";
    for (let number = Math.ceil((from + 1) / minor) * minor; number <= to + step; number += minor) {
      const x = Math.round(this.x(number - .5)), isMajor = number % step === 0;
      brush.fillStyle = isMajor ? ink.quiet : ink.line;
      brush.fillRect(x, bottom - px(isMajor ? 6 : 4), px(1), px(isMajor ? 6 : 4));
      if (isMajor) brush.fillText(number.toLocaleString("en"), x, bottom - px(9));
    }
    brush.textAlign = "left";
  }
  drawLogo(track, from, to) {
    const { alignment, brush, cellWidth, px } = this, floor = track.top + track.height - px(2);
    const unit = (track.height - px(8)) / Math.log2(RESIDUES[alignment.kind].length);
    this.glyphs ??= glyphsOf(RESIDUES[alignment.kind]);
    this.logoInk ??= logoColours(alignment.kind);
    brush.font = GLYPH_FONT;
    const inks = this.logoInk.map((hue) => css(this.isDark ? mix(hue, [255, 255, 255], .72) : hue));
    for (let column = from; column < to; column++) {
      const tall = alignment.information[column] * unit, stack = [];
      if (tall < 1) continue;
      for (const glyph of this.glyphs) {
        const height = alignment.counts[column * SLOTS + glyph.slot] / alignment.plain[column] * tall;
        if (height) stack.push([height, glyph]);
      }
      stack.sort((a, b) => a[0] - b[0] || b[1].slot - a[1].slot);
      let y = floor;
      if (cellWidth < px(6)) stack.splice(0, stack.length - 1), stack[0][0] = tall;  // one bar where letters were too small
      for (const [height, glyph] of stack) {
        brush.fillStyle = inks[glyph.slot];
        if (cellWidth < px(6) || height < 2) brush.fillRect(this.x(column), y - height, cellWidth, height);
        else this.drawGlyph(glyph, this.x(column), y, cellWidth, height);
        y -= height;
      }
    }
    brush.setTransform(1, 0, 0, 1, 0, 0);
  }
  drawGlyph({ letter, left, bottom, wide, tall }, x, y, width, height) {
    const room = .94 * width, across = room / wide, up = height / tall;
    this.brush.setTransform(across, 0, 0, up, x + .03 * width + left * across, y - bottom * up);
    this.brush.fillText(letter, 0, 0);
    this.brush.setTransform(1, 0, 0, 1, 0, 0);
  }
  drawConsensus(track, from, to) {
    const { brush, ink, cellWidth, cellHeight } = this;
    brush.font = `bold ${Math.round(cellHeight * .74)}px ${MONO}`;
    brush.textAlign = "center";
    for (let column = from; column < to; column++) {
      const letter = this.alignment.consensus[column];
      brush.fillStyle = letter === letter.toUpperCase() && letter !== "-" ? ink.text : letter === "-" ? ink.faint : ink.quiet;
      brush.fillText(letter, this.x(column) + cellWidth / 2, track.top + cellHeight * .8);
    }
    brush.textAlign = "left";
  }
  drawBars(track, from, to, values, colour) {
    const { brush, cellWidth, px } = this, most = track.height - px(5), gap = cellWidth > px(4) ? px(1) : 0;
    const floor = track.top + track.height - px(1);
    for (let column = from; column < to; column++) {
      const height = Math.round(values[column] * most);
      brush.fillStyle = colour(values[column]);
      brush.fillRect(this.x(column), floor - height, cellWidth - gap, height);
    }
    brush.fillStyle = this.ink.line;
    brush.fillRect(this.x(from), floor, (to - from) * cellWidth, px(1));
  }

  /** The whole alignment in a strip: a pixel is the mean of the cells below it. */
  drawMap() {
    const { map, dpr } = this, { nRows, nColumns } = this.alignment;
    const height = Math.min(Math.max(nRows * 2, 24), 84);
    map.style.height = `${height}px`;
    map.width = Math.round(map.clientWidth * dpr);
    map.height = Math.round(height * dpr);
    const width = Math.min(nColumns, map.width), tall = Math.min(nRows, map.height), hues = this.hues();
    const sums = new Uint32Array(width * tall * 4);
    for (let line = 0; line < nRows; line++) {
      const row = this.order[line], base = Math.floor(line * tall / nRows) * width;
      for (let column = 0; column < nColumns; column++) {
        const hue = hues[this.colours[row * nColumns + column]];
        const k = 4 * (base + Math.floor(column * width / nColumns));
        sums[k] += hue & 255, sums[k + 1] += hue >> 8 & 255, sums[k + 2] += hue >> 16 & 255, sums[k + 3]++;
      }
    }
    const image = new ImageData(Math.max(width, 1), Math.max(tall, 1));
    for (let k = 0; k < sums.length; k += 4) {
      for (let c = 0; c < 3; c++) image.data[k + c] = sums[k + c] / sums[k + 3];
      image.data[k + 3] = 255;
    }
    this.mapImage = new OffscreenCanvas(image.width, image.height);
    this.mapImage.getContext("2d").putImageData(image, 0, 0);
    this.drawMapHits();
  }
  /** What was found, on a sheet of its own above the strip, since there may be thousands. */
  drawMapHits() {
    const { map, alignment, px } = this, x = map.width / alignment.nColumns, y = map.height / alignment.nRows;
    this.mapHits = new OffscreenCanvas(Math.max(map.width, 1), Math.max(map.height, 1));
    const brush = this.mapHits.getContext("2d");
    brush.fillStyle = this.ink.hit;
    for (const { row, begin = 0, end = alignment.nColumns } of this.hits)
      brush.fillRect(begin * x, this.rank[row] * y, Math.max((end - begin) * x, px(2)), Math.max(y, px(1)));
  }
  drawMapView({ left, right, top, bottom }) {
    const { map, alignment, ink, px } = this, brush = map.getContext("2d");
    brush.imageSmoothingEnabled = false;
    brush.drawImage(this.mapImage, 0, 0, map.width, map.height);
    const x = map.width / alignment.nColumns, y = map.height / alignment.nRows;
    const box = [left * x, top * y, Math.max((right - left) * x, px(3)), Math.max((bottom - top) * y, px(3))];
    brush.fillStyle = ink.page;
    brush.globalAlpha = .35;
    brush.beginPath();
    brush.rect(0, 0, map.width, map.height);
    brush.rect(...box);
    brush.fill("evenodd");
    brush.globalAlpha = 1;
    brush.drawImage(this.mapHits, 0, 0);
    brush.strokeStyle = ink.accent;
    brush.lineWidth = px(2);
    brush.strokeRect(box[0] + px(1), box[1] + px(1), Math.max(box[2] - px(2), 1), Math.max(box[3] - px(2), 1));
  }
}

const GLYPH_FONT = `bold 100px ${MONO}`;
/** Letters with the room that their ink takes, for letters of any height. */
function glyphsOf(letters) {
  const brush = new OffscreenCanvas(1, 1).getContext("2d");
  brush.font = GLYPH_FONT;
  return [...letters].map((letter) => {
    const ink = brush.measureText(letter);
    return { letter, slot: slotOfLetter(letter), left: ink.actualBoundingBoxLeft, bottom: ink.actualBoundingBoxDescent,
      wide: ink.actualBoundingBoxLeft + ink.actualBoundingBoxRight, tall: ink.actualBoundingBoxAscent + ink.actualBoundingBoxDescent };
  });
}

/** A name without what would turn or hide letters. */
function shown(name) { return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "\uFFFD"); }
