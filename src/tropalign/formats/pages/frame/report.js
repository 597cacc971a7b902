/* What every report has: its data, canvases, words beside the pointer, and small tools. */
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

/** The page's arrays by name: base64, compressed, one after another. */
async function readArrays() {
  const text = element("arrays").textContent, packed = bytesOf(text);
  element("arrays").textContent = "";  // its memory
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer(), arrays = {};
  let at = 0;
  for (const [name, type, length] of given("layout")) {
    arrays[name] = new TYPES[type](buffer, at, length);
    at += arrays[name].byteLength;
  }
  return arrays;
}

/** The colours of the style sheet that canvases draw with. */
function inks() {
  const style = getComputedStyle(document.documentElement), found = {};
  for (const name of ["page", "panel", "line", "text", "quiet", "faint", "accent", "chosen", "bar", "empty"])
    found[name] = style.getPropertyValue(`--${name}`).trim();
  found.sans = style.getPropertyValue("--sans");
  return found;
}

/** A canvas as sharp as the screen; its brush counts in the page's pixels. */
function brushOf(canvas, width, height) {
  const dpr = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dpr), canvas.height = Math.round(height * dpr);
  canvas.style.width = `${width}px`, canvas.style.height = `${height}px`;
  const brush = canvas.getContext("2d");
  brush.setTransform(dpr, 0, 0, dpr, 0, 0);
  return brush;
}

/** What is below the pointer, beside it; empty text: nothing. */
function tip(text, event) {
  const box = element("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const {width, height} = box.getBoundingClientRect(), x = event.clientX + 14, y = event.clientY + 14;
  box.style.left = `${Math.max(4, x + width > innerWidth ? x - width - 28 : x)}px`;
  box.style.top = `${Math.max(4, y + height > innerHeight ? y - height - 28 : y)}px`;
}

/** Says it to those who listen to the page. */
function say(text) {
  element("status").textContent = text;
}

/** Where each of some pieces begins, from their sizes. */
function begins(sizes) {
  const found = new Float64Array(sizes.length);
  for (let k = 1; k < sizes.length; k++) found[k] = found[k - 1] + sizes[k - 1];
  return found;
}

/** The least and the greatest number; of none, 0 and 1. */
function extremes(values) {
  let least = Infinity, most = -Infinity;
  for (const value of values) least = Math.min(least, value), most = Math.max(most, value);
  return values.length ? [least, most] : [0, 1];
}

/** Runs [kind, length] of a path: numbers length << 2 | kind in bytes of 7 bits, the lowest first. */
function runsAt(bytes, begin, end) {
  const runs = [];
  for (let at = begin, value = 0, factor = 1; at < end; at++) {
    value += (bytes[at] & 127) * factor, factor *= 128;
    if (bytes[at] < 128) runs.push([value % 4, Math.floor(value / 4)]), value = 0, factor = 1;
  }
  return runs;
}

/** A page of cards. */
class Report extends Frame {
  constructor(arrays) {
    super();
    this.data = given("data");
    this.arrays = arrays;
    element("title").textContent = document.title = given("title-of");
  }
}

/** Opens the page: `make(report)` fills it. `report` is a global for those who look into the page. */
let report = null;
async function openReport(make) {
  report = new Report(await readArrays());
  make(report);
  document.documentElement.dataset.ready = "yes";
}
