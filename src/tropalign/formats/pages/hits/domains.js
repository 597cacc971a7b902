/* Alignments of domains in HMMER's four lines. */

/** Blocks of a domain that fit the host: model, matches, sequence, posteriors. */
function domainBlocks(host, {model, match, target, posterior}, {modelName, sequenceName, modelBegin, begin}) {
  const names = [modelName, sequenceName].map((name) => name.length > 18 ? name.slice(0, 17) + "…" : name);
  const width = Math.max(...names.map((name) => name.length));
  const digits = String(Math.max(modelBegin, begin) + model.length).length;
  const room = Math.floor((host.clientWidth - 30) / 7.55) - width - 2 * digits - 3, step = Math.max(30, room),
        blocks = [];
  let i = modelBegin, j = begin;
  for (let at = 0; at < model.length; at += step) {
    const [top, middle, bottom, sure] = [model, match, target, posterior].map((line) => line.slice(at, at + step));
    const block = made("pre", "alignment"), margin = " ".repeat(width + digits + 2);
    const nTop = top.length - count(top, "."), nBottom = bottom.length - count(bottom, "-");
    const place = (text) => made("span", "place", text);
    const line = (name, first, n, text) => block.append(
      place(`${name.padStart(width)} ${String(n ? first + 1 : "-").padStart(digits)} `),
      ...runsOf(text, middle, likeness), place(` ${n ? first + n : "-"}\n`));
    line(names[0], i, nTop, top);
    block.append(place(margin), made("span", "middle", middle), "\n");
    line(names[1], j, nBottom, bottom);
    block.append(place(margin), made("span", "sure", sure));
    i += nTop, j += nBottom;
    blocks.push(block);
  }
  return blocks;
}

/** Class of a column by its sign in the middle: a letter, a plus, or a blank. */
const likeness = (sign) => sign === " " ? "" : sign === "+" ? "good" : "best";
