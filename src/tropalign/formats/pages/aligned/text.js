/* Output of the page: motifs as regular expressions, FASTA, files and print. */
const IUPAC =
  Object.fromEntries("R:AG Y:CTU S:CG W:ATU K:GTU M:AC B:CGTU D:AGTU H:ACTU V:ACG N:ACGTU T:TU U:TU".split(" ").map(
    (word) => word.split(":")));
const MOST_COLOURED = 200_000, PRINT_COLUMNS = 100, PRINT_NAME = 24;

/** Convert a PROSITE motif (dashes are optional) to a regular expression; null if it is invalid. */
function motifOf(text, kind) {
  const element = /(\[[A-Z*]+\]|\{[A-Z*]+\}|[A-Z*])(?:\((\d{1,4})(?:,(\d{1,4}))?\))?/y;
  const words = text.toUpperCase().replace(/[\s.-]/g, "");
  const begin = words.startsWith("<") ? 1 : 0, end = words.length - (words.endsWith(">") ? 1 : 0);
  const meaning = (letter) => (kind === "nucleotide" && IUPAC[letter]) || letter.replace("*", "\\*");
  let pattern = begin ? "^" : "";
  for (element.lastIndex = begin; element.lastIndex < end;) {
    const found = element.exec(words);
    if (!found) return null;
    const [, what, least, most] = found, letters = [...what.replace(/[[\]{}]/g, "")].map(meaning).join("");
    pattern += what === "X" ? "[A-Z*]" : what[0] === "{" ? `[^${letters}]` : `[${letters}]`;
    if (least) pattern += most ? `{${least},${most}}` : `{${least}}`;
    if (most && Number(most) < Number(least)) return null;
  }
  return end > begin ? new RegExp(pattern + (end < words.length ? "$" : ""), "g") : null;
}

/** Find a motif, including overlapping matches: row, and columns from its first residue to its last. */
function findMotif(alignment, pattern) {
  const hits = [];
  for (let row = 0; row < alignment.nRows; row++) {
    const {text, columns} = alignment.ungapped(row);
    pattern.lastIndex = 0;
    for (let found; (found = pattern.exec(text)); pattern.lastIndex = found.index + 1)
      hits.push({row, begin: columns[found.index], end: columns[found.index + found[0].length - 1] + 1});
  }
  return hits;
}

function findName(alignment, text) {
  const sought = text.toLowerCase();
  return alignment.names.flatMap((name, row) => (name.toLowerCase().includes(sought) ? [{row}] : []));
}

/**
 * Lay out the selection, or everything, as blocks of rows for print; in colour unless that is too much for a
 * browser.
 */
function fillPrint(section, sheet) {
  const {alignment, order} = sheet;
  const {top, bottom, left, right} =
    sheet.selection ?? {top: 0, bottom: alignment.nRows, left: 0, right: alignment.nColumns};
  const isColoured = (bottom - top) * (right - left) <= MOST_COLOURED;
  section.replaceChildren(made("h1", "", alignment.title), made("p", "", element("facts").textContent));
  const digits = String((alignment.columnOf[right - 1] ?? 0) + 1).length;
  for (let from = left; from < right; from += PRINT_COLUMNS) {
    const to = Math.min(from + PRINT_COLUMNS, right), block = made("pre");
    const first = alignment.columnOf[from] + 1, last = String(alignment.columnOf[to - 1] + 1);
    block.classList.toggle("short", bottom - top <= 50);
    const label = `${" ".repeat(PRINT_NAME + 2)}${first}`;
    block.append(`${label.padEnd(PRINT_NAME + 2 + to - from - digits)}${last.padStart(digits)}\n`);
    for (let line = top; line < bottom; line++) {
      block.append(`${[...shown(alignment.names[order[line]])].slice(0, PRINT_NAME).join("").padEnd(PRINT_NAME)}  `);
      const runs = isColoured ? colourRuns(sheet, order[line], from, to) : [[from, to, null]];
      for (const [begin, end, colour] of runs) {
        const run = made("span", "", alignment.text(order[line], begin, end));
        if (colour) run.style.background = colour;
        block.append(run);
      }
      block.append("\n");
    }
    section.append(block);
  }
}

/** Runs of one colour in a row: begin, end, and the colour on white, null for none. */
function* colourRuns({alignment, scheme}, row, from, to) {
  const colour = (column) => {
    const slot = alignment.slot(row, column);
    return slot === GAP ? 0 : scheme.of(row, column, slot);
  };
  for (let begin = from, end; begin < to; begin = end) {
    const number = colour(begin), paint = scheme.palette[number];
    for (end = begin + 1; end < to && colour(end) === number; end++);
    yield [begin, end, paint && css(mix(paint, [255, 255, 255], .75))];
  }
}
