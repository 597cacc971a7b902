/* The report of placed reads: its columns, and the links between its parts. */
const asNumber = (value) => value.toLocaleString("en", {maximumFractionDigits: 6}), NEAREST = 5;

class PlaceReport {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, nRows: data.names.length, chosen: -1});
    this.letterBegins = begins(arrays.lengths), this.pathBegins = begins(arrays.path_sizes);
    this.codes = letterCodes(data.u_is_t);
    this.layout = new TreeLayout(arrays.node_parent, arrays.node_length);
    this.nameNodes();
    this.tell();
    this.table = addTable(this.columns(), this.nRows, {
      title: "Reads",
      find: "Find a read by name",
      file: "reads.tsv",
      onChoose: (row) => this.choose(row, "table"),
    });
    this.addTree();
    this.addHistogram();
    on("against", "change", () => this.drawRead());
    report.drawnBy(() => this.drawRead(), element("read"));
    if (this.nRows) this.choose(this.table.rows[0]);
  }
  /** Map branches to nodes, name clades, and map rows of the reference to tips. */
  nameNodes() {
    const {layout, data, arrays} = this, plain = (name) => name.replace(/^['"]|['"]$/g, "").replaceAll("_", " ");
    this.nodeOf = new Int32Array(arrays.branch_reads.length).fill(-1);
    arrays.node_branch.forEach((branch, k) => branch >= 0 && (this.nodeOf[branch] = k));
    const first = data.nodes.slice(), last = data.nodes.slice(), byName = new Map();
    for (let k = layout.n - 1; k >= 0; k--)
      if (layout.isTip(k)) byName.set(plain(data.nodes[k]), k);
      else first[k] = first[layout.first[k]], last[k] = last[layout.last[k]];
    this.clades = first.map((name, k) => layout.isTip(k) ? name : `${name}|${last[k]}`);
    this.tipOf = data.rows.map((name) => byName.get(plain(name)) ?? -1);
  }
  columns() {
    const {arrays, data} = this;
    const number = (name, values = arrays[name], width = 84) => numberColumn(name, values, width, asNumber);
    const clades = [...Array.from(this.nodeOf, (node) => this.clades[node] ?? "*"), "*"];
    const branch = Uint32Array.from(arrays.branch, (value) => value < 0 ? clades.length - 1 : value);
    this.margin = Int32Array.from(arrays.score, (score, k) => score - arrays.second_score[k]);
    const found = [
      textColumn("read", upTo(this.nRows), data.names, 190),
      number("branch"),
      number("score"),
      number("margin", this.margin),
      number("count"),
      number("ties"),
    ];
    if (arrays.taxon) found.push(textColumn("taxon", arrays.taxon, data.taxa, 240));
    found.push(textColumn("clade", branch, clades, 210), strandColumn(arrays.strand, 78));
    for (const name of ["start", "end", "inserted", "unaligned"]) found.push(number(name, arrays[name], 92));
    return found;
  }

  tell() {
    const {data, arrays, nRows} = this, n = (value) => value.toLocaleString("en"),
                         nBranches = arrays.branch_reads.length;
    this.report.tell(
      `${counted(data.n_placed, "read")} on ${counted(nBranches, "branch").replace(/branchs$/, "branches")}`, {
        reads: `${n(data.n_reads)}, ${n(data.n_placed)} of them placed`,
        ...data.count !== data.n_reads && {"they stand for": n(data.count)},
        branches: `${n(nBranches)}, ${n(arrays.branch_reads.filter((value) => value > 0).length)} of them with reads`,
        reference: `${counted(data.rows.length, "row")} of ${counted(data.n_columns, "column")}`,
      },
      nRows === data.n_reads ?
        "" :
        `The table has the first ${n(nRows)} reads of ${
          n(data.n_reads)}: a page holds no more. The tree has all of them, and so have the other outputs.`);
  }

  perNode(name) {
    const values = this.arrays[`branch_${name}`];
    return Float64Array.from(this.arrays.node_branch, (branch) => branch < 0 ? 0 : values[branch]);
  }
  addTree() {
    const {layout, data, arrays} = this;
    const told = (node) => {
      const branch = arrays.node_branch[node], own = (name) => asNumber(arrays[`branch_${name}`][branch]);
      const {sums} = this.tree,
            below = layout.isTip(node) ?
        "" :
        `\n${asNumber(sums[node])} on it and below, ${counted(layout.tips[node], "tip")}`;
      const {pies} = this.tree, isWhole = layout.collapsed.has(node);
      const samples = pies && pies.told(node, isWhole ? layout.end[node] : node + 1);
      return `${shown(this.clades[node])}\nbranch ${branch} · ${own("reads")} reads, count ${own("counts")}, shared ${
        own("shared")}${below}${samples ? `\n${samples}` : ""}`;
    };
    this.tree =
      new ReadsTree(element("tree"), {layout, names: data.nodes, told, onChoose: (node) => this.chooseBranch(node)});
    const by = element("tree-of"), pies = new SamplePies(data.samples, this.nodeOf, arrays, layout.n);
    const colour = () => {
      const isBySample = by.value === "samples";
      this.tree.pies = isBySample ? pies : null;
      element("samples").hidden = !isBySample;
      this.tree.colour(isBySample ? pies.sums() : this.perNode(by.value));
    };
    by.addEventListener("change", colour);
    if (data.samples.length) {
      by.add(new Option("samples", "samples"), 0);
      by.value = "samples";
      const list = new SampleList(pies, colour);
      this.report.drawnBy(() => list.setTheme(this.report.isDark));
    }
    colour();
    onSave("tree", (kind) => this.tree.save(kind, element("tree-part").value, "placed-reads"));
    this.tree.addButtons();
    this.tree.onEmpty = () => {
      const button = element("tree-empty"), isPressed = button.getAttribute("aria-pressed") === "true";
      this.tree.collapseEmpty(isPressed);
      button.setAttribute("aria-pressed", !isPressed);
    };
    on("tree-empty", "click", () => this.tree.onEmpty());
    this.report.shows(this.tree);
  }
  /** List the reads of a branch, and of those below it, in the table. Branches of a clade have consecutive numbers. */
  chooseBranch(node) {
    const {layout, arrays} = this, isAlone = element("tree-choice").value === "alone";
    const own = arrays.node_branch.subarray(node, isAlone ? node + 1 : layout.end[node]);
    const [least, most] = extremes(own);
    this.table.filter("branch", least === most ? `=${least}` : `${least}..${most}`);
    this.tree.choose(node);
    say(`${counted(this.table.rows.length, "read")} on ${shown(this.clades[node])}`);
    if (this.table.rows.length && !this.table.rows.includes(this.chosen)) this.choose(this.table.rows[0], "tree");
  }

  addHistogram() {
    const {arrays} = this, {score, count, ties, start, end, inserted, unaligned} = arrays;
    const numbers = {score, margin: this.margin, count, ties, start, end, inserted, unaligned};
    this.histogram = addHistogram(this.report, this.table, numbers, "score", wholeAxis);
  }

  /** Choose a read: its row, its branch, its alignment. */
  choose(row, from) {
    const {arrays, data} = this, branch = arrays.branch[row], name = shown(data.names[row]);
    this.chosen = row;
    if (from !== "table") this.table.choose(row, false);
    const node = branch < 0 ? -1 : this.nodeOf[branch];
    if (from !== "tree") this.tree.choose(node);
    element("read-title").textContent = name;
    element("read-note").hidden = true;
    const n = arrays.lengths[row], at = (column) => asNumber(arrays[column][row]);
    fillTerms(element("read-facts"), branch < 0 ? {read: `${counted(n, "letter")}, not placed: no letter is usable`} : {
      branch: `${branch}: ${shown(this.clades[node] ?? "*")} · ${
        counted(arrays.ties[row], "best branch").replace(/branchs$/, "branches")}`,
      ...arrays.taxon && {taxon: shown(data.taxa[arrays.taxon[row]])},
      score: `${at("score")}, the next best ${at("second_score")}`,
      columns: `${at("start")} to ${at("end")} of ${asNumber(data.n_columns)}${
        arrays.strand[row] < 0 ? " · reverse strand" : ""}`,
      letters: `${asNumber(n)} · ${at("inserted")} inserted, ${at("unaligned")} beyond its ends`,
    });
    this.read = null;
    this.drawRead();
  }
  /** Residues and columns of a read, and the rows most similar to it. */
  readOf(row) {
    const {arrays, data, codes} = this, begin = this.letterBegins[row], path = this.pathBegins[row];
    const letters = arrays.letters.subarray(begin, begin + arrays.lengths[row]), start = arrays.start[row];
    const columns = columnsOf(runsAt(arrays.paths, path, path + arrays.path_sizes[row]), start), end = arrays.end[row];
    const nRows = data.rows.length, {reference} = arrays;
    const {equal, different} = comparedRows(codes, reference, data.n_columns, nRows, letters, columns, start, end);
    const distances = this.layout.distances(this.nodeOf[arrays.branch[row]]);
    const far = (k) => this.tipOf[k] < 0 ? Infinity : distances[this.tipOf[k]];
    const order = Array.from({length: nRows}, (_, k) => k);
    order.sort((a, b) => equal[b] - equal[a] || different[a] - different[b] || far(a) - far(b) || a - b);
    const nearest = order.slice(0, NEAREST), select = element("against");
    select.replaceChildren(...nearest.map(
      (k) => new Option(`${shown(data.rows[k])} (${equal[k]} equal, ${counted(different[k], "difference")})`, k)));
    select.disabled = false;
    return {letters, columns, start, end};
  }
  drawRead() {
    if (this.chosen < 0) return;
    const {arrays, data} = this, host = element("alignment"), select = element("against");
    const note = (text) => {
      select.replaceChildren(), select.disabled = true;
      host.replaceChildren(made("p", "note", text));
    };
    if (arrays.branch[this.chosen] < 0) return note("This read has no alignment.");
    if (!data.has_reference) return note("The reference is too large for a page: see the alignment that place writes.");
    this.read ??= this.readOf(this.chosen);
    const {letters, columns, start, end} = this.read, k = Number(select.value);
    const row = arrays.reference.subarray(k * data.n_columns, (k + 1) * data.n_columns);
    const {rows, before} = readRows(this.codes, letters, columns, row, start, end);
    drawAlignment(host, rows, {topStart: 0, bottomStart: before});
  }
}

openReport(PlaceReport);
