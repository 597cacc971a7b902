/* Colour schemes, made from an alignment: a palette (list of [r, g, b]), and `of(row, column, slot)`, which returns
 * the palette index of a residue's colour; 0 is no colour.
 */
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
const mix = (a, b, share) => a.map((value, k) => Math.round(value * share + b[k] * (1 - share)));
const css = (colour) => `rgb(${colour.join(" ")})`;
const slotOfLetter = (letter) => (letter === "*" ? 0 : letter.charCodeAt(0) & 31);

/* Rules of Clustal X (Thompson et al. 1997, file colprot.par), in multiple_colours.json. A rule colours its residues
 * if one of its conditions holds: certain residues together reach a certain share of the column, gaps counted.
 */
const RULES = JSON.parse(document.getElementById("rules").textContent);

function clustal(alignment) {
  const {hues, conditions, rules} = RULES.clustal, names = Object.keys(hues),
                           table = new Uint8Array(alignment.nColumns * SLOTS);
  for (let column = 0; column < alignment.nColumns; column++) {
    const counts = alignment.counts.subarray(column * SLOTS, (column + 1) * SLOTS);
    let holding = "";
    for (const [sign, [share, letters]] of Object.entries(conditions)) {
      let n = 0;
      for (const letter of letters) n += counts[slotOfLetter(letter)];
      if (n >= share * alignment.nRows - 1e-6) holding += sign;
    }
    for (const [letters, hue, signs] of rules)
      if (!signs || [...signs].some((sign) => holding.includes(sign)))
        for (const letter of letters) table[column * SLOTS + slotOfLetter(letter)] ||= names.indexOf(hue) + 1;
  }
  return {
    rule: "A residue is coloured if enough residues of its column are similar (Thompson et al. 1997).",
    palette: [null, ...Object.values(hues).map(([hue]) => rgb(hue))],
    of: (row, column, slot) => table[column * SLOTS + slot],
    legend: Object.values(hues).map(([, word]) => word),
  };
}

/** A scheme with a colour per residue: hues is [[letters, "#rrggbb", word], ...]. */
const byLetter = (rule, hues) => () => {
  const table = new Uint8Array(SLOTS);
  hues.forEach(([letters], k) => {
    for (const letter of letters) table[slotOfLetter(letter)] = k + 1;
  });
  return {
    rule,
    palette: [null, ...hues.map(([, hue]) => rgb(hue))],
    of: (row, column, slot) => table[slot],
    legend: hues.map(([letters, , word]) => word ?? letters)
  };
};

/* W. R. Taylor, Protein Engineering 10 (1997) 743. */
const TAYLOR = ("Accff00 R0000ff Ncc00ff Dff0000 Cffff00 Qff00cc Eff0066 Gff9900 H0066ff " +
                "I66ff00 L33ff00 K6600ff M00ff00 F00ff66 Pffcc00 Sff3300 Tff6600 W00ccff Y00ffcc V99ff00")
                 .split(" ")
                 .map((word) => [word[0], `#${word.slice(1)}`]);
/* Kyte and Doolittle, J. Mol. Biol. 157 (1982) 105: from -4.5, charged, to 4.5, hydrophobic. */
const HYDROPATHY = [
  ["I", 4.5],  ["V", 4.2],  ["L", 3.8],  ["F", 2.8],  ["C", 2.5],  ["M", 1.9],  ["A", 1.8],
  ["G", -.4],  ["T", -.7],  ["S", -.8],  ["W", -.9],  ["Y", -1.3], ["P", -1.6], ["H", -3.2],
  ["E", -3.5], ["Q", -3.5], ["D", -3.5], ["N", -3.5], ["K", -3.9], ["R", -4.5]
];
const COLD_TO_WARM = ["#3f74d6", "#8fb2f0", "#eceff4", "#f3b08c", "#dd5c3f"].map(rgb);
const UNSURE_TO_SURE = ["#d9542b", "#f2a35e", "#f4dfa8", "#9fd6c4", "#3aa394"].map(rgb);

/** Interpolate a list of colours at a position from 0 to 1. */
function along(colours, place) {
  const x = Math.min(Math.max(place, 0), 1) * (colours.length - 1), k = Math.min(Math.floor(x), colours.length - 2);
  return mix(colours[k + 1], colours[k], x - k);
}

const hydropathy = () => {
  const table = new Uint8Array(SLOTS);
  HYDROPATHY.forEach(([letter], k) => {
    table[slotOfLetter(letter)] = k + 1;
  });
  return {
    rule: "Kyte and Doolittle's scale (1982), from 4.5 (I, hydrophobic) to −4.5 (R).",
    palette: [null, ...HYDROPATHY.map(([, value]) => along(COLD_TO_WARM, (value + 4.5) / 9))],
    of: (row, column, slot) => table[slot],
    legend: HYDROPATHY.map(([letter]) => letter),
  };
};

const LEVELS = 20;
const ofLevels = (rule, of) => ({
  rule,
  palette: [null, ...Array.from({length: LEVELS + 1}, (_, k) => along(UNSURE_TO_SURE, k / LEVELS))],
  of,
  legend: Array.from({length: LEVELS + 1}, (_, k) => (k % 5 ? "" : (k / LEVELS).toFixed(2))),
});
const confidence = (alignment) => ofLevels(
  "The probability that each residue is aligned correctly with the others of its column.",
  (row, column) => 1 + Math.round(alignment.confidence[row * alignment.nColumns + column] / 255 * LEVELS));

const agreement = (alignment) => ofLevels(
  "The share of the residues in this residue's column of the reference that are in its column of the alignment " +
    "as well; no colour if the reference column does not count.",
  (row, column) => {
    const byte = alignment.agreement[row * alignment.nColumns + column];
    return byte && 1 + Math.round(shareOf(byte) * LEVELS);
  });

const IDENTITY = [[.4, "#dbe6fb"], [.6, "#a9c4f5"], [.8, "#7199ea"]];
const identity = (alignment) => {
  const table = new Uint8Array(alignment.nColumns * SLOTS);
  for (let column = 0; column < alignment.nColumns; column++)
    for (let slot = 1; slot <= 26; slot++) {
      const share = alignment.counts[column * SLOTS + slot] / alignment.nRows;
      table[column * SLOTS + slot] = IDENTITY.filter(([least]) => share >= least).length;
    }
  return {
    rule: "The share of sequences with the same residue in this column.",
    palette: [null, ...IDENTITY.map(([, hue]) => rgb(hue))],
    of: (row, column, slot) => table[column * SLOTS + slot],
    legend: ["40 % or more", "60 %", "80 %"]
  };
};

const SCHEMES = {
  agreement: {title: "Agreement", make: agreement, fits: (a) => a.agreement !== null},
  clustal: {title: "Clustal X", make: clustal, fits: (a) => a.kind === "protein"},
  taylor: {
    title: "Taylor",
    make: byLetter("Similar residues have similar hues (Taylor 1997).", TAYLOR),
    fits: (a) => a.kind === "protein"
  },
  hydrophobicity: {title: "Hydrophobicity", make: hydropathy, fits: (a) => a.kind === "protein"},
  nucleotide:
    {title: "Nucleotide", make: byLetter("A colour per base.", RULES.nucleotide), fits: (a) => a.kind === "nucleotide"},
  confidence: {title: "Confidence", make: confidence, fits: (a) => a.confidence !== null},
  identity: {title: "Identity", make: identity, fits: () => true},
  none: {title: "None", make: byLetter("No colours.", []), fits: () => true},
};

/* Hues of the logo: as in Clustal X by kind of residue, dark enough for a white page. */
const LOGO_HUES = {
  protein: [
    ["AILMFWV", "#3c6ad6"], ["KR", "#d43a2a"], ["DE", "#b046b0"], ["NQST", "#2c9a3c"], ["C", "#d9706f"],
    ["G", "#dd7a1f"], ["P", "#a89c00"], ["HY", "#14938f"]
  ],
  nucleotide: [["A", "#2c9a3c"], ["C", "#d98a0f"], ["G", "#d43a2a"], ["T", "#3c6ad6"]]
};
function logoColours(kind) {
  const table = new Array(SLOTS).fill([128, 128, 128]);
  for (const [letters, hue] of LOGO_HUES[kind])
    for (const letter of letters) table[slotOfLetter(letter)] = rgb(hue);
  return table;
}
