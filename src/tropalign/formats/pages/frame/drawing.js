/* Drawings: colours of categories, texts and legends that fit, files, and canvases with pointer and keys. */
/** Hues of the first categories, as fractions of a turn, far from each other; later ones follow by the golden ratio. */
const HUES = [.60, .06, .38, .80, .14, .50, .92, .26], GOLDEN = .618034;
/**
 * Lightness of the strongest and of the weakest colours, and saturation; names have a contrast of at least 4.5 on
 * them.
 */
const LIGHT = [.70, .86, .62], DARK = [.28, .18, .50];

/** Convert hue (fraction of a turn), saturation and lightness (0 to 1) to #rrggbb. */
function hexOf(hue, saturation, lightness) {
  const part = (n) => {
    const k = (n + hue * 12) % 12, far = saturation * Math.min(lightness, 1 - lightness);
    const value = lightness - far * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/** Hue of the category with this number, such as a taxon of a ring or a sample of a table. */
function hueOf(number) {
  return number < HUES.length ? HUES[number] : (HUES[0] + GOLDEN * number) % 1;
}

/** Hue of a model name by a hash (FNV-1a), so that it is the same on every page. */
function hueOfName(name) {
  let hash = 0x811c9dc5;
  for (const letter of new TextEncoder().encode(name)) hash = Math.imul(hash ^ letter, 0x01000193) >>> 0;
  return hash % 997 / 997;
}

/** Shades of a hue: `fill` and `pale` behind names, and `edge` with a contrast of at least 3 to the page. */
function shadesOf(hue, isDark) {
  const [first, last, saturation] = isDark ? DARK : LIGHT;
  return {
    fill: hexOf(hue, saturation, first),
    pale: hexOf(hue, saturation, last),
    edge: hexOf(hue, saturation, isDark ? .62 : .36),
  };
}

/** Cut a text to the room; empty if not even two characters fit. */
function fitted(brush, text, room) {
  if (room < 14) return "";
  if (brush.measureText(text).width <= room) return text;
  let least = 0, most = text.length;
  while (most - least > 1) {
    const half = least + most >> 1;
    brush.measureText(`${text.slice(0, half)}…`).width <= room ? least = half : most = half;
  }
  return least < 2 ? "" : `${text.slice(0, least)}…`;
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

/** Colours of saved drawings, with the names of `inks`. */
const ON_PAPER = {
  page: "#ffffff",
  text: "#1b1f27",
  quiet: "#5c6575",
  faint: "#b3bac6",
  line: "#d9dce3",
  empty: "#eceef2",
  accent: "#2458d3",
  chosen: "#dfe8fc",
  bar: "#7f8fae",
  sans: "Helvetica, Arial, sans-serif"
};

class SvgBrush {
  constructor(width, height, ground) {
    Object.assign(this, {width, height, pieces: [], states: [], path: "", turned: "", nClips: 0, open: 0});
    Object.assign(this, {fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "", textAlign: "left"});
    this.textBaseline = "alphabetic";
    this.ruler = new OffscreenCanvas(1, 1).getContext("2d");
    this.pieces.push(`<rect width="${width}" height="${height}" fill="${ground}"/>`);
  }
  save() {
    const {turned, textAlign, open} = this;
    this.states.push({turned, textAlign, open});
    this.open = 0;
  }
  restore() {
    this.pieces.push("</g>".repeat(this.open));
    Object.assign(this, this.states.pop());
  }
  translate(x, y) {
    this.turned += `translate(${near(x)} ${near(y)})`;
  }
  rotate(angle) {
    this.turned += `rotate(${near(angle * 180 / Math.PI)})`;
  }
  beginPath() {
    this.path = "";
  }
  rect(x, y, width, height) {
    this.path += `M${near(x)} ${near(y)}h${near(width)}v${near(height)}h${near(-width)}z`;
  }
  roundRect(x, y, width, height, r) {
    const bend = Math.min(r, width / 2, height / 2),
          corner = (dx, dy) => `a${near(bend)} ${near(bend)} 0 0 1 ${near(dx)} ${near(dy)}`;
    const [across, down] = [width - 2 * bend, height - 2 * bend].map(near);
    this.path += `M${near(x + bend)} ${near(y)}h${across}${corner(bend, bend)}v${down}${corner(-bend, bend)}h${
      - across}${corner(-bend, -bend)}v${- down}${corner(bend, -bend)}z`;
  }
  clip() {
    const name = `clip${this.nClips++}`;
    this.pieces.push(`<clipPath id="${name}"><path d="${this.path}"/></clipPath><g clip-path="url(#${name})">`);
    this.open++;
  }
  moveTo(x, y) {
    this.path += `M${near(x)} ${near(y)}`;
  }
  lineTo(x, y) {
    this.path += `L${near(x)} ${near(y)}`;
  }
  arc(x, y, r, from, to, isBack = false) {
    const end = (angle) => `${near(x + r * Math.cos(angle))} ${near(y + r * Math.sin(angle))}`;
    const bend = (begin, upTo) => {
      const isLong = Math.abs(upTo - begin) > Math.PI;
      this.path +=
        `${this.path ? "L" : "M"}${end(begin)}A${near(r)} ${near(r)} 0 ${+ isLong} ${+ !isBack} ${end(upTo)}`;
    };
    if (Math.abs(to - from) < 6.28) return bend(from, to);
    const half = (from + to) / 2;
    bend(from, half), bend(half, to);  // one arc cannot end at its start
  }
  stroke() {
    if (this.path)
      this.pieces.push(
        `<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${near(this.lineWidth)}"/>`);
  }
  fill() {
    if (this.path) this.pieces.push(`<path d="${this.path}" fill="${this.fillStyle}"/>`);
  }
  fillRect(x, y, width, height) {
    const size = `width="${near(width)}" height="${near(height)}"`;
    this.pieces.push(`<rect x="${near(x)}" y="${near(y)}" ${size} fill="${this.fillStyle}"/>`);
  }
  fillText(text, x, y) {
    const anchor = {right: "end", center: "middle"}[this.textAlign] ?? "start", size = parseFloat(this.font);
    const middle = this.textBaseline === "middle" ? size * .35 : 0;
    const turned = this.turned && ` transform="${this.turned}"`;
    this.pieces.push(`<text x="${near(x)}" y="${near(y + middle)}" font-size="${size}" text-anchor="${anchor}" fill="${
      this.fillStyle}"${turned}>${escaped(text)}</text>`);
  }
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }
  text(title) {
    const {width, height} = this;
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="Helvetica, Arial, sans-serif"><title>${
      escaped(title)}</title>\n${this.pieces.join("\n")}\n</svg>\n`;
  }
}

/** Round a number to the precision of a picture. */
function near(value) {
  return Math.round(value * 100) / 100;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"}[sign]));
}

/** Largest PNG side, in pixels, that all browsers support. */
const MOST_PIXELS = 16_000;

/** Save the drawing of `paint(brush)` as SVG or PNG; PNG has twice the screen resolution unless that is too large. */
async function savePicture(kind, name, width, height, ground, paint) {
  if (kind === "svg") {
    const brush = new SvgBrush(width, height, ground);
    paint(brush);
    return saveFile(`${name}.svg`, brush.text(name), "image/svg+xml");
  }
  const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height);
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  const brush = canvas.getContext("2d");
  brush.scale(scale, scale);
  brush.fillStyle = ground;
  brush.fillRect(0, 0, width, height);
  paint(brush);
  saveFile(`${name}.png`, await canvas.convertToBlob({type: "image/png"}), "image/png");
}

/** Measures texts. */
const MEASURER = new OffscreenCanvas(1, 1).getContext("2d");
/** Side of a legend's squares in pixels. */
const SWATCH = 10;

/**
 * Rows of a legend: its items {text, ...} with shortened texts and positions x, the first one indented. Text in a
 * saved picture may be a little wider than measured.
 */
function legendRows(items, font, {left = 0, right, most = 220, indent = 0}) {
  MEASURER.font = font;
  const rows = items.length ? [[]] : [];
  let x = left + indent;
  for (const item of items) {
    const text = fitted(MEASURER, item.text, most) || item.text;
    const room = SWATCH + 24 + 1.1 * MEASURER.measureText(text).width;
    if (x > left && x + room > right) rows.push([]), x = left;
    rows.at(-1).push({...item, text, x});
    x += room;
  }
  return rows;
}

/**
 * Draw a row of a legend. `colours(item)`: colours of the square's edge and inside, or one colour for both; null
 * if there is no square.
 */
function drawLegendRow(brush, ink, row, y, colours) {
  brush.textAlign = "left", brush.textBaseline = "middle";
  for (const item of row) {
    colours(item)?.forEach((colour, k) => {
      brush.fillStyle = colour;
      brush.fillRect(item.x + k, y - SWATCH / 2 + k, SWATCH - 2 * k, SWATCH - 2 * k);
    });
    brush.fillStyle = ink.text;
    brush.fillText(item.text, item.x + SWATCH + 5, y);
  }
}

/**
 * Write five numbers along an axis, or fewer with a larger step. `textOf(share)`: the number at a share from 0 to 1.
 */
function writeAxis(brush, left, width, y, textOf, step = 1) {
  for (let k = 0; k <= 4; k += step) {
    brush.textAlign = k === 0 ? "left" : k === 4 ? "right" : "center";
    brush.fillText(textOf(k / 4), left + width * k / 4, y);
  }
  brush.textAlign = "left";
}

/** Multiples of 1, 2 or 5 times a power of ten from 0 to `most`, about as many as wanted. */
function ticksTo(most, wanted = 5) {
  const rough = Math.max(1, most / Math.max(1, wanted)), power = 10 ** Math.floor(Math.log10(rough)), ticks = [];
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  for (let at = 0; at <= most; at += step) ticks.push(at);
  return ticks;
}

/**
 * A drawing in the parent of its canvas, for the pointer and for keys. A subclass has
 *     measure()                  sets width and height; false: nothing can be drawn
 *     paint(brush, ink, isDark)  draws with the context of a canvas or an SvgBrush
 *     hit(x, y), told(thing)     the thing at a point (null or -1: none), and its description
 *     click(thing), clickTwice(thing), press(event)   actions; press returns true for a key that it uses
 *     move(right, down)          scrolls by pixels, if the drawing can be dragged
 */
class Drawing {
  chosen = -1;
  over = -1;
  /** Set if the thing under the pointer is highlighted. */
  marksOver = false;
  constructor(canvas, parts) {
    Object.assign(this, {canvas, host: canvas.parentElement, ...parts});
    const of = (event) => this.hit(event.offsetX, event.offsetY);
    canvas.addEventListener("pointermove", (event) => this.hover(this.move && event.buttons ? -1 : of(event), event));
    canvas.addEventListener("pointerleave", (event) => this.hover(-1, event));
    if (this.move) canvas.addEventListener("pointerdown", (event) => this.drag(event));
    else canvas.addEventListener("click", (event) => Drawing.isThing(of(event)) && this.click?.(of(event)));
    canvas.addEventListener("dblclick", (event) => this.clickTwice?.(of(event)));
    canvas.addEventListener("keydown", (event) => this.press?.(event) && event.preventDefault());
  }
  static isThing(found) {
    return found !== null && !(found < 0);
  }
  /** Pixels across the host, without its padding. */
  get inside() {
    return this.host.clientWidth - 24;
  }
  setTheme(isDark) {
    this.isDark = isDark;
    this.draw();
  }
  draw() {
    if (this.measure() !== false) this.paint(brushOf(this.canvas, this.width, this.height), inks(), this.isDark);
  }
  hover(found, event) {
    tip(Drawing.isThing(found) ? this.told(found) : "", event);
    if (!this.marksOver || found === this.over) return;
    this.over = found;
    this.draw();
  }
  /** Move the drawing with the pointer; without a move, a press is a click. */
  drag(event) {
    if (event.button) return;
    const {canvas} = this, found = this.hit(event.offsetX, event.offsetY);
    let isMoved = false, {clientX: x, clientY: y} = event;
    canvas.setPointerCapture(event.pointerId);
    const move = ({clientX, clientY}) => {
      isMoved ||= Math.hypot(clientX - x, clientY - y) > 3;
      if (!isMoved) return;
      this.move(x - clientX, y - clientY);
      x = clientX, y = clientY;
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", () => {
      canvas.removeEventListener("pointermove", move);
      if (!isMoved && Drawing.isThing(found)) this.click(found);
    }, {once: true});
  }
  /** Announce a thing to screen readers. */
  say(thing) {
    say(this.told(thing).replaceAll("\n", ", "));
  }
  /** Save the drawing in print colours, without marks. */
  save(kind, name) {
    const {chosen, over} = this;
    this.chosen = this.over = -1;
    try {
      savePicture(kind, name, this.width, this.height, ON_PAPER.page, (brush) => this.paint(brush, ON_PAPER, false));
    } finally {
      Object.assign(this, {chosen, over});
    }
  }
}
