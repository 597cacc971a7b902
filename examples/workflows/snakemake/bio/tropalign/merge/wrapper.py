__author__ = "The tropalign developers"
__copyright__ = "Copyright 2026, The tropalign developers"
__license__ = "BSD-3-Clause"

from shlex import quote

from snakemake.shell import shell

# The first output is the main one; others are known by their names.
files = {
    "html": "--html",
    "plot": "--plot",
    "table": "--table",
    "jplace": "--jplace",
    "taxa": "--taxa",
    "tblout": "--tblout",
    "domtblout": "--domtblout",
    "pfamtblout": "--pfamtblout",
    "alignment": "-A",
}
beside = " ".join(
    f"{option} {quote(snakemake.output[name])}" for name, option in files.items() if snakemake.output.get(name)
)

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=False, stderr=True)

shell("tropalign merge {snakemake.input:q} --output {snakemake.output[0]:q} {beside} {extra} {log}")
