/* A table of many rows with sorting and filters; only visible rows are in the document.
 * A column is {name, title, width, codes, words} for text (codes[row]: index in words) or
 * {name, title, width, values, format} for numbers (values[row]).
 */
const ROW = 26;

const textColumn = (name, codes, words, width, title = name) => ({name, title, width, codes, words});
const numberColumn = (name, values, width, format, meaning, title = name) =>
  ({name, title, width, values, format, meaning});
const strandColumn = (strand, width) =>
  textColumn("strand", Uint8Array.from(strand, (value) => Number(value < 0)), ["+", "-"], width);

class Table {
  /** Scroll height, in pixels, that every browser supports. */
  static mostPixels = 8_000_000;
  constructor(host, columns, nRows, label, {onChoose, onRows}) {
    Object.assign(this, {host, columns, nRows, onChoose, onRows, chosen: -1, sorted: null, words: ""});
    this.rows = upTo(nRows);
    this.byName = new Map(columns.map((column) => [column.name, column]));
    this.lines = new Map();
    this.width = columns.reduce((sum, column) => sum + column.width, 0);
    host.classList.add("grid");
    host.tabIndex = 0;
    for (const [name, value] of Object.entries({role: "grid", "aria-label": label, "aria-colcount": columns.length}))
      host.setAttribute(name, value);
    this.body = made("div", "body");
    this.body.setAttribute("role", "rowgroup");
    host.append(this.head(), this.body);
    host.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), {passive: true});
    host.addEventListener("keydown", (event) => this.press(event));
    this.body.addEventListener("click", (event) => {
      const line = event.target.closest(".line");
      if (line) this.choose(Number(line.dataset.row));
    });
    new ResizeObserver(() => this.draw()).observe(host);
    this.arrange();
  }

  head() {
    const top = made("div", "top"), titles = made("div", "line"), filters = made("div", "line");
    top.setAttribute("role", "rowgroup");
    titles.setAttribute("role", "row"), filters.setAttribute("role", "row");
    for (const column of this.columns) {
      const kind = column.words ? "text" : "number";
      const title = made("div", `cell ${kind}`), button = made("button", "", column.title);
      title.setAttribute("role", "columnheader");
      title.style.width = `${column.width}px`;
      button.type = "button";
      button.title = column.meaning ?? "";
      button.addEventListener("click", () => this.sort(column.name));
      title.append(button);
      const filter = made("div", "cell"), input = made("input");
      filter.setAttribute("role", "gridcell");
      filter.style.width = `${column.width}px`;
      input.placeholder = column.words ? "filter" : "0..9";
      input.setAttribute(
        "aria-label",
        column.words ? `${column.title}: words in the name; !word to exclude` :
                       `${column.title}: from..to, >1, <1, =1; a number: minimum`);
      input.title = input.getAttribute("aria-label");
      input.autocomplete = "off", input.spellcheck = false;
      input.addEventListener("input", () => {
        column.filter = input.value;
        input.setAttribute("aria-invalid", !testOf(column));
        this.arrange();
      });
      filter.append(input);
      titles.append(title), filters.append(filter);
      Object.assign(column, {header: title, button, input, filter: ""});
    }
    top.append(titles, filters);
    top.style.width = `${this.width}px`;
    this.top = top;
    return top;
  }

  /** Filter a column as if the text had been typed. */
  filter(name, text) {
    const column = this.byName.get(name);
    column.input.value = column.filter = text;
    column.input.setAttribute("aria-invalid", !testOf(column));
    this.arrange();
  }
  /** Find rows in which one text contains all these words. */
  find(words) {
    this.words = words;
    this.arrange();
  }
  clear() {
    for (const column of this.columns)
      column.input.value = column.filter = "", column.input.removeAttribute("aria-invalid");
    this.words = "";
    this.arrange();
  }

  /** Sort by a column; a second call reverses the order, and a third one restores the input order. */
  sort(name) {
    const isSame = this.sorted?.name === name, column = this.byName.get(name), isFirst = !!column.words;
    const isUp = isSame ? !this.sorted.isUp : isFirst;
    this.sorted = isSame && this.sorted.isUp !== isFirst ? null : {name, isUp};
    for (const other of this.columns) {
      const isThis = this.sorted?.name === other.name;
      other.header.setAttribute("aria-sort", !isThis ? "none" : isUp ? "ascending" : "descending");
      other.button.textContent = other.title + (!isThis ? "" : isUp ? " ▲" : " ▼");
    }
    this.arrange();
  }

  /** Apply filters and order. */
  arrange() {
    let rows = filtered(this.columns, this.nRows, this.words);
    if (this.sorted) {
      const column = this.byName.get(this.sorted.name);
      rows = sortedBy(rows, column.words ? ranked(column) : column.values, this.sorted.isUp);
    }
    this.rows = rows;
    this.host.setAttribute("aria-rowcount", rows.length + 2);
    this.body.style.height = `${Math.min(rows.length * ROW, Table.mostPixels)}px`;
    this.body.style.width = `${this.width}px`;
    this.lines.forEach((line) => line.remove());
    this.lines.clear();
    this.draw();
    this.onRows?.(rows);
  }

  /** Index of the first visible row; with more rows than pixels, from the scroll bar's relative position. */
  first() {
    const {host, rows} = this, room = host.clientHeight - this.top.offsetHeight;
    if (rows.length * ROW <= Table.mostPixels) return {first: Math.floor(host.scrollTop / ROW), room};
    const share = host.scrollTop / Math.max(1, Table.mostPixels - room);
    return {first: Math.round(clamp(share, 0, 1) * (rows.length - Math.floor(room / ROW))), room};
  }
  draw() {
    const {host, rows, columns} = this, {first, room} = this.first();
    const isWhole = rows.length * ROW <= Table.mostPixels, begin = Math.max(0, first - (isWhole ? 6 : 0));
    const end = Math.min(rows.length, first + Math.ceil(room / ROW) + 6), wanted = new Set();
    for (let place = begin; place < end; place++) wanted.add(place);
    for (const [place, line] of this.lines)
      if (!wanted.has(place) || !isWhole) line.remove(), this.lines.delete(place);
    for (const place of wanted) {
      if (this.lines.has(place)) continue;
      const row = rows[place], line = made("div", "line");
      line.setAttribute("role", "row");
      line.setAttribute("aria-rowindex", place + 3);
      line.setAttribute("aria-selected", row === this.chosen);
      line.dataset.row = row;
      line.style.width = `${this.width}px`;
      line.style.top = `${isWhole ? place * ROW : host.scrollTop + (place - first) * ROW}px`;
      for (const column of columns) {
        const text = column.words ? shown(column.words[column.codes[row]]) : column.format(column.values[row]);
        const cell = made("div", `cell ${column.words ? "text" : "number"}`, text);
        cell.setAttribute("role", "gridcell");
        cell.style.width = `${column.width}px`;
        if (column.words && text.length > column.width / 8) cell.title = text;
        line.append(cell);
      }
      this.lines.set(place, line);
      this.body.append(line);
    }
  }

  /** Mark a row, scroll to it if it passes the filters, and notify. */
  choose(row, isTold = true) {
    this.chosen = row;
    this.place = this.rows.indexOf(row);
    for (const line of this.lines.values()) line.setAttribute("aria-selected", Number(line.dataset.row) === row);
    if (this.place >= 0) this.reveal(this.place);
    if (isTold) this.onChoose?.(row);
  }
  reveal(place) {
    const {host, rows} = this, {first, room} = this.first(), nSeen = Math.floor(room / ROW);
    if (place >= first && place < first + nSeen) return;
    const wanted = clamp(place < first ? place : place - nSeen + 1, 0, Math.max(0, rows.length - nSeen));
    const isWhole = rows.length * ROW <= Table.mostPixels;
    host.scrollTop = isWhole ? wanted * ROW : wanted / (rows.length - nSeen) * (Table.mostPixels - room);
    this.draw();
  }
  press(event) {
    if (event.target !== this.host || !this.rows.length) return;
    const seen = Math.max(1, Math.floor(this.first().room / ROW) - 1), last = this.rows.length - 1;
    const at = this.rows[this.place] === this.chosen ? this.place : this.rows.indexOf(this.chosen);
    const places = {ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + seen, PageUp: at - seen, Home: 0, End: last};
    if (!(event.key in places)) return;
    event.preventDefault();
    this.choose(this.rows[clamp(places[event.key], 0, last)]);
    say(this.columns.map((column) => `${column.title} ${this.text(column, this.chosen)}`).join(", "));
  }
  text(column, row) {
    return column.words ? shown(column.words[column.codes[row]]) : column.format(column.values[row]);
  }
  /** Rows that pass the filters, as tab-separated text. */
  tsv() {
    const lines = [this.columns.map((column) => column.title).join("\t")];
    for (const row of this.rows) lines.push(this.columns.map((column) => this.text(column, row)).join("\t"));
    return lines.join("\n") + "\n";
  }
}

/** Compile a column's filter text to a predicate of its values; null if it is invalid. */
function testOf({filter, words}) {
  const text = filter.trim(), number = "([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?)";
  if (words) return allWords(text);
  if (!text) return () => true;
  const range = text.match(new RegExp(`^${number}?\\s*\\.\\.\\s*${number}?$`, "i"));
  if (range) {
    const least = range[1] === undefined ? -Infinity : Number(range[1]);
    const most = range[2] === undefined ? Infinity : Number(range[2]);
    return (value) => value >= least && value <= most;
  }
  const bound = text.match(new RegExp(`^(>=|<=|>|<|=)?\\s*${number}$`, "i"));
  if (!bound) return null;
  const limit = Number(bound[2]);
  return {
    ">": (value) => value > limit,
    "<": (value) => value < limit,
    "<=": (value) => value <= limit,
    "=": (value) => Math.abs(value - limit) < 1e-9,
  }[bound[1]] ??
    ((value) => value >= limit);
}

function allWords(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (word) => {
    const name = word.toLowerCase();
    return wanted.every(
      (part) => part.length > 1 && part[0] === "!" ? !name.includes(part.slice(1)) : name.includes(part));
  };
}

/** Rows that pass all filters, in input order. */
function filtered(columns, nRows, words) {
  const passes = new Uint8Array(nRows).fill(1);
  for (const column of columns) {
    const test = column.filter.trim() && testOf(column);
    if (!test) continue;
    if (column.words) {
      const isWanted = column.words.map(test);
      for (let row = 0; row < nRows; row++) passes[row] &= isWanted[column.codes[row]];
    } else
      for (let row = 0; row < nRows; row++)
        if (!test(column.values[row])) passes[row] = 0;
  }
  if (words.trim()) {
    const found = new Uint8Array(nRows), test = allWords(words);
    for (const {codes, words: names} of columns) {
      if (!names) continue;
      const isWanted = names.map(test);
      for (let row = 0; row < nRows; row++) found[row] |= isWanted[codes[row]];
    }
    for (let row = 0; row < nRows; row++) passes[row] &= found[row];
  }
  let n = 0;
  const rows = new Uint32Array(nRows);
  for (let row = 0; row < nRows; row++)
    if (passes[row]) rows[n++] = row;
  return rows.slice(0, n);
}

/** Rank of each row's text in a text column; numbers within texts compare by value. */
function ranked(column) {
  if (!column.ranks) {
    const {words, codes} = column, collator = new Intl.Collator("en", {numeric: true}),
                  rankOf = new Uint32Array(words.length);
    Array.from(words, (_, k) => k)
      .sort((a, b) => collator.compare(words[a], words[b]))
      .forEach((code, rank) => rankOf[code] = rank);
    column.ranks = Uint32Array.from(codes, (code) => rankOf[code]);
  }
  return column.ranks;
}

/**
 * Sort rows by keys, stably, with NaN last. A radix sort, 11 bits at a time: the bits of a float, with the sign bit
 * flipped (or all bits, if negative), sort like integers.
 */
function sortedBy(rows, keys, isUp) {
  const n = rows.length, floats = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    const key = Number(keys[rows[k]]);
    floats[k] = key !== key ? Infinity : isUp ? key + 0 : 0 - key;
  }
  const halves = new Uint32Array(floats.buffer), low = new Uint32Array(n), high = new Uint32Array(n);
  for (let k = 0; k < n; k++) {
    const sign = halves[2 * k + 1] >>> 31;
    low[k] = sign ? ~halves[2 * k] : halves[2 * k];
    high[k] = sign ? ~halves[2 * k + 1] : halves[2 * k + 1] ^ 0x80000000;
  }
  let order = Uint32Array.from({length: n}, (_, k) => k), other = new Uint32Array(n);
  for (const half of [low, high])
    for (let shift = 0; shift < 32; shift += 11) {
      const counts = new Uint32Array(2049);
      for (let k = 0; k < n; k++) counts[(half[k] >>> shift & 2047) + 1]++;
      if (counts.includes(n)) continue;  // all have the same digit
      for (let digit = 0; digit < 2048; digit++) counts[digit + 1] += counts[digit];
      for (let k = 0; k < n; k++) {
        const at = order[k];
        other[counts[half[at] >>> shift & 2047]++] = at;
      }
      [order, other] = [other, order];
    }
  return order.map((k) => rows[k]);
}
