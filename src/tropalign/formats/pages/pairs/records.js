/* Links to database pages about sequences, by the accessions in their names. */
const UNIPROT = "https://www.uniprot.org/", NCBI = "https://www.ncbi.nlm.nih.gov/";
/** UniProt's accession pattern, from its manual. */
const ACCESSION = "(?:[OPQ]\\d[A-Z\\d]{3}\\d|[A-NR-Z]\\d(?:[A-Z][A-Z\\d]{2}\\d){1,2})";
/** Patterns of names, and the address for their accession. */
const RECORDS = [
  [new RegExp(`^(?:sp|tr)\\|(${ACCESSION}(?:-\\d+)?)(?:\\.\\d+)?\\|`), `${UNIPROT}uniprotkb/`],
  [new RegExp(`^(${ACCESSION})$`), `${UNIPROT}uniprotkb/`],
  [/^(UniRef(?:100|90|50)_[A-Z0-9-]+)$/, `${UNIPROT}uniref/`],
  [/(?:^|\|)([ANWXY]P_\d+(?:\.\d+)?)(?:\||$)/, `${NCBI}protein/`],
  [/(?:^|\|)((?:AC|N[CGMRTWZ]|X[MR])_[A-Z]{0,4}\d+(?:\.\d+)?)(?:\||$)/, `${NCBI}nuccore/`],
  [/(?:^|\|)([A-Z]{3}\d{5,7}\.\d+)(?:\||$)/, `${NCBI}protein/`],
  [/(?:^|\|)([A-Z]\d{5}\.\d+|[A-Z]{2}\d{6,8}\.\d+)(?:\||$)/, `${NCBI}nuccore/`],
];

/** Page about a sequence of this name; null if the name contains no accession. */
function recordOf(name) {
  const ofSequence = name.replace(/\/[+-][123]$/, "");  // without the frame
  for (const [pattern, address] of RECORDS) {
    const found = ofSequence.match(pattern);
    if (found) return address + found[1];
  }
  return null;
}

/** A name, linked to its record if it has one. */
function linkedName(name) {
  const address = recordOf(name), found = made(address ? "a" : "span", "name", shown(name));
  if (address) found.href = address, found.target = "_blank", found.rel = "noopener noreferrer";
  return found;
}
