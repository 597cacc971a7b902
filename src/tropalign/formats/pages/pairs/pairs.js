/* The report of pairs: its columns, and the links between its parts. */
const asShare = (value) => value.toFixed(4);
const asNumber = (value) => value.toLocaleString("en", {maximumFractionDigits: 6});
/** Largest number of sequences in a selection list. */
const MOST_CHOICES = 2_000;

class PairsReport {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, nRows: arrays.score.length, chosen: -1});
    this.sides = ["query", "target"].slice(0, data.names.length).map((role, k) => this.side(role, data.names[k]));
    this.sides[1] ??= this.sides[0];
    this.pathBegins = begins(arrays.path_sizes);
    this.measure();
    this.tell();
    this.table = addTable(this.columns(), this.nRows, {
      title: "Pairs",
      find: "Find a query or target by name",
      file: "pairs.tsv",
      onChoose: (row) => this.choose(row, "table"),
    });
    this.addMap();
    this.addSpans();
    const axis =
      (values, name) => ["identity", "shared", "similarity"].includes(name) ? shareAxis() : wholeAxis(values);
    this.histogram = addHistogram(report, this.table, this.numbers, "identity", axis);
    this.listen();
    if (this.nRows) this.table.sort("score"), this.choose(this.table.rows[0]);
  }
  side(role, names) {
    const {arrays} = this, lengths = arrays[`${role}_lengths`];
    const found = {names, lengths, begins: begins(lengths), letters: arrays[`${role}_letters`]};
    for (const name of ["order", "joins", "heights"]) found[name] = arrays[`${role}_${name}`];
    return found;
  }
  letters(side, k) {
    const {letters, begins, lengths} = this.sides[side];
    return textOf(letters.subarray(begins[k], begins[k] + lengths[k]));
  }

  /** Compute identity, similarity and shared fraction of each row. */
  measure() {
    const {arrays, nRows} = this, {query_index: query, target_index: target} = arrays, [a, b] = this.sides;
    const identity = new Float64Array(nRows), similarity = new Float64Array(nRows), shared = new Float64Array(nRows);
    for (let row = 0; row < nRows; row++) {
      const n = Math.max(1, arrays.n_columns[row]);
      identity[row] = arrays.identity ? arrays.identity[row] : arrays.n_identical[row] / n;
      similarity[row] = arrays.n_similar[row] / n;
      const shorter = Math.min(a.lengths[query[row]], b.lengths[target[row]]);
      shared[row] = arrays.n_identical[row] / Math.max(1, shorter);
    }
    this.numbers = {score: arrays.score, identity, shared, similarity, columns: arrays.n_columns, gaps: arrays.n_gaps};
  }
  columns() {
    const {arrays, numbers} = this, [a, b] = this.sides;
    const number = (name, values, title = name, width = 88, format = asNumber) =>
      numberColumn(name, values, width, format, undefined, title);
    const share = (name) => number(name, numbers[name], name, 100, asShare);
    const found = [
      textColumn("query", arrays.query_index, a.names, 210),
      textColumn("target", arrays.target_index, b.names, 210),
    ];
    if (arrays.hsp) found.push(number("hsp", arrays.hsp, "hsp", 64));
    if (arrays.strand) found.push(strandColumn(arrays.strand, 84));
    if (arrays.evalue) found.push(number("evalue", arrays.evalue, "E-value", 88, asEvalue));
    if (arrays.sum_evalue) found.push(number("sum_evalue", arrays.sum_evalue, "sum E", 88, asEvalue));
    if (arrays.bits) found.push(number("bits", arrays.bits, "bits", 80, (value) => value.toFixed(1)));
    found.push(number("score", arrays.score), share("identity"), share("shared"), share("similarity"));
    found.push(number("columns", arrays.n_columns), number("gaps", arrays.n_gaps));
    for (const name of ["query_start", "query_end", "target_start", "target_end"])
      found.push(number(name, arrays[name], name.replace("_", " "), 104));
    return found;
  }

  tell() {
    const {data, nRows, sides: [a, b]} = this, row = this.arrays.hsp ? "alignment" : "pair";
    const of = a === b ? counted(a.names.length, "sequence") :
                         `${a.names.length.toLocaleString("en")} queries and ${counted(b.names.length, "target")}`;
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, nRows);
    element("summary").tabIndex = 0;  // it is cut off, so keys must be able to scroll it
    this.report.tell(
      `${counted(data.n_pairs, row)} of ${of}${data.mode ? ` · ${data.mode}` : ""}`, {
        [`${row}s`]: data.n_pairs.toLocaleString("en"),
        sequences: of,
        ...nRows && {
          "mean identity": mean(this.numbers.identity).toFixed(4),
          "mean score": mean(this.numbers.score).toFixed(1),
        },
      },
      nRows === data.n_pairs ?
        "" :
        `The page is limited to the ${nRows.toLocaleString("en")} ${row}s with the best scores, of ${
          data.n_pairs.toLocaleString("en")}. The other formats have all of them.`);
  }

  addMap() {
    const {arrays, numbers} = this;
    if (!arrays.cells) {
      element("map").hidden = true, element("no-map").hidden = false;
      element("no-map").textContent =
        this.nRows ? "There are too many sequences for a map." : "There are no pairs to map.";
      for (const control of document.querySelectorAll("[id^=map-]:is(select, button)")) control.disabled = true;
      return;
    }
    const toldRow = (row) => {
      const [a, b] = this.namesOf(row);
      return `${a}\n${b}\nidentity ${asShare(numbers.identity[row])} · shared ${asShare(numbers.shared[row])} · score ${
        asNumber(numbers.score[row])}`;
    };
    this.map = new PairMap(element("map"), {
      sides: this.sides,
      cells: arrays.cells,
      toldRow,
      onChoose: (row) => this.choose(row, "map"),
    });
    const by = element("map-of");
    for (const name of ["identity", "shared", "similarity", "score"]) by.add(new Option(name, name));
    by.value = "identity";
    const colour = () => {
      const values = numbers[by.value], [least, most] = extremes(values);
      this.map.colour(values, least, most, by.value === "score" ? asNumber : (value) => value.toFixed(2));
    };
    by.addEventListener("change", colour);
    colour();
    on("map-order", "change", (event) => this.map.setOrder(event.target.value === "tree"));
    on("map-larger", "click", () => this.map.zoom(1.5));
    on("map-smaller", "click", () => this.map.zoom(1 / 1.5));
    on("map-whole", "click", () => this.map.whole());
    this.report.shows(this.map);
  }

  /** Add the picture of alignments along a query; it follows the chosen row. */
  addSpans() {
    this.spans = new Spans(element("spans"), {report: this, onChoose: (row) => this.choose(row, "spans")});
    const of = element("spans-of"), {arrays, sides, nRows} = this, bestOf = new Map();
    for (const role of sides[0] === sides[1] ? ["query", "target"] : ["query"])
      for (let row = 0; row < nRows; row++) {
        const k = arrays[`${role}_index`][row], best = bestOf.get(k);
        if (best === undefined || arrays.score[row] > arrays.score[best]) bestOf.set(k, row);
      }
    if (!nRows) element("spans-note").textContent = "There is no alignment to draw.";
    if (!nRows || bestOf.size > MOST_CHOICES) of.parentElement.hidden = true;
    else
      for (const k of [...bestOf.keys()].sort((a, b) => a - b)) of.add(new Option(shown(sides[0].names[k]), k));
    of.addEventListener("change", () => {
      this.spans.show(Number(of.value));
      this.choose(bestOf.get(Number(of.value)), "spans");
    });
    this.report.shows(this.spans, "spans", () => "alignments");
  }
  /** Show the chosen row in the picture, which is redrawn only if it lacks the row. */
  followSpans(row) {
    const {arrays, sides, spans} = this, isThere = spans.bars?.some((bar) => bar.row === row);
    if (!isThere || sides[0] !== sides[1] && spans.of !== arrays.query_index[row]) spans.show(arrays.query_index[row]);
    element("spans-of").value = spans.of;
    spans.choose(row);
  }

  /** Save the targets of the listed rows, each once, 80 characters per line. */
  saveFasta() {
    const {arrays, sides} = this, used = new Set(Array.from(this.table.rows, (row) => arrays.target_index[row]));
    if (!sides[1].letters) return say("These sequences are too large for the page");
    saveFasta("targets.fasta", [...used], (k) => sides[1].names[k], (k) => this.letters(1, k));
    say(`${counted(used.size, "sequence")} saved`);
  }

  listen() {
    element("save-fasta").disabled = !this.sides[1].letters;
    on("save-fasta", "click", () => this.saveFasta());
    on("show-alignment", "click", () => this.show("alignment"));
    on("show-dots", "click", () => this.show("dots-view"));
    on("dots-word", "change", () => this.drawDots());
    for (let length = 1; length <= 16; length++) element("dots-word").add(new Option(length, length));
    this.report.drawnBy(() => this.drawPair(), element("pair"));
  }
  show(part) {
    for (const [id, button] of [["alignment", "show-alignment"], ["dots-view", "show-dots"]]) {
      element(id).hidden = id !== part;
      element(button).setAttribute("aria-pressed", id === part);
    }
    this.drawPair();
  }
  namesOf(row) {
    const {query_index: query, target_index: target} = this.arrays;
    return [this.sides[0].names[query[row]], this.sides[1].names[target[row]]].map(shown);
  }

  /** Choose a pair: its row, its cell, its alignment. */
  choose(row, from) {
    this.chosen = row;
    if (from !== "table") this.table.choose(row, false);
    this.map?.choose(row);
    this.followSpans(row);
    const [a, b] = this.namesOf(row), {numbers, arrays} = this;
    element("pair-title").textContent = `${a} × ${b}`;
    element("pair-note").hidden = true;
    const strand = arrays.strand?.[row] < 0 ? "reverse strand, " : "";
    fillTerms(element("pair-facts"), {
      query: `${a}: ${strand}${arrays.query_start[row]} to ${arrays.query_end[row]} of ${
        asNumber(this.sides[0].lengths[arrays.query_index[row]])}`,
      target: `${b}: ${arrays.target_start[row]} to ${arrays.target_end[row]} of ${
        asNumber(this.sides[1].lengths[arrays.target_index[row]])}`,
      alignment: `score ${asNumber(numbers.score[row])} ·${
        arrays.evalue ?
          ` E-value ${asEvalue(arrays.evalue[row])} · ${arrays.bits[row].toFixed(1)} bits ·` :
          ""} identity ${asShare(numbers.identity[row])} · similarity ${asShare(numbers.similarity[row])} · ${
        counted(numbers.columns[row], "column")} · ${counted(numbers.gaps[row], "gap residue")}`,
    });
    this.linkFacts(row);
    this.pair = null;
    this.drawPair();
  }
  /** Link the names of the chosen pair to their database records. */
  linkFacts(row) {
    const {arrays, sides} = this, facts = element("pair-facts").querySelectorAll("dd");
    [arrays.query_index[row], arrays.target_index[row]].forEach((k, side) => {
      const name = sides[side].names[k], rest = facts[side].textContent.slice(shown(name).length);
      facts[side].replaceChildren(linkedName(name), rest);
    });
  }
  /** Residues of the chosen pair on the aligned strand, its path, and its start. */
  pairOf(row) {
    const {arrays, data} = this, query = this.letters(0, arrays.query_index[row]), isReverse = arrays.strand?.[row] < 0;
    return {
      query: isReverse ? otherStrand(query, data.complements) : query,
      target: this.letters(1, arrays.target_index[row]),
      queryStart: isReverse ? query.length - arrays.query_end[row] : arrays.query_start[row],
      targetStart: arrays.target_start[row],
      runs: runsAt(arrays.paths, this.pathBegins[row], this.pathBegins[row] + arrays.path_sizes[row]),
      codes: data.codes,
      isReverse,
    };
  }
  drawPair() {
    if (this.chosen < 0) return;
    if (!this.sides[0].letters) {
      element("alignment")
        .replaceChildren(made("p", "note", "The sequences are too large for a page: use the other formats."));
      return;
    }
    if (!this.pair) {
      this.pair = this.pairOf(this.chosen);
      const {query, target, queryStart, targetStart, runs, codes} = this.pair;
      this.pair.rows = alignedRows(query, target, queryStart, targetStart, runs, codes);
      element("dots-word").value = usualWord(query.length, target.length, this.data.complements ? 4 : 20);
    }
    if (element("alignment").hidden) return this.drawDots();
    const {query, queryStart, targetStart, rows, isReverse} = this.pair;
    if (!rows.top)
      return element("alignment")
        .replaceChildren(made("p", "note", "This alignment is empty: no residues are paired."));
    const ends = {
      topStart: isReverse ? query.length - queryStart : queryStart,
      bottomStart: targetStart,
      topStep: isReverse ? -1 : 1
    };
    drawAlignment(element("alignment"), rows, ends);
  }
  drawDots() {
    const length = Number(element("dots-word").value), [a, b] = this.namesOf(this.chosen);
    const nDots = drawDots(element("dots"), element("pair"), {...this.pair, length});
    element("dots").setAttribute(
      "aria-label", `Dot plot of ${a} and ${b}: ${counted(nDots, "equal word")} of ${counted(length, "letter")}`);
  }
}

openReport(PairsReport);
