/* Samples side by side: a bar per sample, with the taxa around the middle of the rings as pieces, in their colours.
 *
 *     gut    ######****....   1,234        a piece is the taxon's share of the sample's counts in the middle taxon;
 *     skin   ##*****.......     567        the last pieces are smaller taxa, and counts without a taxon below
 *     ## Bacilli  ** Clostridia
 */
const LINE = 20, BAR = 14, PIECES = 12;

/** `rings`; `samples`; `arrays`: counts by taxon and sample; `onChoose(taxon)`, `onSample(sample)`: it was clicked. */
class SampleBars extends Drawing {
  pieces = [];
  /** Show the taxa that are coloured when this taxon is in the middle, with their counts per sample. */
  show(root) {
    this.root = root;
    const {rings, arrays, samples} = this, {tree} = rings, fork = rings.fork(root), below = tree.children[fork];
    const few = below.length > PIECES ? PIECES - 1 : below.length, n = few + 2, of = new Int32Array(tree.n).fill(-1);
    of.fill(few + 1, root, tree.last[root]);
    below.forEach((child, number) => of.fill(Math.min(number, few), child, tree.last[child]));
    this.counts = samples.map(() => new Float64Array(n)), this.sums = new Float64Array(samples.length);
    arrays.node.forEach((node, i) => {
      const sample = arrays.sample[i], count = arrays.count[i];
      if (of[node] < 0 || sample >= samples.length) return;
      this.counts[sample][of[node]] += count, this.sums[sample] += count;
    });
    const name = (taxon) => taxon ? shown(rings.names[taxon]) : "all";
    this.pieces = below.slice(0, few).map((taxon, number) => ({taxon, name: name(taxon), hue: hueOf(number)}));
    this.pieces.push({taxon: fork, name: `${wholeOf(below.length - few)} others`, lightness: 1});
    this.pieces.push({taxon: fork, name: "no lower taxon", lightness: 0});
    this.pieces.forEach((piece, k) => piece.isSeen = this.counts.some((counts) => counts[k]));
    element("bars-title").textContent = `Samples side by side: ${name(root)}`;
    this.draw();
  }
  fill({hue, lightness}, isDark) {
    const [first, last, saturation] = isDark ? DARK : LIGHT;
    return hue === undefined ? hexOf(0, 0, lightness ? first : last) : hexOf(hue, saturation, first);
  }
  /** Measure the end of names and the start of numbers, and the rows of the legend. */
  measure() {
    if (!this.samples.length || !this.sums) return false;
    const font = MEASURER.font = `${LETTERS}px ${inks().sans}`, width = this.width = Math.max(200, this.inside);
    const most = (texts) => texts.reduce((a, text) => Math.max(a, MEASURER.measureText(text).width), 0);
    this.left = Math.min(most(this.samples.map(shown)) + 10, width * .35);
    this.right = width - most([...this.sums].map(wholeOf)) - 8;
    const seen = this.pieces.filter((piece) => piece.isSeen).map((piece) => ({piece, text: piece.name}));
    this.legend = legendRows(seen, font, {right: width, most: Math.min(220, width - 40)});
    this.height = this.samples.length * LINE + 12 + this.legend.length * LINE;
  }
  /** Call `act(sample, piece, from, to, count)` for each piece, in pixels. */
  eachPiece(act) {
    const {counts, sums, pieces, left, right} = this;
    counts.forEach((own, sample) => {
      let at = left;
      own.forEach((count, k) => {
        const to = at + count / (sums[sample] || 1) * (right - left);
        if (count) act(sample, pieces[k], at, to, count);
        at = to;
      });
    });
  }
  paint(brush, ink, isDark) {
    brush.font = `${LETTERS}px ${ink.sans}`;
    brush.textAlign = "left", brush.textBaseline = "middle";
    this.eachPiece((sample, piece, from, to) => {
      brush.fillStyle = this.fill(piece, isDark);
      brush.fillRect(from, sample * LINE + (LINE - BAR) / 2, Math.max(to - from - 1, .5), BAR);
    });
    this.samples.forEach((name, sample) => {
      const y = sample * LINE + LINE / 2;
      brush.fillStyle = ink.text;
      brush.fillText(fitted(brush, shown(name), this.left - 8), 0, y);
      brush.fillStyle = ink.quiet;
      brush.fillText(wholeOf(this.sums[sample]), this.right + 8, y);
    });
    this.legend.forEach((row, number) => {
      const y = (this.samples.length + number + .5) * LINE + 12;
      drawLegendRow(brush, ink, row, y, ({piece}) => [this.fill(piece, isDark)]);
    });
  }
  /** Sample, and the piece with its count, at a point of the canvas; null below the bars. */
  hit(x, y) {
    const sample = Math.floor(y / LINE);
    if (!this.counts || sample < 0 || sample >= this.samples.length) return null;
    let found = {sample};
    this.eachPiece((own, piece, from, to, count) => {
      if (own === sample && x >= from && x < to) found = {sample, piece, count};
    });
    return found;
  }
  told({sample, piece, count}) {
    const share = piece && `${wholeOf(count)}, ${percent(count / this.sums[sample])}`;
    return piece ? `${shown(this.samples[sample])}\n${piece.name} ${share}` : "";
  }
  click({sample, piece}) {
    piece ? this.onChoose(piece.taxon) : this.onSample(sample);
  }
}
