/* The alignment: its residues, column counts, derived values and tree. Nothing is drawn here.
 * A slot is the index of a residue's count: 1 to 26 for A to Z in either case, 0 for *, 31 for gaps.
 */
const GAP = 31, SLOTS = 32;
const RESIDUES = {
  protein: "ARNDCQEGHILKMFPSTWYV",
  nucleotide: "ACGT"
};
/* Residue frequencies in BLOSUM62's blocks (Henikoff and Henikoff 1992), in the order above. */
const BACKGROUND = {
  protein: [
    .078, .051, .041, .052, .024, .034, .059, .083, .025, .062,
    .092, .056, .024, .043, .043, .059, .055, .014, .034, .072
  ],
  nucleotide: [.25, .25, .25, .25],
};

class Alignment {
  constructor(given) {
    Object.assign(this, {
      title: given.title,
      names: given.names,
      descriptions: given.descriptions,
      kind: given.kind,
      nColumns: given.n_columns
    });
    this.newick = given.tree;
    this.nRows = this.names.length;
    this.letters = lettersOf(given);  // row after row
    this.slotOf = slots(this.kind);
    this.count();
    this.confidence = given.confidence && this.spread(bytesOf(given.confidence));
    this.columnConfidence =
      given.column_confidence && Float32Array.from(bytesOf(given.column_confidence), (b) => b / 255);
    this.agreement = given.agreement ? this.spread(bytesOf(given.agreement)) : null;
    this.columnAgreement = given.column_agreement ? Float32Array.from(bytesOf(given.column_agreement), shareOf) : null;
    this.measure();
    this.nodes = this.newick ? nodesOf(this.newick, this.names) : null;
    this.rowOf = this.rowPlace = Int32Array.from(this.names, (_, row) => row);
    this.columnOf = this.columnPlace = Int32Array.from({length: this.nColumns}, (_, column) => column);
    this.tree = this.nodes && treeOf(this.nodes, this.rowPlace);
    this.setFeatures(given.features ?? []);
  }

  /** Group features by row, with first and last column, and a lane if some overlap. */
  setFeatures(features) {
    this.kinds = [...new Set(features.map(([, , , kind]) => kind))];
    this.features = new Map();
    for (const [row, ofRow] of Map.groupBy(features, ([row]) => row)) {
      const {columns} = this.ungapped(row), ends = [];
      this.features.set(row, ofRow.toSorted((a, b) => a[1] - b[1]).map(([, begin, end, kind, name]) => {
        let lane = ends.findIndex((last) => last <= begin);
        if (lane < 0) lane = ends.length;
        ends[lane] = end;
        return {begin: columns[begin], end: columns[end - 1] + 1, kind, name, lane};
      }));
    }
  }
  /**
   * Return the alignment of some rows and columns, with new counts. rowOf and columnOf are the indices of its rows
   * and columns in this alignment; rowPlace and columnPlace map the other way, -1 for hidden ones.
   */
  part(rows, columns) {
    const found = Object.create(Alignment.prototype), {nColumns} = this;
    const cells = (values) => {
      const taken = new Uint8Array(rows.length * columns.length);
      let k = 0;
      for (const row of rows)
        for (const column of columns) taken[k++] = values[row * nColumns + column];
      return taken;
    };
    const places = (chosen, n) => {
      const place = new Int32Array(n).fill(-1);
      chosen.forEach((one, k) => {
        place[one] = k;
      });
      return place;
    };
    Object.assign(found, {
      title: this.title,
      kind: this.kind,
      newick: this.newick,
      names: rows.map((row) => this.names[row]),
      descriptions: rows.map((row) => this.descriptions[row]),
      nRows: rows.length,
      nColumns: columns.length,
      slotOf: this.slotOf,
      letters: cells(this.letters),
      confidence: this.confidence && cells(this.confidence),
      columnConfidence: this.columnConfidence && Float32Array.from(columns, (column) => this.columnConfidence[column]),
      agreement: this.agreement && cells(this.agreement),
      columnAgreement: this.columnAgreement && Float32Array.from(columns, (column) => this.columnAgreement[column]),
      rowOf: Int32Array.from(rows),
      columnOf: Int32Array.from(columns),
      rowPlace: places(rows, this.nRows),
      columnPlace: places(columns, nColumns),
    });
    found.count();
    found.measure();
    found.tree = this.nodes && treeOf(this.nodes, found.rowPlace);
    found.kinds = this.kinds;
    found.features = new Map(rows.filter((row) => this.features.has(row)).map((row) => {
      const shown = (one) => found.span(one.begin, one.end), own = this.features.get(row).filter(shown);
      return [found.rowPlace[row], own.map((one) => ({...one, ...shown(one)}))];
    }));
    return found;
  }
  /** Return the columns here that show a span of the full alignment; null if all of it is hidden. */
  span(begin, end) {
    const places = this.columnPlace.subarray(begin, end).filter((place) => place >= 0);
    return places.length ? {begin: places[0], end: places.at(-1) + 1} : null;
  }
  count() {
    this.counts = new Uint32Array(this.nColumns * SLOTS);
    for (let row = 0, cell = 0; row < this.nRows; row++)
      for (let column = 0; column < this.nColumns; column++, cell++)
        this.counts[column * SLOTS + this.slotOf[this.letters[cell]]]++;
  }

  /** Spread values of residues to cells, 0 for gaps. */
  spread(values) {
    const cells = new Uint8Array(this.letters.length);
    for (let cell = 0, k = 0; cell < cells.length; cell++)
      if (this.slotOf[this.letters[cell]] !== GAP) cells[cell] = values[k++];
    return cells;
  }

  /** Compute consensus, information, conservation and occupancy of every column; the page's help has the formulas. */
  measure() {
    const kinds = [...RESIDUES[this.kind]].map((letter) => letter.charCodeAt(0) & 31),
          background = BACKGROUND[this.kind];
    const make = () => new Float32Array(this.nColumns);
    Object.assign(this, {occupancy: make(), information: make(), conservation: make(), consensusShare: make()});
    this.plain = new Uint32Array(this.nColumns);  // unambiguous residues
    this.consensus = new Array(this.nColumns);
    for (let column = 0; column < this.nColumns; column++) {
      const counts = this.counts.subarray(column * SLOTS, (column + 1) * SLOTS);
      const total = kinds.reduce((sum, slot) => sum + counts[slot], 0);
      this.plain[column] = total;
      this.occupancy[column] = this.nRows ? 1 - counts[GAP] / this.nRows : 0;
      let entropy = 0, divergence = 0;
      kinds.forEach((slot, k) => {
        const share = total ? counts[slot] / total : 0, middle = (share + background[k]) / 2;
        if (share) entropy -= share * Math.log2(share), divergence += share / 2 * Math.log2(share / middle);
        divergence += background[k] / 2 * Math.log2(background[k] / middle);
      });
      if (total) {
        const correction = (kinds.length - 1) / (2 * Math.LN2 * total);
        this.information[column] = Math.max(0, Math.log2(kinds.length) - entropy - correction) * this.occupancy[column];
        this.conservation[column] = divergence * this.occupancy[column];
      }
      let best = 1;
      for (let slot = 2; slot <= 26; slot++)
        if (counts[slot] > counts[best]) best = slot;
      const share = this.consensusShare[column] = this.nRows ? counts[best] / this.nRows : 0;
      const letter = counts[best] ? String.fromCharCode(96 + best) : "x";
      this.consensus[column] = 2 * counts[GAP] > this.nRows ? "-" : share >= .5 ? letter.toUpperCase() : letter;
    }
  }

  /** True if a column has a gap, or two different unambiguous residues. */
  varies(column) {
    const counts = this.counts.subarray(column * SLOTS, (column + 1) * SLOTS);
    const kinds = [...RESIDUES[this.kind]].filter((letter) => counts[letter.charCodeAt(0) & 31]);
    return counts[GAP] > 0 || kinds.length > 1;
  }
  slot(row, column) {
    return this.slotOf[this.letters[row * this.nColumns + column]];
  }
  letter(row, column) {
    return String.fromCharCode(this.letters[row * this.nColumns + column]);
  }
  text(row, begin, end) {
    return String.fromCharCode(...this.letters.subarray(row * this.nColumns + begin, row * this.nColumns + end));
  }
  /** Number of residues of a row up to and including a column. */
  residue(row, column) {
    let n = 0;
    for (let c = 0; c <= column; c++) n += this.slot(row, c) !== GAP;
    return n;
  }
  /** Return a row without gaps, in upper case, and the column of each residue. */
  ungapped(row) {
    const columns = [];
    let text = "";
    for (let c = 0; c < this.nColumns; c++)
      if (this.slot(row, c) !== GAP) columns.push(c), text += this.letter(row, c);
    return {text: text.toUpperCase(), columns};
  }
  /** Return rows (of the input) between columns as FASTA with 80 characters per line. */
  fasta(rows, begin, end) {
    return rows
      .map((row) => {
        const lines = [`>${this.names[row]} ${this.descriptions[row] ?? ""}`.trimEnd()];
        for (let c = begin; c < end; c += 80) lines.push(this.text(row, c, Math.min(c + 80, end)));
        return lines.join("\n") + "\n";
      })
      .join("");
  }
}

/**
 * Return the letters, row after row. Rows that are alike are given as one text, and per row its differences to that:
 * the number of equal letters before each, and the letters.
 */
function lettersOf({letters, common, changes}) {
  const codes = (text) => Uint8Array.from({length: text.length}, (_, k) => text.charCodeAt(k));
  if (letters !== undefined) return codes(letters);
  const row = codes(common), found = new Uint8Array(changes.length * row.length);
  changes.forEach((parts, k) => {
    found.set(row, k * row.length);
    let at = k * row.length;
    for (let part = 0; part < parts.length; part += 2) {
      at += parts[part];
      found.set(codes(parts[part + 1]), at);
      at += parts[part + 1].length;
    }
  });
  return found;
}

/** Decode a share of agreement: NaN for byte 0, otherwise the byte is 1 + 200 times the share. */
const shareOf = (byte) => byte ? (byte - 1) / 200 : NaN;

function slots(kind) {
  const table = new Uint8Array(256).fill(GAP);
  for (let k = 1; k <= 26; k++) table[64 + k] = table[96 + k] = k;
  table["*".charCodeAt(0)] = 0;
  if (kind === "nucleotide") table["U".charCodeAt(0)] = table["u".charCodeAt(0)] = "T".charCodeAt(0) & 31;
  return table;
}

/**
 * Parse Newick into arrays over nodes, parents before children: parent, depth, whether a node is inner, and the row
 * of a leaf. Null if the leaves are not the names.
 */
function nodesOf(newick, names) {
  const rowOf = new Map(names.map((name, row) => [name, row]));
  const parent = [-1], depth = [0], label = [""];
  let at = 0, isLength = false;
  const child = (of) => (parent.push(of), depth.push(0), label.push(""), parent.length - 1);
  for (const [token] of newick.matchAll(/\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()[\]',:;]+/g)) {
    if (token === "(") at = child(at);
    else if (token === ",") at = child(parent[at]);
    else if (token === ")") at = parent[at];
    else if (token === ":") {
      isLength = true;
      continue;
    } else if (token === ";" || token[0] === "[") continue;
    else if (isLength) depth[at] = Math.max(0, Number(token) || 0);
    else label[at] = token[0] === "'" ? token.slice(1, -1).replaceAll("''", "'") : token;
    isLength = false;
    if (at < 0) return null;
  }
  const isInner = new Uint8Array(parent.length), row = new Int32Array(parent.length).fill(-1), seen = new Set();
  for (let k = 1; k < parent.length; k++) depth[k] += depth[parent[k]], isInner[parent[k]] = 1;
  for (let k = 0; k < parent.length; k++) {
    if (isInner[k]) continue;
    row[k] = rowOf.get(label[k]) ?? rowOf.get(label[k].replaceAll("_", " ")) ?? -1;
    if (row[k] < 0 || seen.has(row[k])) return null;
    seen.add(row[k]);
  }
  return seen.size === names.length ? {parent, depth, isInner, row} : null;
}

/**
 * Return the layout of a tree: y (in rows), the first and last child's y, NaN if no row below is shown; the rows in
 * tree order, and their leaves. `place` is the position of each row, -1 if it is hidden.
 */
function treeOf(nodes, place) {
  const {parent, depth, isInner, row} = nodes, n = parent.length, order = [], leaves = [];
  const y = new Float64Array(n).fill(NaN);
  const top = new Float64Array(n).fill(Infinity), bottom = new Float64Array(n).fill(-Infinity);
  for (let k = 0; k < n; k++) {
    if (isInner[k] || place[row[k]] < 0) continue;
    y[k] = order.length;
    order.push(place[row[k]]);
    leaves.push(k);
  }
  for (let k = n - 1; k >= 0; k--) {
    if (isInner[k] && top[k] <= bottom[k]) y[k] = (top[k] + bottom[k]) / 2;
    if (!k || Number.isNaN(y[k])) continue;
    top[parent[k]] = Math.min(top[parent[k]], y[k]);
    bottom[parent[k]] = Math.max(bottom[parent[k]], y[k]);
  }
  const deepest = depth.reduce((a, b) => Math.max(a, b), 0);
  return {parent, depth, y, top, bottom, isInner, leaves, order: Int32Array.from(order), deepest};
}
