/* Colours of what a page has several of, by one rule per kind, and texts that fit beside them. */
/** Hues of the first neighbours, in turns, far from each other; the next ones follow by the golden ratio. */
const HUES = [.60, .06, .38, .80, .14, .50, .92, .26], GOLDEN = .618034;
/**
 * Lightness of what counts most and of what counts least, and saturation: names have a contrast of 4.5 or more there.
 */
const LIGHT = [.70, .86, .62], DARK = [.28, .18, .50];

/** A colour as all programs read it: hue in turns, saturation and lightness from 0 to 1. */
function hexOf(hue, saturation, lightness) {
  const part = (n) => {
    const k = (n + hue * 12) % 12, far = saturation * Math.min(lightness, 1 - lightness);
    const value = lightness - far * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/** The hue of what has this number among its neighbours, as taxa of a ring and samples of a table have. */
function hueOf(number) {
  return number < HUES.length ? HUES[number] : (HUES[0] + GOLDEN * number) % 1;
}

/** The hue of a name, the same on every page (FNV-1a): of models, which a page has in any order. */
function hueOfName(name) {
  let hash = 0x811c9dc5;
  for (const letter of new TextEncoder().encode(name)) hash = Math.imul(hash ^ letter, 0x01000193) >>> 0;
  return hash % 997 / 997;
}

/** Of a hue: `fill` and `pale` behind names, and `edge`, which has a contrast of 3 or more with the page. */
function shadesOf(hue, isDark) {
  const [first, last, saturation] = isDark ? DARK : LIGHT;
  return {
    fill: hexOf(hue, saturation, first),
    pale: hexOf(hue, saturation, last),
    edge: hexOf(hue, saturation, isDark ? .62 : .36),
  };
}

/** As much of a text as has room; nothing where that is not even two letters. */
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
