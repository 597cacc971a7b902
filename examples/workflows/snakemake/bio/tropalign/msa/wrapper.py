__author__ = "The tropalign developers"
__copyright__ = "Copyright 2026, The tropalign developers"
__license__ = "BSD-3-Clause"

from shlex import quote

from snakemake.shell import shell

options = {"tree": "--tree-in", "add": "--add", "merge": "--merge"}
given = " ".join(
    f"{option} {quote(snakemake.input[name])}" for name, option in options.items() if snakemake.input.get(name)
)

# The first output is the main one; others are known by their names.
files = {"tree": "--tree-out", "confidence": "--confidence"}
beside = " ".join(
    f"{option} {quote(snakemake.output[name])}" for name, option in files.items() if snakemake.output.get(name)
)

# A share of the posteriors, such as 3/20, for a rule that merges all of them.
shard = snakemake.params.get("shard", "")
shard = f"--shard {shard}" if shard else ""

# The mem_mb of the rule or the profile, in tropalign's unit.
memory = snakemake.resources.get("mem_mib")
memory = f"--memory {memory}M" if memory else ""
extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=False, stderr=True)

shell(
    "tropalign msa {snakemake.input.sequences:q} {given} --output {snakemake.output[0]:q} {beside} {shard}"
    " {extra} --threads {snakemake.threads} {memory} {log}"
)
