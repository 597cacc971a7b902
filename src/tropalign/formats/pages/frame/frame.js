/* Shared parts of all pages: light and dark themes, help, and small tools. Names from files become text, never
 * markup.
 */
const element = (id) => document.getElementById(id);
const on = (id, event, act, options) => element(id).addEventListener(event, act, options);
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
const counted = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const given = (id) => JSON.parse(element(id).textContent);
/** The numbers from 0 to n - 1. */
const upTo = (n) => Uint32Array.from({length: n}, (_, k) => k);
/** Replace control, format and bidirectional characters in a name. */
function shown(name) {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

/** Create an element with classes and text. */
function made(tag, classes, text) {
  const found = document.createElement(tag);
  if (classes) found.className = classes;
  if (text !== undefined) found.textContent = text;
  return found;
}

/** Decode base64. */
function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

/** Save a text or a blob as a file. */
function saveFile(name, content, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Fill a <dl> with terms and meanings. */
function fillTerms(list, terms) {
  list.replaceChildren(...Object.entries(terms).flatMap(([term, meaning]) => {
    const value = made("dd", "name", meaning);
    return [made("dt", "", term), value];
  }));
}

/** A page that embeds this one (the server's do) sends the theme of its own switch. */
let toldDark = null, opened = null;
addEventListener("message", (event) => {
  if (event.source !== parent || parent === window || typeof event.data?.isDark !== "boolean") return;
  toldDark = event.data.isDark;
  opened?.setTheme(toldDark);
});

/** An open page: its theme switch, its help and its provenance. */
class Frame {
  redraws = [];
  constructor() {
    opened = this;
    this.setTheme(toldDark ?? matchMedia("(prefers-color-scheme: dark)").matches);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches));
    on("theme", "click", () => this.setTheme(!this.isDark));
    on("help", "click", () => this.help());
    document.addEventListener("keydown", (event) => {
      if (event.key === "?" && !event.target.closest("input, select, dialog")) event.preventDefault(), this.help();
    });
    fillTerms(element("made"), given("made-of"));
  }
  setTheme(isDark) {
    this.isDark = isDark;
    document.documentElement.classList.toggle("dark", isDark);
    element("theme").setAttribute("aria-pressed", isDark);
    this.redraw();
  }
  help() {
    element("about").showModal();
  }
  /** Call `draw` now, and whenever colours or sizes change. */
  drawnBy(draw, host) {
    this.redraws.push(draw);
    if (host) new ResizeObserver(() => draw()).observe(host);
    draw();
  }
  redraw() {
    this.redraws.forEach((draw) => draw());
  }
}
