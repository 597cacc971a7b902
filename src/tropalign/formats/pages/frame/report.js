/* Shared parts of all reports: data, canvases, tooltips, and small tools. */
const TYPES = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float32: Float32Array,
  float64: Float64Array
};

/** Read the page's arrays by name: compressed, concatenated, base64. */
async function readArrays() {
  const text = element("arrays").textContent, packed = bytesOf(text);
  element("arrays").textContent = "";  // free the memory
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer(), arrays = {};
  let at = 0;
  for (const [name, type, length] of given("layout")) {
    arrays[name] = new TYPES[type](buffer, at, length);
    at += arrays[name].byteLength;
  }
  return arrays;
}

/** Announce a text to screen readers. */
function say(text) {
  element("status").textContent = text;
}

/** Start offsets of consecutive pieces, from their sizes. */
function begins(sizes) {
  const found = new Float64Array(sizes.length);
  for (let k = 1; k < sizes.length; k++) found[k] = found[k - 1] + sizes[k - 1];
  return found;
}

/** Minimum and maximum; 0 and 1 for an empty list. */
function extremes(values) {
  let least = Infinity, most = -Infinity;
  for (const value of values) least = Math.min(least, value), most = Math.max(most, value);
  return values.length ? [least, most] : [0, 1];
}

/** Decode the runs [kind, length] of a path: numbers length << 2 | kind in LEB128. */
function runsAt(bytes, begin, end) {
  const runs = [];
  for (let at = begin, value = 0, factor = 1; at < end; at++) {
    value += (bytes[at] & 127) * factor, factor *= 128;
    if (bytes[at] < 128) runs.push([value % 4, Math.floor(value / 4)]), value = 0, factor = 1;
  }
  return runs;
}

/** Decode ASCII letters. */
const textOf = (bytes) => new TextDecoder().decode(bytes);

/** Format an E-value. */
const asEvalue = (value) => value === 0 ? "0" :
  value < .001 || value >= 1000         ? value.toExponential(1) :
                                          value.toPrecision(2);

/** A page of cards. */
class Report extends Frame {
  constructor(arrays) {
    super();
    this.data = given("data");
    this.arrays = arrays;
    element("title").textContent = document.title = given("title-of");
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !event.target.closest("input, select, dialog"))
        event.preventDefault(), document.querySelector("input[type=search]").focus();
    });
  }
  /** Fill the heading, the summary (terms, then parameters and command), and the note of what the page leaves out. */
  tell(facts, terms, leftOut = "") {
    const {command, tropalign, ...parameters} = given("made-of");
    element("facts").textContent = facts;
    fillTerms(element("summary"), {...terms, ...parameters, command});
    element("left-out").hidden = !leftOut;
    element("left-out").textContent = leftOut;
  }
  /** Draw whenever colours or sizes change. `id`: prefix of the buttons that save the drawing, `name()`: its file. */
  shows(drawing, id, name = () => id) {
    this.drawnBy(() => drawing.setTheme(this.isDark), drawing.host);
    if (id) onSave(id, (kind) => drawing.save(kind, name()));
  }
}

/** Connect the buttons that save a picture. */
function onSave(id, save) {
  for (const kind of ["svg", "png"]) on(`${id}-${kind}`, "click", () => save(kind));
}

/** Save sequences as FASTA, 80 characters per line. */
function saveFasta(file, rows, name, letters) {
  saveFile(file, rows.map((row) => `>${name(row)}\n${letters(row).replace(/.{1,80}/g, "$&\n")}`).join(""));
}

/** Open the page of a class. Both are global for inspection in the browser console. */
let report = null;
let page = null;
async function openReport(Page) {
  report = new Report(await readArrays());
  page = new Page(report);
  document.documentElement.dataset.ready = "yes";
}
