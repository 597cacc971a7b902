/* Two aligned sequences as coloured lines. */
const MARKS = {
  "|": "equal",
  ".": "different",
  " ": "gap"
},
      LONGEST = 12_000;

/**
 * Columns of a path: query, middle (| equal, . different, a space at a gap) and target. `runs` are [kind, length],
 * with kind 0 (two residues), 1 (query only) or 2 (target only); `codes` define which letters are equal.
 */
function alignedRows(query, target, queryStart, targetStart, runs, codes) {
  let top = "", middle = "", bottom = "", i = queryStart, j = targetStart;
  for (const [kind, length] of runs) {
    top += kind === 2 ? "-".repeat(length) : query.slice(i, i + length);
    bottom += kind === 1 ? "-".repeat(length) : target.slice(j, j + length);
    if (kind) middle += " ".repeat(length);
    else
      for (let k = 0; k < length; k++)
        middle += codes[query.charCodeAt(i + k)] === codes[target.charCodeAt(j + k)] ? "|" : ".";
    if (kind !== 2) i += length;
    if (kind !== 1) j += length;
  }
  return {top, middle, bottom};
}

/**
 * Draw rows in blocks that fit the host. `ends`: {topStart, bottomStart} count residues from 0; `topStep` is -1 if
 * the query's reverse strand was aligned, so that its residues are counted down.
 */
function drawAlignment(host, rows, {topStart, bottomStart, topStep = 1}) {
  const letters = Math.floor((host.clientWidth - 30) / 7.55) - 18,
        width = clamp(Math.floor(letters / 10) * 10, 20, 120);
  const nColumns = rows.top.length, end = Math.min(nColumns, LONGEST), blocks = [];
  let i = topStart, j = bottomStart;
  const digits = Math.max(4, String(Math.max(topStart, bottomStart) + nColumns).length);
  for (let begin = 0; begin < end; begin += width) {
    const block = made("pre", "alignment"), upTo = Math.min(end, begin + width);
    const [top, middle, bottom] = [rows.top, rows.middle, rows.bottom].map((row) => row.slice(begin, upTo));
    const nTop = top.length - count(top, "-"), nBottom = bottom.length - count(bottom, "-");
    const line = (first, text, last) => block.append(
      made("span", "place", String(first).padStart(digits) + " "), ...runsOf(text, middle),
      made("span", "place", ` ${last}\n`));
    line(i + (nTop && topStep > 0 ? 1 : 0), top, i + topStep * nTop + (topStep < 0 && nTop ? 1 : 0));
    block.append(made("span", "place", " ".repeat(digits + 1)), made("span", "middle", middle), "\n");
    line(j + (nBottom ? 1 : 0), bottom, j + nBottom);
    i += topStep * nTop, j += nBottom;
    blocks.push(block);
  }
  if (end < nColumns) blocks.push(made("p", "note", `... and ${counted(nColumns - end, "more column")}`));
  host.replaceChildren(...blocks);
}

/** Reverse complement of a text; a text with U and without T gets U. */
function otherStrand(text, complements) {
  let found = "";
  for (let k = text.length - 1; k >= 0; k--) found += String.fromCharCode(complements[text.charCodeAt(k)]);
  return /u/i.test(text) && !/t/i.test(text) ? found.replace(/t/g, "u").replace(/T/g, "U") : found;
}

function count(text, letter) {
  return text.split(letter).length - 1;
}

/** Split a text into spans, one per run of signs in the middle with the same class. */
function runsOf(text, middle, classOf = (sign) => MARKS[sign]) {
  const spans = [];
  for (let begin = 0, end; begin < middle.length; begin = end) {
    const kind = classOf(middle[begin]);
    for (end = begin + 1; end < middle.length && classOf(middle[end]) === kind; end++);
    spans.push(made("span", kind, text.slice(begin, end)));
  }
  return spans;
}
