/* Drawings as files: a canvas-like brush that writes SVG. */
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
