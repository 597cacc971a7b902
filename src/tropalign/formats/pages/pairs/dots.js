/* The dot plot of a pair: common k-mers as dots, and the alignment as a line. */
const MOST_DOTS = 3_000_000;

/** Positions of common k-mers: [position in the query, in the target], flattened, at most MOST_DOTS. */
function equalWords(query, target, length, codes) {
  const places = new Map(), found = [];
  const keyOf = (text) => {
    let key = "";
    for (let k = 0; k < text.length; k++) key += String.fromCharCode(codes[text.charCodeAt(k)]);
    return key;
  };
  const top = keyOf(query), side = keyOf(target);
  for (let j = 0; j + length <= side.length; j++) {
    const word = side.slice(j, j + length);
    places.has(word) ? places.get(word).push(j) : places.set(word, [j]);
  }
  for (let i = 0; i + length <= top.length && found.length < 2 * MOST_DOTS; i++)
    for (const j of places.get(top.slice(i, i + length)) ?? []) found.push(i, j);
  return found;
}

/** The shortest k-mer length for which chance produces few enough dots. */
function usualWord(n, m, nLetters) {
  for (let length = 1;; length++)
    if (n * m / nLetters ** length < Math.max(60, 1.5 * Math.min(n, m)) || length === 16) return length;
}

/**
 * Draw the plot: an alignment has `runs` from `queryStart` and `targetStart`; query positions count down if
 * `isReverse`, since the query's reverse strand was aligned.
 */
function drawDots(canvas, host, {query, target, queryStart, targetStart, runs, length, codes, isReverse}) {
  const ink = inks(), left = 54, bottom = 34, room = Math.max(120, host.clientWidth - left - 34);
  const n = Math.max(1, query.length), m = Math.max(1, target.length), scale = Math.min(room / m, 420 / n);
  const width = Math.max(24, Math.round(m * scale)), height = Math.max(24, Math.round(n * scale));
  const brush = brushOf(canvas, left + width + 20, height + bottom + 24), top = 18;
  brush.fillStyle = ink.panel;
  brush.fillRect(left, top, width, height);
  const x = (j) => left + j / m * width, y = (i) => top + i / n * height;
  const dots = equalWords(query, target, length, codes), size = Math.max(1, width / m, height / n);
  brush.fillStyle = ink.text;
  brush.globalAlpha = dots.length > 40_000 ? .35 : .75;
  for (let k = 0; k < dots.length; k += 2)
    brush.fillRect(x(dots[k + 1]), y(dots[k]), Math.max(size, length * width / m * .6), size);
  brush.globalAlpha = 1;
  brush.beginPath();
  let i = queryStart, j = targetStart;
  brush.moveTo(x(j), y(i));
  for (const [kind, steps] of runs) {
    if (kind !== 2) i += steps;
    if (kind !== 1) j += steps;
    brush.lineTo(x(j), y(i));
  }
  brush.strokeStyle = "#ff9d00";
  brush.lineWidth = 2;
  brush.stroke();
  brush.strokeStyle = ink.line;
  brush.lineWidth = 1;
  brush.strokeRect(left - .5, top - .5, width + 1, height + 1);
  drawAxes(brush, ink, {left, top, width, height, n, m, isReverse});
  return dots.length / 2;
}

function drawAxes(brush, ink, {left, top, width, height, n, m, isReverse}) {
  brush.fillStyle = ink.quiet;
  brush.font = `11px ${ink.sans}`;
  brush.textAlign = "center";
  for (const at of ticksTo(m, width / 60))
    brush.fillText(at.toLocaleString("en"), left + at / m * width, top + height + 14);
  brush.fillText("target", left + width / 2, top + height + 30);
  brush.textAlign = "right";
  for (const at of ticksTo(n, height / 30))
    brush.fillText((isReverse ? n - at : at).toLocaleString("en"), left - 6, top + at / n * height + 4);
  brush.textAlign = "left";
  brush.fillText(isReverse ? "query, reverse strand" : "query", 4, 11);
}
