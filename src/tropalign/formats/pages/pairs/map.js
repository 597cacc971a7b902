/* The map: a pixel per pair, enlarged; with trees of rows and columns, and names if there is room. */
const SHADES = {
  light: ["#eef3fb", "#b9d3f2", "#6ea5e0", "#2f6fc4", "#173f86", "#0b1d4a"],
  dark: ["#1c2740", "#24427c", "#2f6fc4", "#5fa3e6", "#a9d3f5", "#f2f9ff"]
};
const NAMES = 120, TREE = 64, LEGEND = 34, SMALLEST_TEXT = 9;

/** Layout of a tree's joins: positions of both sides in tree order, height, heights of both sides. */
function drawnTree(order, joins, heights) {
  const n = order.length, place = new Float64Array(2 * n - 1), depth = new Float64Array(2 * n - 1), lines = [];
  order.forEach((sequence, k) => place[sequence] = k + .5);
  heights.forEach((height, k) => {
    const a = joins[2 * k], b = joins[2 * k + 1];
    place[n + k] = (place[a] + place[b]) / 2;
    depth[n + k] = height;
    lines.push([place[a], place[b], height, depth[a], depth[b]]);
  });
  return {lines, top: heights.length ? heights[heights.length - 1] || 1 : 1};
}

class PairMap extends Drawing {
  cursor = null;
  isByTree = true;
  /**
   * `sides`: rows and columns, each {names, order, joins, heights}; `cells`: the table row of each cell, -1 if there
   * is no row; `toldRow(row)`: description of a row; `onChoose(row)`: a row was chosen.
   */
  constructor(canvas, parts) {
    super(canvas, parts);
    const {sides} = this;
    this.n = sides.map((side) => side.names.length);
    for (const side of new Set(sides)) {
      side.tree = drawnTree(side.order, side.joins, side.heights);
      side.asGiven = upTo(side.names.length);
    }
    this.image = new OffscreenCanvas(this.n[1], this.n[0]);
    this.whole();
    canvas.addEventListener("wheel", (event) => {
      if (!this.hit(event.offsetX, event.offsetY)) return;
      event.preventDefault();
      const {box} = this;
      this.zoom(
        Math.exp(-event.deltaY / 400), (event.offsetX - box.x) / box.width, (event.offsetY - box.y) / box.height);
    }, {passive: false});
    canvas.addEventListener("blur", () => {
      this.cursor = null;
      this.draw();
    });
  }
  get orders() {
    return this.sides.map((side) => this.isByTree ? side.order : side.asGiven);
  }
  whole() {
    this.view = {top: 0, left: 0, rows: this.n[0], columns: this.n[1]};
    this.draw();
  }
  /** Colour the cells by numbers of the table's rows. */
  colour(values, least, most, format) {
    Object.assign(this, {values, least, most, format});
    this.colourCells();
  }
  setOrder(isByTree) {
    this.isByTree = isByTree;
    this.cursor = null;
    this.colourCells();
  }
  setTheme(isDark) {
    this.isDark = isDark;
    if (this.values) this.colourCells();
  }
  /** 256 shades from the minimum to the maximum. */
  shades() {
    const stops =
      SHADES[this.isDark ? "dark" : "light"].map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));
    return Array.from({length: 256}, (_, k) => {
      const at = k / 255 * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
      return stops[i].map((value, c) => Math.round(value + (stops[i + 1][c] - value) * (at - i)));
    });
  }
  colourCells() {
    const [rows, columns] = this.orders, nColumns = this.n[1], {cells, values, least} = this;
    const picture = new ImageData(nColumns, this.n[0]), colours = new Uint32Array(picture.data.buffer);
    const table = Uint32Array.from(this.shades(), ([r, g, b]) => r | g << 8 | b << 16 | 255 << 24);
    const scale = 255 / (this.most - least || 1);
    for (let y = 0, k = 0; y < rows.length; y++) {
      const line = rows[y] * nColumns;
      for (let x = 0; x < nColumns; x++, k++) {
        const row = cells[line + columns[x]];
        if (row >= 0) colours[k] = table[clamp(Math.round((values[row] - least) * scale), 0, 255)];
      }
    }
    this.image.getContext("2d").putImageData(picture, 0, 0);
    this.draw();
  }
  /** Measure the sizes, and the box of the cells. */
  measure() {
    const width = this.inside, side = Math.max(120, Math.min(width - TREE - NAMES, 520)), across = width - TREE - NAMES;
    if (!this.values || this.host.clientWidth < 60) return false;
    const box = {x: TREE, y: TREE, width: this.n[0] === this.n[1] ? Math.min(across, side) : across, height: side};
    Object.assign(this, {width, height: TREE + side + NAMES + LEGEND, box});
  }
  paint(brush, ink) {
    const {box, view} = this;
    brush.fillStyle = ink.empty;
    brush.fillRect(box.x, box.y, box.width, box.height);
    brush.imageSmoothingEnabled = view.columns > box.width || view.rows > box.height;
    brush.drawImage(this.image, view.left, view.top, view.columns, view.rows, box.x, box.y, box.width, box.height);
    if (this.isByTree) this.drawTree(brush, ink, 0), this.drawTree(brush, ink, 1);
    this.drawNames(brush, ink);
    this.drawMarks(brush, ink);
    this.drawLegend(brush, ink);
  }
  x(column) {
    return this.box.x + (column - this.view.left) / this.view.columns * this.box.width;
  }
  y(row) {
    return this.box.y + (row - this.view.top) / this.view.rows * this.box.height;
  }
  drawTree(brush, ink, side) {
    const {box} = this, {lines, top} = this.sides[side].tree, room = TREE - 8;
    const depth = (height) => 4 + room * (1 - height / top);
    brush.save();
    brush.beginPath();
    side ? brush.rect(box.x, 0, box.width, TREE) : brush.rect(0, box.y, TREE, box.height);
    brush.clip();
    brush.beginPath();
    for (const [a, b, height, depthA, depthB] of lines) {
      const points = [[a, depthA], [a, height], [b, height], [b, depthB]].map(
        ([place, h]) => side ? [this.x(place), depth(h)] : [depth(h), this.y(place)]);
      brush.moveTo(...points[0]);
      for (const point of points.slice(1)) brush.lineTo(...point);
    }
    brush.strokeStyle = ink.quiet;
    brush.lineWidth = lines.length > 300 ? .5 : 1;
    brush.stroke();
    brush.restore();
  }
  drawNames(brush, ink) {
    const {box, view} = this, [rows, columns] = this.orders;
    const steps = [box.height / view.rows, box.width / view.columns];
    brush.fillStyle = ink.quiet;
    const fit = (name) => fitted(brush, shown(name), NAMES - 8);
    brush.textBaseline = "middle";
    if (steps[0] >= SMALLEST_TEXT) {
      brush.font = `${Math.min(12, steps[0] - 1)}px ${ink.sans}`;
      for (let k = Math.ceil(view.top - .5); k < view.top + view.rows - .4; k++)
        brush.fillText(fit(this.sides[0].names[rows[k]]), box.x + box.width + 6, this.y(k + .5));
    } else this.drawHint(brush, box.x + box.width + 6, box.y + 8, this.n[0], 0);
    if (steps[1] >= SMALLEST_TEXT) {
      brush.font = `${Math.min(12, steps[1] - 1)}px ${ink.sans}`;
      for (let k = Math.ceil(view.left - .5); k < view.left + view.columns - .4; k++) {
        brush.save();
        brush.translate(this.x(k + .5), box.y + box.height + 6);
        brush.rotate(Math.PI / 2);
        brush.fillText(fit(this.sides[1].names[columns[k]]), 0, 0);
        brush.restore();
      }
    } else this.drawHint(brush, box.x, box.y + box.height + 14, this.n[1], 1);
    brush.textBaseline = "alphabetic";
  }
  /** Show the number of lines if their names have no room. */
  drawHint(brush, x, y, n, side) {
    brush.font = `12px ${inks().sans}`;
    const what = this.sides[0] === this.sides[1] ? "sequence" : side ? "target" : "query";
    const words = `${n.toLocaleString("en")} ${what === "query" ? "queries" : what + "s"}`;
    brush.fillText(words, x, y);
    if (side) brush.fillText("zoom for names", x, y + 16);
  }
  /** Mark the cell at the cursor, and those of the chosen pair. */
  drawMarks(brush, ink) {
    const {box, view} = this;
    brush.save();
    brush.beginPath();
    brush.rect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
    brush.clip();
    const frame = ([row, column], colour, width) => {
      brush.strokeStyle = colour;
      brush.lineWidth = width;
      const x = this.x(column), y = this.y(row), w = Math.max(5, box.width / view.columns),
            h = Math.max(5, box.height / view.rows);
      brush.strokeRect(x, y, w, h);
    };
    if (this.chosen >= 0)
      for (const place of this.placesOf(this.chosen)) frame(place, "#ff9d00", 2);
    if (this.cursor) frame(this.cursor, ink.text, 1.5);
    brush.restore();
    brush.strokeStyle = ink.line;
    brush.lineWidth = 1;
    brush.strokeRect(box.x - .5, box.y - .5, box.width + 1, box.height + 1);
  }
  /** Cells of a table row, as [row, column] of the map. */
  placesOf(row) {
    const found = [], [rows, columns] = this.orders, nColumns = this.n[1];
    const at = this.cells.indexOf(row);
    if (at < 0) return found;
    const first = Math.floor(at / nColumns), second = at % nColumns;
    found.push([rows.indexOf(first), columns.indexOf(second)]);
    if (this.sides[0] === this.sides[1] && this.cells[second * nColumns + first] === row)
      found.push([rows.indexOf(second), columns.indexOf(first)]);
    return found;
  }
  drawLegend(brush, ink) {
    const {box} = this, y = this.height - 20, width = Math.min(240, box.width), shades = this.shades();
    for (let k = 0; k < width; k++) {
      brush.fillStyle = `rgb(${shades[Math.floor(k / width * 256)].join(" ")})`;
      brush.fillRect(box.x + k, y, 1.2, 10);
    }
    brush.fillStyle = ink.quiet;
    brush.font = `11px ${ink.sans}`;
    brush.textAlign = "right";
    brush.fillText(this.format(this.least), box.x - 6, y + 9);
    brush.textAlign = "left";
    brush.fillText(this.format(this.most), box.x + width + 6, y + 9);
  }

  /** Cell under the pointer, as [row, column] of the map; null outside it. */
  hit(px, py) {
    const {box, view} = this, x = px - box.x, y = py - box.y;
    if (x < 0 || y < 0 || x >= box.width || y >= box.height) return null;
    return [
      Math.min(this.n[0] - 1, Math.floor(view.top + y / box.height * view.rows)),
      Math.min(this.n[1] - 1, Math.floor(view.left + x / box.width * view.columns))
    ];
  }
  /** Table row of a cell of the map; -1 if there is no row. */
  rowAt([row, column]) {
    const [rows, columns] = this.orders;
    return this.cells[rows[row] * this.n[1] + columns[column]];
  }
  namesAt([row, column]) {
    const [rows, columns] = this.orders;
    return [this.sides[0].names[rows[row]], this.sides[1].names[columns[column]]].map(shown);
  }
  told(place) {
    const row = this.rowAt(place), [a, b] = this.namesAt(place);
    return row < 0 ? `${a}\n${b}\n${a === b && this.sides[0] === this.sides[1] ? "itself" : "no row"}` :
                     this.toldRow(row);
  }
  /** Zoom by a factor about a point, given as fractions of the box. */
  zoom(factor, shareX = .5, shareY = .5) {
    const {view} = this, [n, m] = this.n;
    const rows = clamp(view.rows / factor, Math.min(n, 4), n),
          columns = clamp(view.columns / factor, Math.min(m, 4), m);
    this.view = {
      top: clamp(view.top + (view.rows - rows) * shareY, 0, n - rows),
      left: clamp(view.left + (view.columns - columns) * shareX, 0, m - columns),
      rows,
      columns
    };
    this.draw();
  }
  /** Scroll to a cell. */
  reveal([row, column]) {
    const {view} = this;
    const into = (first, length, at) => at < first ? at : at + 1 > first + length ? at + 1 - length : first;
    view.top = into(view.top, view.rows, row), view.left = into(view.left, view.columns, column);
  }
  move(right, down) {
    const {view, box, n} = this;
    view.left = clamp(view.left + right / box.width * view.columns, 0, n[1] - view.columns);
    view.top = clamp(view.top + down / box.height * view.rows, 0, n[0] - view.rows);
    this.draw();
  }
  click(place) {
    if (this.rowAt(place) >= 0) this.onChoose(this.rowAt(place));
  }
  clickTwice() {
    this.whole();
  }
  press({key}) {
    const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}, {cursor, n} = this;
    if (key in moves) {
      const [row, column] = cursor ?? [Math.floor(this.view.top), Math.floor(this.view.left)];
      const [down, right] = cursor ? moves[key] : [0, 0];
      this.cursor = [clamp(row + down, 0, n[0] - 1), clamp(column + right, 0, n[1] - 1)];
      this.reveal(this.cursor);
      this.say(this.cursor);
    } else if (key === "Enter" && cursor) this.click(cursor);
    else if (key === "+" || key === "=") this.zoom(1.5);
    else if (key === "-") this.zoom(1 / 1.5);
    else if (key === "0") this.whole();
    else return false;
    this.draw();
    return true;
  }
  choose(row) {
    this.chosen = row;
    this.draw();
  }
}
