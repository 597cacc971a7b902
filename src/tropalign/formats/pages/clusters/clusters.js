/* The report of clusters: its tables, and their links to the size plot and the alignment. */
const asShare = (value) => Number.isNaN(value) ? "" : value.toFixed(4);
const asWhole = (value) => Number.isNaN(value) ? "" : value.toLocaleString("en", {maximumFractionDigits: 6});
/** Ratio of the largest to the smallest size above which axes are initially logarithmic. */
const WIDE = 20;

class ClustersPage {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, nClusters: arrays.label.length, nRows: arrays.length.length, row: -1});
    this.firstRow = begins(arrays.cluster_rows);
    this.clusterOf = new Uint32Array(this.nRows);
    for (let k = 0; k < this.nClusters; k++)
      this.clusterOf.fill(k, this.firstRow[k], this.firstRow[k] + arrays.cluster_rows[k]);
    this.letterBegins = begins(arrays.length.map((length, row) => arrays.has_letters[row] ? length : 0));
    this.pathBegins = begins(arrays.path_sizes);
    this.tell();
    this.addRanks();
    this.addTables();
    this.histogram = addHistogram(report, this.members, this.numbers(), "identity", (values, name) => {
      const [least, most] = extremes(values);
      return name === "identity" ? [Math.floor(20 * Math.min(least, .99)) / 20, 1, (value) => value.toFixed(3)] :
                                   wholeAxis(values);
    });
    this.listen();
    if (this.nClusters) this.openCluster(0);
  }
  /** Values of members; identity and score exclude representatives. */
  numbers() {
    const {identity, length, score, size} = this.arrays, isMember = (_, row) => !Number.isNaN(identity[row]);
    return {identity: identity.filter(isMember), score: score.filter(isMember), length, size};
  }
  name(row) {
    return shown(this.data.names[row]);
  }
  letters(row) {
    const begin = this.letterBegins[row];
    return textOf(this.arrays.letters.subarray(begin, begin + this.arrays.length[row]));
  }

  tell() {
    const {data, nClusters, nRows} = this, {identity, step_size: sizes, step_count: counts} = this.arrays;
    const members = identity.filter((value) => !Number.isNaN(value));
    const single = sizes.reduce((sum, size, step) => size === 1 ? sum + counts[step] : sum, 0);
    const which = nClusters < data.n_clusters ? `the first members of the ${asWhole(nClusters)} largest clusters` :
                                                "the first members of each cluster";
    const sequences = counted(data.n_sequences, "sequence");
    this.report.tell(
      `${sequences} in ${counted(data.n_clusters, "cluster")}`, {
        clusters: `${asWhole(data.n_clusters)}, ${asWhole(single)} of size 1`,
        sequences: asWhole(data.n_sequences),
        ...data.n_reads !== data.n_sequences && {reads: asWhole(data.n_reads)},
        ...members.length && {
          "mean identity": `${asShare(members.reduce((sum, value) => sum + value, 0) / members.length)} of members`,
        },
      },
      nRows === data.n_sequences ? "" :
                                   `The page is limited to ${which}, ${asWhole(nRows)} of ${
                                     sequences}. The sizes are of all clusters; the other outputs have all sequences.`);
  }

  addRanks() {
    const {arrays} = this, {step_size: size, step_count: count} = arrays;
    this.ranks = new Ranks(element("ranks"), {size, count}, {
      told: (k) => this.told(k),
      onChoose: (k) => this.openCluster(k, "ranks"),
      nKnown: this.nClusters,
    });
    this.ranks.isLog = size[0] > WIDE * size.at(-1);
    element("ranks-axes").value = this.ranks.isLog ? "log" : "linear";
    this.report.shows(this.ranks, "ranks", () => "cluster-sizes");
  }
  told(k) {
    const {arrays} = this, n = arrays.cluster_sequences[k];
    return [
      this.name(this.firstRow[k]), `rank ${asWhole(k + 1)}, cluster ${arrays.label[k]}`,
      `size ${asWhole(arrays.cluster_size[k])}, ${counted(n, "sequence")}`,
      ...n > 1 ? [`identity at least ${asShare(arrays.cluster_least[k])}`] : []
    ].join("\n");
  }

  addTables() {
    const {arrays, data, nClusters, nRows} = this;
    const number = (name, values, width, meaning, format = asWhole) =>
      numberColumn(name, values, width, format, meaning);
    const clusters = [
      textColumn("representative", this.firstRow, data.names, 230),
      number("cluster", arrays.label, 76, "number of the cluster in the other outputs", String),
      number("size", arrays.cluster_size, 80, "reads"),
      number("sequences", arrays.cluster_sequences, 98, "the representative and its members"),
      number("least", arrays.cluster_least, 84, "the lowest identity of a member", asShare),
      number("mean", arrays.cluster_mean, 84, "the mean identity of the members", asShare),
    ];
    this.clusters = addTable(clusters, nClusters, {
      title: "Clusters",
      find: "Find clusters by words in their representatives' names",
      file: "clusters.tsv",
      onChoose: (k) => this.openCluster(k, "table"),
      onRows: (rows) => this.ranks.mark(rows.length === nClusters ? null : rows),
    });
    const labels = Uint32Array.from(this.clusterOf, (k) => arrays.label[k]);
    const members = [
      textColumn("member", upTo(nRows), data.names, 210),
      number("cluster", labels, 76, "number of the cluster in the other outputs", String),
      number("identity", arrays.identity, 84, "identity with the representative", asShare),
      ...data.complements ? [strandColumn(arrays.strand, 72)] : [],
      number("length", arrays.length, 76, "residues"),
      number("size", arrays.size, 70, "reads"),
      number("score", arrays.score, 76, "score of the alignment with the representative"),
    ];
    this.members = addTable(members, nRows, {
      title: "Members",
      find: "Find members by name",
      file: "members.tsv",
      prefix: "members-",
      onChoose: (row) => this.openMember(row),
    });
  }

  /** List a cluster's members, and show the alignment of the first one. */
  openCluster(k, from) {
    if (from !== "table") this.clusters.choose(k, false);
    this.members.filter("cluster", `=${this.arrays.label[k]}`);
    const {rows} = this.members, first = this.firstRow[k];
    this.openMember(rows.find((row) => row !== first) ?? first);
    this.members.choose(this.row, false);
  }
  openMember(row) {
    this.row = row;
    const k = this.clusterOf[row], {arrays, data} = this, first = this.firstRow[k];
    this.ranks.choose(k, false);
    this.clusters.choose(k, false);
    const isAlone = row === first, listed = arrays.cluster_rows[k], all = arrays.cluster_sequences[k];
    element("member-title").textContent = isAlone ? this.name(row) : `${this.name(row)} and ${this.name(first)}`;
    fillTerms(element("member-facts"), {
      cluster: `${arrays.label[k]}: size ${asWhole(arrays.cluster_size[k])}, ${counted(all, "sequence")}${
        listed < all ? `, of which the page has the first ${asWhole(listed)}` : ""}`,
      ...isAlone ? {representative: this.name(row)} : {
        member: `${this.name(row)}, ${counted(arrays.length[row], "residue")}${
          arrays.strand[row] < 0 ? ", reverse strand" : ""}`,
        representative: `${this.name(first)}, ${counted(arrays.length[first], "residue")}`,
        alignment: `identity ${asShare(arrays.identity[row])}, score ${asWhole(arrays.score[row])}`,
      },
    });
    this.drawAlignment();
  }
  /** Reason why a row has no alignment; empty if it has one. */
  whyNone(row, first) {
    const {has_letters: has, path_sizes: sizes, member_start: starts} = this.arrays;
    if (row === first) return "This is the representative.";
    if (!has[row] || !has[first])
      return "These sequences are too large for the page: the other outputs have their CIGAR.";
    if (starts[row] < 0) return "This result is from an earlier version, which did not store alignment starts.";
    return sizes[row] ? "" : "This alignment is empty: no residues are paired.";
  }
  drawAlignment() {
    if (this.row < 0) return;
    const {arrays, data, row} = this, first = this.firstRow[this.clusterOf[row]], why = this.whyNone(row, first);
    element("member-note").textContent = why;
    element("alignment").hidden = !!why;
    if (why) return element("alignment").replaceChildren();
    const isReverse = arrays.strand[row] < 0, member = this.letters(row);
    const start = arrays.member_start[row], target = arrays.representative_start[row];
    const runs = runsAt(arrays.paths, this.pathBegins[row], this.pathBegins[row] + arrays.path_sizes[row]);
    const query = isReverse ? otherStrand(member, data.complements) : member;
    const rows = alignedRows(query, this.letters(first), start, target, runs, data.codes);
    drawAlignment(element("alignment"), rows, {
      topStart: isReverse ? member.length - start : start,
      bottomStart: target,
      topStep: isReverse ? -1 : 1,
    });
  }

  /** Save sequences as FASTA, 80 characters per line, and report those without residues on the page. */
  saveFasta(rows, file) {
    const {has_letters: has} = this.arrays, known = [...rows].filter((row) => has[row]);
    saveFasta(file, known, (row) => this.data.names[row], (row) => this.letters(row));
    const lost = rows.length - known.length;
    say(
      `${counted(known.length, "sequence")} saved${lost ? `; ${asWhole(lost)} more are too large for the page` : ""}`);
  }
  listen() {
    on("ranks-axes", "change", (event) => this.ranks.setAxes(event.target.value === "log"));
    on("save-fasta", "click", () => {
      this.saveFasta(this.clusters.rows.map((k) => this.firstRow[k]), "representatives.fasta");
    });
    on("members-save-fasta", "click", () => this.saveFasta(this.members.rows, "members.fasta"));
    this.report.drawnBy(() => this.drawAlignment(), element("member"));
  }
}

openReport(ClustersPage);
