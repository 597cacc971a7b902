/* The page of taxa: its samples, and the links between rings, table and facts of a taxon. */
class TaxaPage {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, tree: new TaxonTree(arrays.parent), sample: -1});
    this.lineages = data.names.map((_, k) => this.tree.above(k).slice(1).map((at) => data.names[at]).join("; "));
    this.names = data.names.map((name, k) => k ? name : "all placed");
    const own = this.own(-1);
    this.counts = this.tree.sums(own), this.ownCounts = own, this.shares = new Float64Array(this.tree.n);
    this.reads = this.tree.sums(arrays.reads);
    this.tree.arrange(this.counts);
    this.tell();
    this.rings = new Rings(element("rings"), this.tree, this.names, {
      told: (k) => this.told(k),
      onChoose: (k) => this.choose(k, "rings"),
      onRoot: (k) => this.trail(k),
    });
    this.table = addTable(this.columns(), this.tree.n, {
      title: "Table",
      find: "Find taxa by words in their lineages",
      file: "taxa.tsv",
      onChoose: (k) => this.choose(k, "table"),
      onRows: (rows) => this.rings.sums && this.rings.mark(rows.length === this.tree.n ? null : rows),
    });
    this.bars = new SampleBars(element("bars"), {
      rings: this.rings,
      arrays,
      samples: data.samples.slice(0, MOST_SAMPLES),
      onChoose: (k) => this.choose(k),
      onSample: (sample) => this.turnTo(sample),
    });
    this.fillSamples();
    this.setSample(-1);
    this.table.sort("count");
    this.listen();
    this.choose(0);
    report.shows(this.rings, "rings", () => `taxa${this.sample < 0 ? "" : `-${this.sampleName()}`}`);
    report.shows(this.bars, "bars", () => "samples");
  }
  /** Counts of each taxon in a sample, without the taxa below it; -1: of all samples. */
  own(sample) {
    const found = new Float64Array(this.tree.n), {node, sample: of, count} = this.arrays;
    for (let i = 0; i < node.length; i++)
      if (sample < 0 || of[i] === sample) found[node[i]] += count[i];
    return found;
  }
  columns() {
    const rows = upTo(this.tree.n),
          number = (name, values, width, meaning, format = wholeOf) =>
            numberColumn(name, values, width, format, meaning);
    return [
      textColumn("taxon", rows, this.names, 170),
      number("count", this.counts, 92, "sum of the counts of its reads and of those of lower taxa"),
      number(
        "share", this.shares, 80, "share of all placed reads of the sample, in percent",
        (value) => percent(value / 100)),
      number("own", this.ownCounts, 84, "counts that are assigned to no lower taxon"),
      number("reads", this.reads, 76, "placed reads, in all samples together"),
      number("rank", this.tree.depth, 66, "rank within the lineage, 1 for the first"),
      textColumn("lineage", rows, this.lineages, 420),
    ];
  }
  tell() {
    const {data, arrays, tree} = this, n = data.samples.length;
    const unplaced = arrays.unplaced.reduce((sum, value) => sum + value, 0);
    const taxa = counted(tree.n - 1, "taxon").replace("taxons", "taxa");
    this.report.tell(`${wholeOf(this.counts[0])} in ${taxa}${n ? `, ${counted(n, "sample")}` : ""}`, {
      placed: `${counted(this.reads[0], "read")}, count ${wholeOf(this.counts[0])}`,
      ...data.unplaced_reads && {"not placed": `${counted(data.unplaced_reads, "read")}, count ${wholeOf(unplaced)}`},
      ...n && {samples: wholeOf(n)},
    });
  }
  fillSamples() {
    const {samples} = this.data, select = element("sample");
    element("sample-label").hidden = element("bars-card").hidden = !samples.length;
    element("bars-left-out").hidden = samples.length <= MOST_SAMPLES;
    element("bars-left-out").textContent = leftOut(samples.length);
    select.replaceChildren(new Option("all together", -1), ...samples.map((name, k) => new Option(shown(name), k)));
  }
  /** Show the numbers of another sample in rings and table. */
  setSample(sample) {
    this.sample = sample;
    this.ownCounts.set(this.own(sample));
    this.counts.set(this.tree.sums(this.ownCounts));
    for (let k = 0; k < this.tree.n; k++) this.shares[k] = 100 * this.share(k, 0);
    this.rings.show(this.counts);
    this.table.arrange();
    if (this.chosen !== undefined) this.choose(this.chosen);
  }
  /** Switch to a sample that the user chose. */
  turnTo(sample) {
    element("sample").value = sample;
    this.setSample(sample);
    say(`${this.sampleName() || "All samples"}: ${wholeOf(this.counts[0])}`);
  }
  share(k, of) {
    return this.counts[of] ? this.counts[k] / this.counts[of] : 0;
  }
  sampleName() {
    return this.sample < 0 ? "" : shown(this.data.samples[this.sample]);
  }
  facts(k) {
    const {tree, counts, ownCounts} = this, above = tree.parent[k];
    return {
      count: wholeOf(counts[k]),
      ...k && {share: `${percent(this.share(k, 0))} of all placed`},
      ...above > 0 && {"": `${percent(this.share(k, above))} of ${shown(this.names[above])}`},
      ...tree.children[k].length && ownCounts[k] && {"no lower taxon": wholeOf(ownCounts[k])},
      reads: wholeOf(this.reads[k]),
    };
  }
  told(k) {
    const name = k ? shown(this.lineages[k]) : "All placed reads", sample = this.sampleName();
    const lines = Object.entries(this.facts(k)).map(([term, meaning]) => term ? `${term} ${meaning}` : meaning);
    return [name, ...sample && [`in ${sample}`], ...lines].join("\n");
  }
  /** Mark a taxon in rings and table, and show its counts in each sample. */
  choose(k, from) {
    this.chosen = k;
    if (from !== "rings") this.rings.choose(k, false);
    if (from !== "table") this.table.choose(k, false);
    element("taxon-title").textContent = k ? shown(this.names[k]) : "All placed reads";
    fillTerms(element("taxon-facts"), {...k && {lineage: shown(this.lineages[k])}, ...this.facts(k)});
    this.tellSamples(k);
  }
  tellSamples(k) {
    const {data, arrays, tree} = this, n = data.samples.length, counts = new Float64Array(n), all = new Float64Array(n);
    const {node, sample, count} = arrays;
    for (let i = 0; n && i < node.length; i++) {
      all[sample[i]] += count[i];
      if (node[i] >= k && node[i] < tree.last[k]) counts[sample[i]] += count[i];
    }
    element("of-samples").hidden = !n;
    const most = counts.reduce((a, b, i) => Math.max(a, all[i] ? b / all[i] : 0), 0);
    element("sample-rows").replaceChildren(...data.samples.slice(0, MOST_SAMPLES).map((name, i) => {
      const share = all[i] ? counts[i] / all[i] : 0, line = made("tr"), bar = made("div");
      bar.style.width = `${100 * share / (most || 1)}%`;
      const cells = [
        made("th", "name", shown(name)), made("td", "number", wholeOf(counts[i])), made("td", "number", percent(share)),
        made("td", "bar")
      ];
      cells[0].scope = "row";
      cells[3].append(bar);
      line.append(...cells);
      return line;
    }));
    element("samples-left-out").hidden = n <= MOST_SAMPLES;
    element("samples-left-out").textContent = leftOut(n);
  }
  /** Show the path of taxa down to the one in the middle, as buttons. */
  trail(k) {
    element("trail").replaceChildren(...this.tree.above(k).map((at) => {
      const button = made("button", "name", at ? shown(this.names[at]) : "all");
      button.type = "button";
      button.disabled = at === k;
      button.addEventListener("click", () => this.rings.setRoot(at));
      return button;
    }));
    element("rings-up").disabled = element("rings-whole").disabled = !k;
    if (this.bars.root !== k) this.bars.show(k);
  }
  listen() {
    const {rings} = this;
    on("sample", "change", (event) => this.turnTo(Number(event.target.value)));
    on("rings-up", "click", () => rings.press({key: "Backspace"}));
    on("rings-whole", "click", () => rings.press({key: "0"}));
  }
}

/** Maximum number of samples whose counts are shown. */
const MOST_SAMPLES = 500;

function leftOut(n) {
  return `The first ${wholeOf(MOST_SAMPLES)} of ${counted(n, "sample")}.`;
}

/** Format a share in percent, with significant digits only. */
function percent(share) {
  const value = 100 * share;
  return `${value >= 10 || !value ? +value.toFixed(1) : +value.toPrecision(2)} %`;
}

openReport(TaxaPage);
