/* The page: its data, and the actions of mouse, keys and buttons. */
const percent = (share) => `${Math.round(share * 100)} %`;

class Page extends Frame {
  constructor(given) {
    super();
    this.alignment = this.whole = new Alignment(given);
    this.given = given;
    this.hidden = {rows: new Set(), columns: new Set()};
    this.sheet = new Sheet(this.alignment, element("frame"), element("sheet"), element("extent"), element("map"));
    this.fill();
    this.sheet.setScheme(element("scheme").value);
    this.drawnBy(() => {
      this.sheet.isDark = this.isDark;
      this.sheet.layout();
    }, element("frame"));
    this.listen();
    this.seek();
    this.tell();
  }

  fill() {
    const {alignment} = this;
    document.title = `${alignment.title} - alignment`;
    element("title").textContent = shown(alignment.title);
    this.tellFacts();
    for (const [name, scheme] of Object.entries(SCHEMES))
      if (scheme.fits(alignment)) element("scheme").add(new Option(scheme.title, name));
    element("ordering").hidden = element("save-tree").hidden = alignment.tree === null;
    element("showing").hidden = !this.given.reference;
  }
  tellFacts() {
    const {whole: alignment, given} = this, {nRows, nColumns, kind} = alignment;
    const facts = [...given.facts ?? [], counted(nRows, "sequence"), counted(nColumns, "column"), kind];
    if (alignment.columnConfidence && nColumns) {
      const total = alignment.occupancy.reduce((a, b) => a + b, 0);  // columns are weighted by their residues
      const sum = alignment.columnConfidence.reduce((a, value, column) => a + value * alignment.occupancy[column], 0);
      facts.push(`mean confidence ${(total ? sum / total : 0).toFixed(2)}`);
    }
    element("facts").textContent = facts.join(" · ");
  }
  /** Show the full alignment or its reference. */
  showSide(name) {
    const {given, hidden} = this;
    this.whole = this[name] ??= new Alignment(name === "reference" ? given.reference : given);
    hidden.rows.clear(), hidden.columns.clear();
    this.tellFacts();
    this.showParts();
  }
  showLegend() {
    const {scheme, schemeName} = this.sheet;
    element("legend-title").textContent = `Colours: ${SCHEMES[schemeName].title}`;
    element("rule").textContent = scheme.rule;
    element("legend").replaceChildren(...scheme.legend.flatMap((word, k) => {
      if (!word) return [];
      const item = document.createElement("li"), swatch = document.createElement("i");
      swatch.style.background = css(scheme.palette[k + 1]);
      item.append(swatch, word);
      return [item];
    }));
  }

  showFeatures() {
    const {kinds} = this.whole;
    element("features").hidden = !kinds.length;
    element("feature-kinds").replaceChildren(...kinds.map((kind, k) => {
      const item = made("li"), swatch = made("i");
      swatch.style.background = this.sheet.featureColour(k);
      item.append(swatch, shown(kind));
      return item;
    }));
  }

  listen() {
    const {sheet} = this;
    on("scheme", "change", (event) => {
      sheet.setScheme(event.target.value);
      sheet.layout();
    });
    on("order", "change", (event) => this.reorder(event.target.value));
    on("side", "change", (event) => this.showSide(event.target.value));
    on("hiding", "change", (event) => {
      this.hide(event.target.value);
      event.target.value = "";
    });
    on("smaller", "click", () => this.resize(-1));
    on("larger", "click", () => this.resize(1));
    on("copy", "click", () => this.copy());
    on("save", "click", () => saveFile(`${this.fileName()}.fasta`, this.fasta()));
    for (const kind of ["svg", "png"]) on(`save-${kind}`, "click", () => this.savePicture(kind));
    on("save-tree", "click", () => saveFile(`${this.fileName()}.nwk`, this.alignment.newick + "\n"));
    on("words", "input", () => this.find());
    on("sought", "change", () => this.seek());
    on("search", "submit", (event) => {
      event.preventDefault();
      this.step(1);
    });
    on("previous", "click", () => this.step(-1));
    on("words", "keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) event.preventDefault(), this.step(-1);
      if (event.key === "Escape") element("frame").focus();
    });
    on("frame", "scroll", () => sheet.redraw(), {passive: true});
    on("frame", "keydown", (event) => this.press(event));
    on("frame", "wheel", (event) => this.wheel(event), {passive: false});
    on("sheet", "pointerdown", (event) => this.grab(event));
    on("sheet", "pointermove", (event) => this.point(event));
    on("sheet", "click", (event) => this.point(event));
    on("sheet", "pointerleave", () => {
      sheet.hover = null;
      this.tell();
      sheet.redraw();
    });
    on("map", "pointerdown", (event) => this.dragMap(event));
    document.addEventListener("keydown", (event) => this.shortcut(event));
    document.addEventListener("copy", (event) => this.onCopy(event));
    window.addEventListener("beforeprint", () => fillPrint(element("print"), sheet));
    window.addEventListener("afterprint", () => element("print").replaceChildren());
  }

  /* Locate the pointer. */
  at(event) {
    const {sheet, alignment} = this, {dpr} = sheet, x = event.offsetX * dpr, y = event.offsetY * dpr;
    const column = Math.floor((x - sheet.pane + sheet.scrollX) / sheet.cellWidth);
    const line = Math.floor((y - sheet.head + sheet.scrollY) / sheet.cellHeight);
    const found = {isDivider: Math.abs(x - sheet.pane) < 4 * dpr};
    if (x >= sheet.pane && column < alignment.nColumns) found.column = column;
    if (y >= sheet.head && line < alignment.nRows) found.line = line;
    found.place = x < sheet.pane ? "names" : y < sheet.head ? "ruler" : "cells";
    return found;
  }
  point(event) {
    const {sheet} = this, spot = this.at(event);
    element("sheet").style.cursor = spot.isDivider ? "col-resize" : spot.place === "cells" ? "cell" : "default";
    if (sheet.hover?.line === spot.line && sheet.hover?.column === spot.column) return;
    sheet.hover = spot;
    this.tell();
    sheet.redraw();
  }
  grab(event) {
    if (event.button || event.pointerType === "touch") return;  // touch scrolls
    const {sheet, alignment} = this, spot = this.at(event), canvas = element("sheet");
    if (spot.isDivider)
      return this.drag(canvas, event, (move) => {
        sheet.paneShare = (move.offsetX * sheet.dpr - sheet.treeWidth) / sheet.width;
        sheet.layout();
      });
    if (spot.place === "cells" && (spot.line === undefined || spot.column === undefined)) return this.select(null);
    if (spot.place === "names" && spot.line === undefined || spot.place === "ruler" && spot.column === undefined)
      return;
    const begin = event.shiftKey && this.anchor ? this.anchor : (this.anchor = spot);
    const choose = (end) => {
      const lines = spot.place === "ruler" ? [0, alignment.nRows - 1] : [begin.line ?? 0, end.line];
      const columns = spot.place === "names" ? [0, alignment.nColumns - 1] : [begin.column ?? 0, end.column];
      this.select(lines, columns);
    };
    sheet.cursor = spot.place === "cells" ? {line: spot.line, column: spot.column} : sheet.cursor;
    choose(spot);
    this.drag(canvas, event, (move) => {
      const {dpr} = sheet, nudge = (at, least, most) => (at < least ? at - least : at > most ? at - most : 0) / 3;
      if (spot.place !== "names") sheet.frame.scrollLeft += nudge(move.offsetX, sheet.pane / dpr, sheet.width / dpr);
      if (spot.place !== "ruler") sheet.frame.scrollTop += nudge(move.offsetY, sheet.head / dpr, sheet.height / dpr);
      const column = Math.floor((move.offsetX * dpr - sheet.pane + sheet.scrollX) / sheet.cellWidth);
      const line = Math.floor((move.offsetY * dpr - sheet.head + sheet.scrollY) / sheet.cellHeight);
      choose({line: clamp(line, 0, alignment.nRows - 1), column: clamp(column, 0, alignment.nColumns - 1)});
    });
  }
  drag(target, event, act) {
    const stop = new AbortController();
    target.setPointerCapture(event.pointerId);
    target.addEventListener("pointermove", act, {signal: stop.signal});
    for (const end of ["pointerup", "pointercancel"])
      target.addEventListener(end, () => stop.abort(), {signal: stop.signal});
  }
  dragMap(event) {
    const {sheet, alignment} = this, map = element("map");
    const go = ({offsetX, offsetY}) => {
      const view = sheet.view(), column = offsetX / map.clientWidth * alignment.nColumns,
            line = offsetY / map.clientHeight * alignment.nRows;
      sheet.frame.scrollLeft = (column - (view.right - view.left) / 2) * sheet.cellWidth / sheet.dpr;
      sheet.frame.scrollTop = (line - (view.bottom - view.top) / 2) * sheet.cellHeight / sheet.dpr;
    };
    go(event);
    this.drag(map, event, go);
  }

  /** Select the range between two lines and two columns, in any order; null clears the selection. */
  select(lines, columns) {
    const {sheet} = this, sorted = (pair) => pair.toSorted((a, b) => a - b);
    sheet.selection = null;
    if (lines) {
      const [top, bottom] = sorted(lines), [left, right] = sorted(columns);
      sheet.selection = {top, bottom: bottom + 1, left, right: right + 1};
      element("selected").textContent = `selected ${bottom + 1 - top} × ${right + 1 - left}`;
    } else element("selected").textContent = "";
    if (!lines) sheet.cursor = this.anchor = null;
    this.tell();
    sheet.redraw();
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.resize(event.deltaY < 0 ? 1 : -1, event);
  }
  /** Zoom; the cell under the pointer (or at the upper left) stays in place. */
  resize(by, event) {
    const {sheet} = this, size = clamp(sheet.size + by, 0, SIZES.length - 1);
    if (size === sheet.size) return;
    const x = event ? event.offsetX * sheet.dpr - sheet.pane : 0,
          y = event ? event.offsetY * sheet.dpr - sheet.head : 0;
    const column = (sheet.scrollX + x) / sheet.cellWidth, line = (sheet.scrollY + y) / sheet.cellHeight;
    sheet.size = size;
    sheet.layout();
    sheet.frame.scrollLeft = (column * sheet.cellWidth - x) / sheet.dpr;
    sheet.frame.scrollTop = (line * sheet.cellHeight - y) / sheet.dpr;
  }
  reorder(name) {
    const {sheet} = this;
    sheet.setOrder(name);
    this.select(null);
    sheet.layout();
  }
  /** Hide rows or columns, or show all. */
  hide(what) {
    const {sheet, alignment, whole, hidden} = this, {selection} = sheet;
    if (["rows", "columns", "others"].includes(what) && !selection) return this.say("Select something first");
    const {top, bottom, left, right} = selection ?? {};
    const isChosenRow = (row) => sheet.rank[row] >= top && sheet.rank[row] < bottom;
    const isChosenColumn = (column) => column >= left && column < right;
    const hasGaps = (most) => (column) => 1 - alignment.occupancy[column] > most;
    const goneRows = {rows: isChosenRow, others: (row) => !isChosenRow(row)}[what];
    const goneColumns = {
      columns: isChosenColumn,
      others: (column) => !isChosenColumn(column),
      gaps50: hasGaps(.5),
      gaps90: hasGaps(.9),
      same: (column) => !alignment.varies(column)
    }[what];
    const rows = goneRows ? [...alignment.rowOf].filter((_, row) => goneRows(row)) : [];
    const columns = goneColumns ? [...alignment.columnOf].filter((_, column) => goneColumns(column)) : [];
    if (rows.length === alignment.nRows || columns.length === alignment.nColumns)
      return this.say("That would hide everything");
    if (what === "all") hidden.rows.clear(), hidden.columns.clear();
    rows.forEach((row) => hidden.rows.add(row));
    columns.forEach((column) => hidden.columns.add(column));
    this.showParts();
  }
  /** Draw everything that is not hidden. */
  showParts() {
    const {whole, hidden} = this, isAll = !hidden.rows.size && !hidden.columns.size;
    const others = (n, gone) => Array.from({length: n}, (_, k) => k).filter((k) => !gone.has(k));
    this.alignment =
      isAll ? whole : whole.part(others(whole.nRows, hidden.rows), others(whole.nColumns, hidden.columns));
    this.sheet.show(this.alignment);
    this.select(null);
    this.find();
    const gone = [[hidden.rows, "sequence"], [hidden.columns, "column"]].filter(([some]) => some.size);
    const words = gone.map(([some, word]) => counted(some.size, word)).join(", ");
    element("hidden").textContent = words && `hidden: ${words}`;
  }
  /** Scroll by the least amount that shows a cell, or so that it is in the middle. */
  show(line, column, inMiddle = false) {
    const {sheet} = this, {frame, dpr} = sheet;
    const into = (at, size, room, scrolled) => {
      if (at >= scrolled && at + size <= scrolled + room) return scrolled;
      if (inMiddle) return at + size / 2 - room / 2;
      return at < scrolled ? at : at + size - room;
    };
    if (column !== undefined)
      frame.scrollLeft = into(column * sheet.cellWidth, sheet.cellWidth, sheet.width - sheet.pane, sheet.scrollX) / dpr;
    if (line !== undefined)
      frame.scrollTop = into(line * sheet.cellHeight, sheet.cellHeight, sheet.height - sheet.head, sheet.scrollY) / dpr;
  }

  /* Keys. */
  press(event) {
    const {sheet, alignment} = this, view = sheet.view();
    const down = Math.max(1, view.bottom - view.top - 2), across = Math.max(1, view.right - view.left - 2);
    const {line, column} = sheet.cursor ?? {line: view.top, column: view.left};
    const isFirst = sheet.cursor === null && event.key.startsWith("Arrow");
    const moves = {
      ArrowLeft: [line, column - 1],
      ArrowRight: [line, column + 1],
      ArrowUp: [line - 1, column],
      ArrowDown: [line + 1, column],
      PageUp: event.altKey ? [line, column - across] : [line - down, column],
      PageDown: event.altKey ? [line, column + across] : [line + down, column],
      Home: event.ctrlKey ? [0, column] : [line, 0],
      End: event.ctrlKey ? [alignment.nRows - 1, column] : [line, alignment.nColumns - 1],
    };
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a")
      this.select([0, alignment.nRows - 1], [0, alignment.nColumns - 1]);
    else if (event.key === "Escape") this.select(null);
    else if (event.key in moves && alignment.nRows && alignment.nColumns) {
      const [a, b] = isFirst ? [line, column] : moves[event.key];
      const next = {line: clamp(a, 0, alignment.nRows - 1), column: clamp(b, 0, alignment.nColumns - 1)};
      if (!event.shiftKey || !this.anchor) this.anchor = event.shiftKey ? {line, column} : next;
      sheet.cursor = next;
      this.select([this.anchor.line ?? 0, next.line], [this.anchor.column ?? 0, next.column]);
      this.show(next.line, next.column);
    } else return;
    event.preventDefault();
  }
  shortcut(event) {
    if (event.target === document.body) this.press(event);
    if (event.target.closest("input, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      "/": () => element("words").focus(),
      "+": () => this.resize(1),
      "=": () => this.resize(1),
      "-": () => this.resize(-1)
    };
    if (event.key in acts) event.preventDefault(), acts[event.key]();
  }
  help() {
    this.showLegend();
    this.showFeatures();
    super.help();
  }

  /* Search. */
  seek() {
    const examples = {
      motif: this.alignment.kind === "protein" ? "N-{P}-[ST]" : "TATAWR",
      name: "part of a name",
      column: "a number"
    };
    element("words").placeholder = examples[element("sought").value];
    this.find();
  }
  find() {
    const {sheet, alignment} = this, text = element("words").value.trim(), sought = element("sought").value;
    let hits = [], isWrong = false, isHidden = false;
    if (text && sought === "name") hits = this.shownHits(findName(this.whole, text));
    else if (text && sought === "motif") {
      const pattern = motifOf(text, alignment.kind);
      isWrong = pattern === null;
      if (pattern) hits = this.shownHits(findMotif(this.whole, pattern));
    } else if (text) {
      const place = alignment.columnPlace[Number(text.replaceAll(",", "")) - 1];
      isWrong = place === undefined;
      isHidden = place < 0;
      if (place >= 0) this.show(undefined, place, true), sheet.hover = {column: place};
    }
    hits.sort((a, b) => sheet.rank[a.row] - sheet.rank[b.row] || a.begin - b.begin);
    sheet.setHits(hits);
    sheet.strip.mark();
    element("found").classList.toggle("none", Boolean(text) && !hits.length && (sought !== "column" || isWrong));
    element("found").textContent = !text ? "" :
      isWrong                            ? (sought === "motif" ? "not a motif" : `1 to ${this.whole.nColumns}`) :
      isHidden            ? "hidden" :
      sought === "column" ? "" :
                            "none";
    if (hits.length) this.step(1);
    sheet.redraw();
  }
  /** Map hits in the full alignment to visible ones: a motif from its first to its last visible column. */
  shownHits(hits) {
    const {alignment} = this, {rowPlace} = alignment;
    return hits.flatMap(({row, begin, end}) => {
      if (rowPlace[row] < 0) return [];
      const span = begin === undefined ? {} : alignment.span(begin, end);
      return span ? [{row: rowPlace[row], ...span}] : [];
    });
  }
  step(by) {
    const {sheet} = this, n = sheet.hits.length;
    if (!n) return;
    sheet.hit = (sheet.hit + by + n) % n;
    if (sheet.hit < 0) sheet.hit = 0;
    const hit = sheet.hits[sheet.hit];
    element("found").textContent = `${(sheet.hit + 1).toLocaleString("en")} of ${n.toLocaleString("en")}`;
    this.show(sheet.rank[hit.row], hit.begin, true);
    this.tell({line: sheet.rank[hit.row], column: hit.begin});
    sheet.redraw();
  }

  /* Text. */
  fasta() {
    const {sheet, alignment} = this;
    const {top, bottom, left, right} =
      sheet.selection ?? {top: 0, bottom: alignment.nRows, left: 0, right: alignment.nColumns};
    return alignment.fasta([...sheet.order.subarray(top, bottom)], left, right);
  }
  /** Save the selection, or everything, as a picture. */
  savePicture(kind) {
    const {sheet, alignment} = this;
    const area = sheet.selection ?? {top: 0, bottom: alignment.nRows, left: 0, right: alignment.nColumns};
    if ((area.bottom - area.top) * (area.right - area.left) > MOST_DRAWN)
      return this.say(`A picture has at most ${MOST_DRAWN.toLocaleString("en")} letters: select fewer`);
    const picture = new BlockPicture(sheet, area);
    savePicture(kind, this.fileName(), picture.width, picture.height, "#ffffff", (brush) => picture.paint(brush));
  }
  fileName() {
    return this.alignment.title.replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "_") || "alignment";
  }
  copy() {
    element("frame").focus();
    document.execCommand("copy");
  }
  onCopy(event) {
    if (event.target.closest?.("input, dialog") || String(getSelection())) return;
    event.clipboardData.setData("text/plain", this.fasta());
    event.preventDefault();
    this.say(`copied ${this.sheet.selection ? "the selection" : "the alignment"} as FASTA`);
  }
  /** Set the status line, which is announced to screen readers unless it follows the mouse. */
  say(...words) {
    element("status").setAttribute("aria-live", this.sheet.hover ? "off" : "polite");
    element("status").replaceChildren(...words);
  }
  /** Describe the cell under the pointer, or at the cursor, in the status line. */
  tell(spot = this.sheet.hover ?? this.sheet.cursor) {
    const {alignment, sheet} = this;
    if (!spot || (spot.line === undefined && spot.column === undefined))
      return this.say("Point at a letter, or drag to select; ? for help");
    const parts = [];
    if (spot.line !== undefined) {
      const row = sheet.order[spot.line], name = document.createElement("b");
      name.textContent = shown(alignment.names[row]);
      parts.push(name);
      if (spot.column !== undefined) parts.push(...this.residueWords(row, spot.column));
      else if (alignment.descriptions[row]) parts.push(shown(alignment.descriptions[row]));
    }
    if (spot.column !== undefined) parts.push(...this.columnWords(spot.column));
    this.say(...parts.flatMap((part, k) => (k ? [" · ", part] : [part])));
  }
  residueWords(row, column) {
    const {alignment, whole} = this, number = whole.residue(alignment.rowOf[row], alignment.columnOf[column]);
    if (alignment.slot(row, column) === GAP) return [number ? `gap after residue ${number}` : "gap before residue 1"];
    const words = [`${alignment.letter(row, column)} ${number}`];
    if (alignment.confidence)
      words.push(`confidence ${(alignment.confidence[row * alignment.nColumns + column] / 255).toFixed(2)}`);
    if (alignment.agreement)
      words.push(agreementWords(shareOf(alignment.agreement[row * alignment.nColumns + column])));
    for (const {begin, end, kind, name} of alignment.features.get(row) ?? [])
      if (begin <= column && column < end) words.push(shown(name ? `${kind} ${name}` : kind));
    return words;
  }
  columnWords(column) {
    const {alignment} = this;
    const words = [`column ${(alignment.columnOf[column] + 1).toLocaleString("en")}`];
    const share = alignment.consensusShare[column];
    words.push(`${
      alignment.consensus[column] === "-" ? "mostly gaps" :
                                            `${alignment.consensus[column].toUpperCase()} ${percent(share)}`}`);
    words.push(
      `conservation ${alignment.conservation[column].toFixed(2)}`, `residues ${percent(alignment.occupancy[column])}`);
    if (alignment.columnAgreement && !Number.isNaN(alignment.columnAgreement[column]))
      words.push(`column's agreement ${alignment.columnAgreement[column].toFixed(2)}`);
    if (alignment.columnConfidence) words.push(`column's confidence ${alignment.columnConfidence[column].toFixed(2)}`);
    return words;
  }
}

const agreementWords = (share) => Number.isNaN(share) ? "does not count" : `agreement ${share.toFixed(2)}`;

window.page = new Page(given("data"));
