/* Tracks above the columns: ruler, logo, consensus and bars. */
const STEPS = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
const GLYPH_FONT = `bold 100px ${MONO}`;

class Tracks {
  constructor(sheet) {
    this.sheet = sheet;
    const {px, alignment, ink} = sheet;
    const bars = (values, colour, least) => (track, from, to) => this.drawBars(track, from, to, values, colour, least);
    const hue = (value) => css(sheet.shade(along(UNSURE_TO_SURE, value)));
    const make = (title, height, draw) => ({title, height, draw});
    this.list = [make("", px(24), this.drawRuler), make("Logo (bits)", px(60), this.drawLogo)];
    if (sheet.hasLetters) this.list.push(make("Consensus", sheet.cellHeight + px(4), this.drawConsensus));
    this.list.push(make("Conservation", px(26), bars(alignment.conservation, () => ink.bar)));
    if (alignment.columnAgreement)
      this.list.push(make("Agreement", px(26), bars(alignment.columnAgreement, hue, px(2))));
    if (alignment.columnConfidence) this.list.push(make("Confidence", px(26), bars(alignment.columnConfidence, hue)));
    this.list.push(make("Residues", px(18), bars(alignment.occupancy, () => ink.faint)));
    let top = 0;
    for (const track of this.list) {
      track.top = top;
      top += track.height;
    }
    this.height = top;
    this.glyphs = glyphsOf(RESIDUES[alignment.kind]);
    this.inks = logoColours(alignment.kind).map((hue) => css(sheet.isDark ? mix(hue, [255, 255, 255], .72) : hue));
  }

  draw(from, to) {
    for (const track of this.list) track.draw.call(this, track, from, to);
  }

  drawTitles() {
    const {brush, ink, pane, px, trackFont} = this.sheet;
    brush.font = trackFont;
    brush.textAlign = "right";
    brush.textBaseline = "middle";
    brush.fillStyle = ink.quiet;
    for (const {title, top, height} of this.list) brush.fillText(title, pane - px(10), top + height / 2 + 1);
    brush.textAlign = "left";
    brush.textBaseline = "alphabetic";
  }

  drawRuler({height}, from, to) {
    const {brush, ink, px, cellWidth, trackFont} = this.sheet;
    const step = STEPS.find((n) => n * cellWidth >= px(56)) ?? STEPS.at(-1), minor = step === 10 ? 5 : step / 10;
    brush.font = trackFont;
    brush.textAlign = "center";
    const {columnOf} = this.sheet.alignment;
    for (let column = from; column < Math.min(to + step, columnOf.length); column++) {
      const number = columnOf[column] + 1, isMajor = number % step === 0, tall = px(isMajor ? 6 : 4);
      if (columnOf[column] !== (column ? columnOf[column - 1] + 1 : 0)) {  // hidden columns before it
        brush.fillStyle = ink.accent;
        brush.fillRect(Math.round(this.sheet.x(column)) - px(1), 0, px(2), height);
      }
      if (number % minor) continue;
      const x = Math.round(this.sheet.x(column + .5));
      brush.fillStyle = isMajor ? ink.quiet : ink.line;
      brush.fillRect(x, height - tall, px(1), tall);
      if (isMajor) brush.fillText(number.toLocaleString("en"), x, height - px(9));
    }
    brush.textAlign = "left";
  }

  /** Draw residues with heights by their share of the column's information, the largest on top. */
  drawLogo({top, height}, from, to) {
    const {alignment, brush, cellWidth, px} = this.sheet, floor = top + height - px(2), hasLetters = cellWidth >= px(6);
    const unit = (height - px(8)) / Math.log2(RESIDUES[alignment.kind].length);
    brush.font = GLYPH_FONT;
    for (let column = from; column < to; column++) {
      const tall = alignment.information[column] * unit, stack = [];
      if (tall < 1) continue;
      for (const glyph of this.glyphs) {
        const share = alignment.counts[column * SLOTS + glyph.slot] / alignment.plain[column];
        if (share) stack.push([share * tall, glyph]);
      }
      stack.sort((a, b) => a[0] - b[0] || b[1].slot - a[1].slot);
      if (!hasLetters) stack.splice(0, stack.length, [tall, stack.at(-1)[1]]);  // one bar
      let y = floor;
      for (const [high, glyph] of stack) {
        brush.fillStyle = this.inks[glyph.slot];
        if (hasLetters && high >= 2) this.drawGlyph(glyph, this.sheet.x(column), y, cellWidth, high);
        else brush.fillRect(this.sheet.x(column), y - high, cellWidth, high);
        y -= high;
      }
    }
  }
  drawGlyph({letter, left, bottom, wide, tall}, x, y, width, height) {
    const {brush} = this.sheet, across = .94 * width / wide, up = height / tall;
    brush.setTransform(across, 0, 0, up, x + .03 * width + left * across, y - bottom * up);
    brush.fillText(letter, 0, 0);
    brush.setTransform(1, 0, 0, 1, 0, 0);
  }

  drawConsensus({top}, from, to) {
    const {alignment, brush, ink, cellWidth, cellHeight} = this.sheet;
    brush.font = `bold ${Math.round(cellHeight * .74)}px ${MONO}`;
    brush.textAlign = "center";
    for (let column = from; column < to; column++) {
      const letter = alignment.consensus[column];
      brush.fillStyle = letter === "-" ? ink.faint : letter === letter.toUpperCase() ? ink.text : ink.quiet;
      brush.fillText(letter, this.sheet.x(column) + cellWidth / 2, top + cellHeight * .8);
    }
    brush.textAlign = "left";
  }

  /** Draw a bar of at least `least` pixels per column, unless its value is NaN. */
  drawBars({top, height}, from, to, values, colour, least = 0) {
    const {brush, cellWidth, ink, px} = this.sheet, gap = cellWidth > px(4) ? px(1) : 0, floor = top + height - px(1);
    for (let column = from; column < to; column++) {
      if (Number.isNaN(values[column])) continue;
      const high = Math.max(least, Math.round(values[column] * (height - px(5))));
      brush.fillStyle = colour(values[column]);
      brush.fillRect(this.sheet.x(column), floor - high, cellWidth - gap, high);
    }
    brush.fillStyle = ink.line;
    brush.fillRect(this.sheet.x(from), floor, (to - from) * cellWidth, px(1));
  }
}

/** Glyphs with their ink bounds, to scale them to any height. */
function glyphsOf(letters) {
  const brush = new OffscreenCanvas(1, 1).getContext("2d");
  brush.font = GLYPH_FONT;
  return [...letters].map((letter) => {
    const {
      actualBoundingBoxLeft: left,
      actualBoundingBoxRight: right,
      actualBoundingBoxAscent: ascent,
      actualBoundingBoxDescent: bottom
    } = brush.measureText(letter);
    return {letter, slot: slotOfLetter(letter), left, bottom, wide: left + right, tall: ascent + bottom};
  });
}
