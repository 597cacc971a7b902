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
    "taxa_html": "--taxa-html",
    "otu_table": "--otu-table",
    "tblout": "--tblout",
    "domtblout": "--domtblout",
    "pfamtblout": "--pfamtblout",
    "alignment": "-A",
    "tree": "--tree-out",
    "confidence": "--confidence",
    "distances": "--distances-out",
    "representatives": "--representatives",
    "uc": "--uc",
    "columns_out": "--columns-out",
    "differences": "--differences",
    "branches": "--branches",
}
beside = " ".join(
    f"{option} {quote(snakemake.output[name])}" for name, option in files.items() if snakemake.output.get(name)
)

# Merging computes the last stages of msa, tree and cluster; shards of other verbs are only joined.
threads = f"--threads {snakemake.threads}" if snakemake.threads > 1 else ""
extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=False, stderr=True)

shell("tropalign merge {snakemake.input:q} --output {snakemake.output[0]:q} {beside} {threads} {extra} {log}")
