/* The report of hits: its columns, and the links between its parts. */
const asNumber = (value) => value.toLocaleString("en", {maximumFractionDigits: 1});
const asShare = (value) => value.toFixed(2);

class HitsReport {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, nRows: arrays.evalue.length, chosen: -1});
    this.domainBegins = begins(arrays.n_domains), this.lineBegins = begins(arrays.line_sizes);
    this.measure();
    this.tell();
    this.addViews();
    this.table = addTable(this.columns(), this.nRows, {
      title: "Hits",
      find: "Find a model or sequence by name",
      file: "hits.tsv",
      onChoose: (row) => this.choose(row, "table"),
      onRows: (rows) => this.showRows(rows),
    });
    report.drawnBy(() => this.drawDomains(), element("hit"));
    if (this.nRows) this.choose(this.table.rows[0]);
  }
  /** Domains of a hit. */
  domainsOf(row) {
    const begin = this.domainBegins[row];
    return Array.from({length: this.arrays.n_domains[row]}, (_, k) => begin + k);
  }
  /** Compute each hit's best domain E-value and its coverage of the model, and each domain's hit. */
  measure() {
    const {arrays, data, nRows} = this;
    this.hitOf = new Uint32Array(arrays.line_sizes.length);
    this.best = new Float64Array(nRows).fill(NaN), this.covered = new Float64Array(nRows);
    for (let row = 0; row < nRows; row++) {
      const own = this.domainsOf(row), spans = [];
      for (const d of own) {
        this.hitOf[d] = row;
        this.best[row] =
          Math.min(this.best[row] === this.best[row] ? this.best[row] : Infinity, arrays.domain_i_evalue[d]);
        spans.push([arrays.domain_model_begin[d], arrays.domain_model_end[d]]);
      }
      let end = 0, sum = 0;
      for (const [from, to] of spans.sort((a, b) => a[0] - b[0]))
        sum += Math.max(0, to - Math.max(from, end)), end = Math.max(end, to);
      this.covered[row] = sum / Math.max(1, data.models.lengths[arrays.model_index[row]]);
    }
  }
  columns() {
    const {arrays, data} = this;
    const number = (name, title, values, width, format = asNumber) =>
      numberColumn(name, values, width, format, undefined, title);
    const isSearch = data.orientation === "search";
    return [
      textColumn("sequence", arrays.sequence_index, data.sequences.names, 170),
      textColumn("model", arrays.model_index, data.models.names, 130),
      number("evalue", "E-value", arrays.evalue, 92, asEvalue),
      number("bits", "bits", arrays.bits, 80),
      number("bias", "bias", arrays.bias, 72),
      number("domains", "domains", arrays.n_domains, 88),
      number("best", "best i-E", this.best, 92, (value) => value === value ? asEvalue(value) : "-"),
      number("covered", "covered", this.covered, 88, asShare),
      textColumn("included", arrays.is_included, ["no", "yes"], 92),
      isSearch ? textColumn("description", arrays.sequence_index, data.sequences.descriptions, 320) :
                 textColumn("description", arrays.model_index, data.models.descriptions, 320),
    ];
  }

  tell() {
    const {data, nRows} = this, n = (value) => value.toLocaleString("en"), isSearch = data.orientation === "search";
    this.report.tell(
      `${counted(data.n_hits, "hit")} · ${data.orientation}`, {
        queries: counted(data.n_queries, isSearch ? "model" : "sequence"),
        targets: counted(data.n_targets, isSearch ? "sequence" : "model"),
        hits: `${n(data.n_hits)} of ${counted(data.models.names.length, "model")} in ${
          counted(data.sequences.names.length, "sequence")}`,
        domains: n(this.arrays.line_sizes.length),
      },
      nRows === data.n_hits ? "" :
                              `The ${n(nRows)} hits with the smallest E-values, of ${
                                n(data.n_hits)}: a page holds no more. The other formats hold all.`);
  }

  addViews() {
    const {arrays, data, report} = this;
    const domains = {
      begin: arrays.domain_begin,
      end: arrays.domain_end,
      from: arrays.domain_envelope_begin,
      to: arrays.domain_envelope_end,
      isIncluded: arrays.domain_is_included,
      names: data.models.names,
      model: Uint32Array.from(this.hitOf, (row) => arrays.model_index[row]),
    };
    this.architecture = new Architecture(element("boxes"), {
      room: element("boxes-room"),
      sequences: data.sequences,
      domains,
      toldDomain: (d) => this.toldDomain(d),
      onChoose: (d) => this.choose(this.hitOf[d], "box", d),
    });
    this.coverage = new Coverage(element("coverage"));
    const number = new Uint32Array(data.models.names.length), of = element("coverage-of");
    arrays.model_index.forEach((model) => number[model]++);
    Array.from(number, (_, model) => model)
      .sort((a, b) => number[b] - number[a] || a - b)
      .forEach(
        (model) => of.add(new Option(`${shown(data.models.names[model])} (${counted(number[model], "hit")})`, model)));
    of.addEventListener("change", () => this.showCoverage());
    element("scale").addEventListener("change", (event) => this.architecture.setScale(event.target.value === "own"));
    report.shows(this.architecture, "architecture");
    report.shows(this.coverage, "coverage");
    report.drawnBy(() => this.drawLegend());
  }
  /** Show the models of the table's rows, the most frequent first. */
  drawLegend() {
    const {arrays, data: {models: {names}}, report: {isDark}} = this, number = new Map();
    for (const row of this.rows ?? [])
      number.set(arrays.model_index[row], (number.get(arrays.model_index[row]) ?? 0) + 1);
    const models = [...number.keys()].sort((a, b) => number.get(b) - number.get(a) || a - b);
    const items = models.slice(0, MOST_MODELS).map((model) => {
      const item = made("li"), swatch = made("span", "swatch"),
            {fill, edge} = shadesOf(hueOfName(names[model]), isDark);
      swatch.style.background = fill, swatch.style.borderColor = edge;
      item.append(swatch, made("span", "name", shown(names[model])));
      return item;
    });
    if (models.length > MOST_MODELS)
      items.push(made("li", "note", `and ${counted(models.length - MOST_MODELS, "more model")}`));
    element("models").replaceChildren(...items);
  }
  toldDomain(d) {
    const {arrays, data} = this, row = this.hitOf[d];
    const span = (name) => `${arrays[`${name}_begin`][d] + 1} to ${arrays[`${name}_end`][d]}`;
    return `${shown(data.models.names[arrays.model_index[row]])} in ${
      shown(data.sequences.names[arrays.sequence_index[row]])}\nsequence ${span("domain")} · model ${
      span(
        "domain_model")}\n${asNumber(arrays.domain_bits[d])} bits · i-E-value ${asEvalue(arrays.domain_i_evalue[d])}`;
  }
  /** Show the rows that pass the filters: a line per sequence, in table order, and their coverage. */
  showRows(rows) {
    const {arrays} = this, lines = new Map();
    this.rows = rows;
    for (const row of rows) {
      const sequence = arrays.sequence_index[row];
      if (!lines.has(sequence)) lines.set(sequence, []);
      lines.get(sequence).push(...this.domainsOf(row));
    }
    for (const own of lines.values()) own.sort((a, b) => arrays.domain_bits[a] - arrays.domain_bits[b]);
    this.architecture.show([...lines]);
    this.drawLegend();
    this.showCoverage();
  }
  showCoverage() {
    const {data, arrays} = this, model = Number(element("coverage-of").value), own = [];
    if (!data.models.names.length) return;
    for (const row of this.rows)
      if (arrays.model_index[row] === model) own.push(...this.domainsOf(row));
    this.coverage.show(data.models.names[model], coverageOf(data.models.lengths[model], own, arrays, this.lineBegins));
  }
  /** Choose a hit: its row, its boxes, its alignments. */
  choose(row, from, domain = this.bestOf(row)) {
    const {arrays, data} = this, model = arrays.model_index[row], sequence = arrays.sequence_index[row];
    this.chosen = row;
    if (from !== "table") this.table.choose(row, false);
    this.architecture.choose(domain);
    element("coverage-of").value = model;
    this.showCoverage();
    element("hit-title").textContent = `${shown(data.models.names[model])} in ${shown(data.sequences.names[sequence])}`;
    element("hit-note").hidden = true;
    const about = ({names, lengths, descriptions}, k, word) =>
      `${shown(names[k])}, ${counted(lengths[k], word)}${descriptions[k] && ` · ${shown(descriptions[k])}`}`;
    fillTerms(element("hit-facts"), {
      model: about(data.models, model, "position"),
      sequence: about(data.sequences, sequence, "residue"),
      hit: `E-value ${asEvalue(arrays.evalue[row])} · ${asNumber(arrays.bits[row])} bits, bias ${
        asNumber(arrays.bias[row])} · ${arrays.is_included[row] ? "included" : "not included"}`,
    });
    this.drawDomains();
    // Before the first user choice, neither this page nor one that embeds it may scroll.
    if (from) element("domains").querySelector(`[data-domain="${domain}"]`)?.scrollIntoView({block: "nearest"});
  }
  bestOf(row) {
    const {domain_bits: bits} = this.arrays;
    return this.domainsOf(row).reduce((best, d) => best < 0 || bits[d] > bits[best] ? d : best, -1);
  }
  lines(d) {
    const begin = this.lineBegins[d], end = begin + this.arrays.line_sizes[d], found = {};
    for (const name of ["model", "match", "target", "posterior"])
      found[name] = textOf(this.arrays[`${name}_line`].subarray(begin, end));
    return found;
  }
  drawDomains() {
    if (this.chosen < 0) return;
    const {arrays, data, chosen} = this, host = element("domains"), pieces = [];
    this.domainsOf(chosen).forEach((d, k) => {
      const head = made(
        "h3", "",
        `Domain ${k + 1}: ${asNumber(arrays.domain_bits[d])} bits, i-E-value ${
          asEvalue(arrays.domain_i_evalue[d])}, c-E-value ${asEvalue(arrays.domain_c_evalue[d])}, accuracy ${
          asShare(arrays.domain_accuracy[d])}${arrays.domain_is_included[d] ? "" : ", not included"}`);
      head.dataset.domain = d;
      pieces.push(head, ...domainBlocks(host, this.lines(d), {
                    modelName: shown(data.models.names[arrays.model_index[chosen]]),
                    sequenceName: shown(data.sequences.names[arrays.sequence_index[chosen]]),
                    modelBegin: arrays.domain_model_begin[d],
                    begin: arrays.domain_begin[d],
                  }));
    });
    host.replaceChildren(...pieces.length ? pieces : [made("p", "note", "No domain of this hit is reported.")]);
  }
}

openReport(HitsReport);
