/* The report of shortest paths: its table, and the links between table and graph. */
class PathsPage {
  constructor(report) {
    const {data, arrays} = report;
    Object.assign(this, {report, data, arrays, nTargets: arrays.target.length, row: 0, to: -1});
    this.rowOf = new Map([...arrays.source].map((vertex, row) => [vertex, row]));
    this.columnOf = new Map([...arrays.target].map((vertex, column) => [vertex, column]));
    this.tell();
    this.addTable();
    if (data.is_drawn && arrays.source.length) this.addGraph();
    else element("graph-card").hidden = true;
  }
  name(vertex) {
    return shown(this.data.names[vertex]);
  }
  asNumber(value) {
    return value === Infinity ? "inf" : String(+value.toPrecision(this.data.digits));
  }

  tell() {
    const {data, arrays} = this, {distance} = arrays, notes = [], count = (value) => value.toLocaleString("en");
    const finite = distance.filter((value) => value !== Infinity);
    if (!data.is_drawn)
      notes.push(`Graphs of up to ${count(data.most_vertices)} vertices are drawn: this page has only the table.`);
    if (distance.length < data.n_pairs)
      notes.push(`The table is limited to the first ${count(distance.length)} of ${
        count(data.n_pairs)} pairs; the other outputs have all of them.`);
    this.report.tell(
      `${count(data.n_vertices)} vertices${data.n_edges === null ? "" : `, ${counted(data.n_edges, "edge")}`}`, {
        "pairs": `${count(data.n_pairs)} from ${count(arrays.source.length)} of the vertices`,
        "without a path": count(distance.length - finite.length),
        ...finite.length && {"longest distance": this.asNumber(extremes(finite)[1])},
      },
      notes.join(" "));
  }

  addTable() {
    const {arrays, data, nTargets} = this, {distance, source, target} = arrays, n = distance.length;
    const columns = [
      textColumn("from", upTo(n).map((k) => source[k / nTargets | 0]), data.names, 130),
      textColumn("to", upTo(n).map((k) => target[k % nTargets]), data.names, 130),
      numberColumn("distance", distance, 110, (value) => this.asNumber(value), "the sum of the weights"),
    ];
    this.table = addTable(columns, n, {
      title: "Distances",
      find: "Find pairs by words in the names of their vertices",
      file: "distances.tsv",
      onChoose: (k) => this.graph && this.choose(k / nTargets | 0, target[k % nTargets], "table"),
    });
    const finite = distance.filter((value) => value !== Infinity);
    this.histogram = addHistogram(this.report, this.table, {distance: finite}, "distance", (values) => {
      const [least, most] = extremes(values);
      return [least, most, (value) => String(+value.toPrecision(3))];
    });
  }

  addGraph() {
    const {arrays, data} = this, {edge_source: sources, edge_target: targets, edge_is_both: isBoth, x, y} = arrays;
    const note = element("graph-note"), drawn = sources.length;
    note.hidden = drawn === data.n_drawable;
    note.textContent = `The ${drawn.toLocaleString("en")} lightest of ${
      data.n_drawable.toLocaleString("en")} edges and those of shortest paths are drawn.`;
    this.graph = new Graph(element("graph"), {
      x,
      y,
      edges: Array.from(sources, (from, k) => [from, targets[k], isBoth[k] === 1]),
      name: (v) => this.name(v),
      told: (v) => this.told(v),
      click: (v) => this.columnOf.has(v) ? this.choose(this.row, v) : say(`no distances to ${this.name(v)}`),
      clickTwice: (v) => v >= 0 &&
        (this.rowOf.has(v) ? this.choose(this.rowOf.get(v), this.to) : say(`no distances from ${this.name(v)}`)),
    });
    this.fill("from", arrays.source, (v) => this.choose(this.rowOf.get(v), this.to));
    this.fill("to", arrays.target, (v) => this.choose(this.row, v));
    this.choose(0, this.farthest(0));
    this.report.shows(this.graph, "graph");
  }
  fill(id, vertices, act) {
    for (const v of vertices) element(id).add(new Option(this.name(v), v));
    on(id, "change", (event) => act(Number(event.target.value)));
  }
  /** Farthest reachable vertex from a source. */
  farthest(row) {
    const {distance, target} = this.arrays;
    let best = target[0], most = -Infinity;
    for (let column = 0; column < this.nTargets; column++) {
      const value = distance[row * this.nTargets + column];
      if (value !== Infinity && value > most) best = target[column], most = value;
    }
    return best;
  }
  distance(row, vertex) {
    return this.arrays.distance[row * this.nTargets + this.columnOf.get(vertex)];
  }
  told(vertex) {
    const from = this.name(this.arrays.source[this.row]);
    if (!this.columnOf.has(vertex)) return this.name(vertex);
    return `${this.name(vertex)}\n${this.asNumber(this.distance(this.row, vertex))} from ${from}`;
  }
  /** Vertices of the shortest path from the source of a row; empty if there is no path. */
  route(row, to) {
    const {before, source} = this.arrays, n = this.data.n_vertices, found = [to];
    while (found[0] !== source[row]) {
      const previous = before[row * n + found[0]];
      if (previous < 0) return [];
      found.unshift(previous);
    }
    return found;
  }
  /** Show the paths from the source of a row, and the one to a vertex. */
  choose(row, to, from) {
    Object.assign(this, {row, to});
    const {before, source} = this.arrays, n = this.data.n_vertices, route = this.route(row, to), tree = [];
    for (let v = 0; v < n; v++)
      if (v !== source[row] && before[row * n + v] >= 0) tree.push([before[row * n + v], v]);
    this.graph.show(tree, route.length ? route : [to]);
    element("from").value = source[row], element("to").value = to;
    fillTerms(element("route"), {
      path: route.length ? route.map((v) => this.name(v)).join(" → ") : "none",
      distance:
        `${this.asNumber(this.distance(row, to))}${route.length > 1 ? `, ${counted(route.length - 1, "edge")}` : ""}`,
    });
    if (from !== "table") this.table.choose(row * this.nTargets + this.columnOf.get(to), false);
  }
}

openReport(PathsPage);
