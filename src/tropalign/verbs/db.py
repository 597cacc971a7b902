"""``tropalign db``: sequences in a store, a file that every verb opens at once instead of reading it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tropalign.formats.format import BYTES, Format
from tropalign.options.option import REQUIRED, again, input_file, output_file
from tropalign.verbs.command import SEQUENCE_FILES, Command, OutputOptions, Served

if TYPE_CHECKING:
    from tropalign.sequences import SequenceStore

#: Variable with folders in order of precedence, as in PATH.
VARIABLE = "TROPALIGN_DB"
SUFFIX = ".tdb"


def databases() -> Iterator[tuple[str, Path]]:
    """Yield name and file of each database, sorted by name; of equal names only the one `database_path` finds."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for path in sorted(folder.glob(f"?*{SUFFIX}")):
            found.setdefault(path.name.removesuffix(SUFFIX), path)
    yield from sorted(found.items())


def database_path(named: str) -> str:
    """Return the path of a database: `named` if it is a file or contains a folder, else the database of this name."""
    is_there = os.path.exists(named) and not os.path.isdir(named)
    if is_there or named == "-" or os.path.basename(named) != named:
        return named
    paths = (folder / f"{named.removesuffix(SUFFIX)}{SUFFIX}" for folder in _folders())
    return next((str(path) for path in paths if path.is_file()), named)


def _folders() -> list[Path]:
    return [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]


class Build(Command):
    """Builds a store from sequence files."""

    verb = "db build"
    summary = "make a store from sequence files"
    served = Served(
        title="Build a database", kind="", format=Format("store", (SUFFIX,), BYTES), example={"sources": "family.fasta"}
    )

    sources: list[str] = input_file(
        flags=(),
        many="+",
        metavar="FILE",
        holds="sequences",
        label="Sequences",
        help=f"{SEQUENCE_FILES}; or stores",
    )
    taxonomy: str | None = input_file(
        default=None,
        flags=("--taxonomy",),
        metavar="FILE",
        holds="table",
        label="Table of taxids",
        help="table with lines of a name or accession, a tab, NCBI's taxid and, if known, another tab and a lineage; "
        "or NCBI's prot.accession2taxid. Sequences that it does not list get the taxid of their UniProt header "
        "(OX=9606)",
    )
    taxdump: str | None = input_file(
        default=None,
        flags=("--taxdump",),
        metavar="PATH",
        holds="archive",
        label="NCBI's taxonomy (taxdump.tar.gz)",
        help="NCBI's taxdump.tar.gz, or the folder with its files, for the lineages of taxids",
        form_help="Source of the lineages of taxids",
    )
    output: str = output_file(
        default=REQUIRED,
        output="main",
        suffix=SUFFIX,
        flags=("-o", "--output"),
        metavar="STORE",
        help="store to write, usually named *.tdb",
    )
    quiet: bool = again(OutputOptions, "quiet", group="", help="show no warnings")

    def run(self) -> None:
        """Build the store."""
        from tropalign.sequences import SequenceStore

        self.check()
        if self.output == "-":
            self.refuse("a store is memory-mapped and cannot go to standard output: name a file with -o")
        SequenceStore.build(self.sources, self.output, self.taxonomy, self.taxdump)


class StoreCommand(Command):
    """A command that inspects a store."""

    store: str = input_file(flags=(), metavar="STORE", holds="sequences", help="store made by tropalign db build")


class Info(StoreCommand):
    """Shows the contents of a store."""

    verb = "db info"
    summary = "show the contents of a store"

    def run(self) -> None:
        """Print the facts."""
        from tropalign.errors import shown
        from tropalign.sequences import SequenceStore

        _check_stdout()
        store = SequenceStore.open(self.store)
        lengths = store.offsets[store.by_length + 1] - store.offsets[store.by_length]
        facts = {
            "alphabet": store.alphabet.name,
            "sequences": f"{len(store):,}",
            "residues": f"{len(store.letters):,}",
            "lengths": f"{lengths[0]:,} to {lengths[-1]:,}, median {lengths[len(store) // 2]:,}"
            if len(store)
            else "none",
            "taxids": _known_taxa(store),
            "written by": shown(str(store.manifest.get("made_by"))),
        }
        for name, value in facts.items():
            print(f"{name:<12}{value}")


def _known_taxa(store: SequenceStore) -> str:
    """Return the numbers of sequences with a taxid, and with a lineage."""
    import numpy as np

    if store.taxa is None:
        return "none"
    n_taxids, n_lineages = (int(np.count_nonzero(values)) for values in (store.taxa.taxids, store.taxa.lineage))
    n_taxa = len(np.unique(store.taxa.taxids[store.taxa.taxids > 0]))
    return f"of {n_taxids:,} sequences ({n_taxa:,} taxa); lineages of {n_lineages:,}"


class Verify(StoreCommand):
    """Verifies that a store is undamaged."""

    verb = "db verify"
    summary = "check that a store is intact"

    def run(self) -> None:
        """Read the whole store."""
        from tropalign.sequences import SequenceStore

        _check_stdout()
        SequenceStore.open(self.store).verify()
        print("the store is intact")


class Databases(Command):
    """Lists the databases that can be used by name."""

    verb = "db list"
    summary = "list the stores in the folders of TROPALIGN_DB, which tropalign find accepts by name"

    def run(self) -> None:
        """Print a line per store."""
        import os

        from tropalign.errors import TropalignError, shown
        from tropalign.sequences import SequenceStore

        _check_stdout()
        found = list(databases())
        if not found:
            where = (
                f"there is no store ({SUFFIX}) in {shown(os.environ[VARIABLE])}"
                if os.environ.get(VARIABLE)
                else "it is not set"
            )
            self.refuse(f"{VARIABLE} must name folders of stores, but {where}: make stores with tropalign db build")
        width = max(len(name) for name, _ in found)
        for name, path in found:
            try:
                store = SequenceStore.open(str(path))
                about = f"{store.alphabet.name:<10}  {len(store):,} sequences, {len(store.letters):,} residues"
            except TropalignError as error:
                about = f"not a store: {error}"
            print(f"{shown(name):<{width}}  {shown(about)}")


class Db(Command):
    """Commands for stores."""

    verb = "db"
    summary = "keep sequences in a store that every verb opens in milliseconds"
    description = "Build and check sequence stores (.tdb): files that are mapped into memory instead of being read."
    example = """example:
  tropalign db build swissprot.fasta.gz -o swissprot.tdb
  tropalign db build nr.fasta.gz --taxonomy taxids.tsv --taxdump taxdump.tar.gz -o nr.tdb
  tropalign search globins.hmm swissprot.tdb

Verbs accept a store wherever they accept a FASTA file. Exit codes: 0 done, 2 usage, 3 bad input, 4 disk."""
    actions = (Build, Info, Verify, Databases)

    def run(self) -> None:
        """Refuse to run without an action."""
        self.refuse("name an action: build, info, verify or list")


def _check_stdout() -> None:
    from tropalign.errors import InputError

    if sys.stdout is None:
        raise InputError("standard output is closed: redirect it to a file or a terminal")
