/* Colours of categories, by one rule per kind, and texts cut to their room. */
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
