/* A read in the columns of the reference, and the rows most similar to it. */
const DASH = 45, DOT = 46;

/** Codes that are equal for letters with the same meaning; gaps are 0. */
function letterCodes(uIsT) {
  const codes = Uint8Array.from({length: 256}, (_, k) => k >= 97 && k <= 122 ? k - 32 : k);
  codes[DASH] = codes[DOT] = 0;
  if (uIsT) codes[85] = codes[117] = 84;
  return codes;
}

/** Column of each residue of a read, -1 if it has none, from the read's runs. */
function columnsOf(runs, start) {
  const found = [];
  let column = start;
  for (const [kind, length] of runs) {
    if (kind === 2) column += length;
    else
      for (let k = 0; k < length; k++) found.push(kind ? -1 : column++);
  }
  return found;
}

/** For each row, count columns from start to end that equal the read's, and that differ. */
function comparedRows(codes, reference, nColumns, nRows, letters, columns, start, end) {
  const wanted = new Uint8Array(end - start);
  columns.forEach((column, k) => column >= 0 && (wanted[column - start] = codes[letters[k]]));
  const equal = new Int32Array(nRows), different = new Int32Array(nRows);
  for (let row = 0; row < nRows; row++) {
    let same = 0, other = 0;
    for (let c = 0, at = row * nColumns + start; c < wanted.length; c++, at++) {
      const letter = codes[reference[at]];
      if (letter !== wanted[c]) other++;
      else if (letter) same++;
    }
    equal[row] = same, different[row] = other;
  }
  return {equal, different};
}

/** Rows of a pairwise alignment: the read, marks, and a reference row; `before`: its number of preceding residues. */
function readRows(codes, letters, columns, row, start, end) {
  let top = "", middle = "", bottom = "", next = start;
  const put = (a, b, mark) => (top += a, bottom += b, middle += mark);
  const skip = (upTo) => {
    for (; next < upTo; next++)
      if (codes[row[next]]) put("-", String.fromCharCode(row[next]), " ");
  };
  columns.forEach((column, k) => {
    const letter = String.fromCharCode(letters[k]);
    if (column < 0) return put(letter, "-", " ");
    skip(column);
    const other = codes[row[column]];
    next = column + 1;
    if (!other) put(letter, "-", " ");
    else put(letter, String.fromCharCode(row[column]), other === codes[letters[k]] ? "|" : ".");
  });
  skip(end);
  let before = 0;
  for (let column = 0; column < start; column++) before += Number(codes[row[column]] > 0);
  return {rows: {top, middle, bottom}, before};
}
