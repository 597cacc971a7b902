/* Shared wiring of report parts: the cards of table.html and histogram.html. */

/**
 * Add the table and its card: heading, number of rows that pass, search, clear, save.
 * `find`: label of the search field; `file`: name of the saved file; `onChoose`, `onRows`: callbacks of the table.
 * `prefix`: prefix of element ids, for a page's second table.
 */
function addTable(columns, nRows, {title, find, file, onChoose, onRows, prefix = ""}) {
  element(`${prefix}table-title`).textContent = title;
  element(`${prefix}find`).setAttribute("aria-label", find);
  const table = new Table(element(`${prefix}table`), columns, nRows, title, {
    onChoose,
    onRows: (rows) => {
      const all = counted(nRows, "row");
      element(`${prefix}rows-shown`).textContent =
        rows.length === nRows ? all : `${rows.length.toLocaleString("en")} of ${all}`;
      onRows?.(rows);
    },
  });
  on(`${prefix}find`, "input", (event) => table.find(event.target.value));
  on(`${prefix}clear`, "click", () => {
    element(`${prefix}find`).value = "";
    table.clear();
  });
  on(`${prefix}save`, "click", () => saveFile(file, table.tsv()));
  table.prefix = prefix;
  return table;
}

/**
 * Add the histogram and its card. Its bars filter the table's column whose name is chosen among those of `numbers`,
 * initially `first`. `axis(values, name)`: start and end of the axis, and the format of its labels.
 */
function addHistogram(report, table, numbers, first, axis) {
  const of = element("histogram-of");
  for (const name of Object.keys(numbers)) of.add(new Option(name, name));
  of.value = first;
  const histogram = new Histogram(element("histogram"), (from, to) => {
    const isLast = to === histogram.to, least = from === null ? "" : +from.toPrecision(6);
    table.filter(of.value, from === null ? "" : isLast ? `${least}..` : `${least}..${+ to.toPrecision(6)}`);
  });
  const show = () => histogram.show(numbers[of.value], ...axis(numbers[of.value], of.value));
  of.addEventListener("change", show);
  on(`${table.prefix}clear`, "click", () => histogram.clear());
  show();
  report.shows(histogram);
  return histogram;
}

/** Axis of shares, from 0 to 1. */
const shareAxis = () => [0, 1, (value) => value.toFixed(2)];

/** Axis from the minimum to the maximum, with integer labels. */
const wholeAxis = (values) => [...extremes(values), (value) => Math.round(value).toLocaleString("en")];
