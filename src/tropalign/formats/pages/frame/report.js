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

/** Style-sheet colours for canvases. */
function inks() {
  const style = getComputedStyle(document.documentElement), found = {};
  for (const name of ["page", "panel", "line", "text", "quiet", "faint", "accent", "chosen", "bar", "empty"])
    found[name] = style.getPropertyValue(`--${name}`).trim();
  found.sans = style.getPropertyValue("--sans");
  return found;
}

/** Size a canvas to the screen's resolution; its brush uses CSS pixels. */
function brushOf(canvas, width, height) {
  const dpr = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dpr), canvas.height = Math.round(height * dpr);
  canvas.style.width = `${width}px`, canvas.style.height = `${height}px`;
  const brush = canvas.getContext("2d");
  brush.setTransform(dpr, 0, 0, dpr, 0, 0);
  return brush;
}

/** Show a tooltip next to the pointer; empty text hides it. */
function tip(text, event) {
  const box = element("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  const {width, height} = box.getBoundingClientRect(), x = event.clientX + 14, y = event.clientY + 14;
  box.style.left = `${Math.max(4, x + width > innerWidth ? x - width - 28 : x)}px`;
  box.style.top = `${Math.max(4, y + height > innerHeight ? y - height - 28 : y)}px`;
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

/** A page of cards. */
class Report extends Frame {
  constructor(arrays) {
    super();
    this.data = given("data");
    this.arrays = arrays;
    element("title").textContent = document.title = given("title-of");
  }
}

/** Open the page: `make(report)` fills it. `report` is global for inspection in the browser console. */
let report = null;
async function openReport(make) {
  report = new Report(await readArrays());
  make(report);
  document.documentElement.dataset.ready = "yes";
}
