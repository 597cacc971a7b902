"""Differences of an alignment to one of its rows: a table, and VCF 4.3 with a haploid genotype per row."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError
from tropalign.formats.aligned import AlignedContext
from tropalign.formats.aligned.text import words
from tropalign.formats.format import Codec, Concatenated, Header
from tropalign.results import rows
from tropalign.results.differences import BEYOND, GAP, Compared, Indel, reference_row
from tropalign.results.multiple import MultipleAlignment

COLUMNS = ("position", "kind", "reference", "letters", "n_sequences", "sequences")


def header_text(header: Header, context: AlignedContext) -> bytes:
    """Return comment lines, then the column names."""
    return header.above(COLUMNS)


def encode_tsv(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return a row per difference; positions count from 1, and an insertion has that of the residue before it."""
    for name in alignment.names:
        if not name or any(letter.isspace() for letter in name):
            raise InputError("blanks separate the names in a table of differences: rename the sequence", record=name)
    names = alignment.names
    found = alignment.differences(context.reference_row)
    columns = [
        rows.numbers(np.array([one.position + (one.kind != "insertion") for one in found], np.int64)),
        rows.words([one.kind for one in found]),
        rows.words([one.reference or "-" for one in found]),
        rows.words([one.letters or "-" for one in found]),
        rows.numbers(np.array([len(one.rows) for one in found], np.int64)),
        rows.words([" ".join(names[row] for row in one.rows) for one in found]),
    ]
    return rows.join(columns, len(found))


TSV = Codec(encode_tsv, Concatenated(header_text))

#: Allowed names of contigs (VCF 4.3, section 1.4.7).
CONTIG = re.compile(r"[0-9A-Za-z!#$%&+./:;?@^_|~-][0-9A-Za-z!#$%&*+./:;=?@^_|~-]*")
#: Alleles of one base; other letters are missing.
BASES = b"ACGT"
#: Byte of a first base whose allele is in the record of an insertion before it.
JOINED = 1
#: Positions whose genotypes are made at once.
POSITIONS_AT_ONCE = 1024
#: First of the possible bases by code, which VCF 4.3 requires in place of a code in REF; all except these become N.
FIRST_BASE = bytes.maketrans(b"RYSWKMBDHV", b"ACCAGACAAA")
#: Codes other than bases become N in inserted residues.
ALLELE = bytes(byte if byte in BASES else ord("N") for byte in range(256))


def vcf_header(header: Header, context: AlignedContext) -> bytes:
    """Return the version of the format, and the header as lines of metadata."""
    lines = [f"##source=tropalign {header.version}"]
    for line in header.description_lines() if header.has_comments else []:
        name, _, value = line.partition(": ")
        lines.append(f"##tropalign_{name.replace(' ', '_')}={value}")
    return "\n".join(["##fileformat=VCFv4.3", *lines, ""]).encode()


def encode_vcf(alignment: MultipleAlignment, context: AlignedContext) -> bytes:
    """Return the file without its first lines, in one piece."""
    return b"".join(vcf_blocks(alignment, context))


def vcf_blocks(alignment: MultipleAlignment, context: AlignedContext) -> Iterator[bytes]:
    """Yield contig and columns, then the records by position: substitutions before insertions and deletions."""
    if not alignment.sequences.alphabet.has_strands:
        raise InputError("format vcf is for nucleotides: write proteins in another format, or as --differences")
    names, row = words(alignment, "vcf"), reference_row(alignment.names, context.reference_row)
    contig = alignment.names[row]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(alignment.names) if name in alignment.names[:k])
        raise InputError("format vcf does not allow two rows of one name: rename one", record=twice)
    if not CONTIG.fullmatch(contig):
        raise InputError("format vcf does not allow this name of the reference row: rename it", record=contig)
    compared = Compared(alignment.sequences, alignment.columns, alignment.n_columns, row)
    if not len(compared.reference):
        raise InputError("format vcf needs residues in the reference row: compare with another row", record=contig)
    records = _Records(compared)
    about = [
        f"##contig=<ID={contig},length={len(records.reference)}>",
        '##FORMAT=<ID=GT,Number=1,Type=String,Description="Allele; * is deleted, . is unknown or in another record">',
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT",
    ]
    others = [name for k, name in enumerate(names) if k != row]
    yield b"\t".join(["\n".join(about).encode(), *others]) + b"\n"
    yield from records.lines(contig.encode())


# A deletion or insertion is anchored on the base before it. REF and ALT hold the anchor of the reference:
# substitutions, also of an anchor, have records of their own. Residues inserted where others are deleted are
# substitutions, as far as there are as many. An insertion before the reference is anchored on the first base.
# `bcftools consensus` skips another record of the row at that position, so that this record includes the row's own
# first base and the indel after it.
class _Records:
    """Records of all rows except the reference."""

    def __init__(self, compared: Compared) -> None:
        self.reference = compared.reference.tobytes().translate(FIRST_BASE)
        target = np.frombuffer(self.reference, np.uint8)
        n = len(compared.sequences) - 1
        self.letters = np.empty((n, len(target)), np.uint8)
        self.indels: dict[tuple[int, bytes], dict[bytes, list[int]]] = {}
        is_site = np.zeros(len(target), bool)
        for k, (_, found) in enumerate(compared.others()):
            letters, places, indels = self.letters[k], [found.substituted], []
            letters[:] = found.letters
            for one in found.indels:
                middle = min(one.begin + len(one.letters), one.end)
                letters[one.begin : middle] = list(one.letters[: middle - one.begin])
                places.append(np.arange(one.begin, middle))
                rest = Indel(middle, one.end, one.letters[middle - one.begin :])
                if rest.letters or middle < one.end:
                    indels.append(rest)
            for at, old, new in self._anchored(indels, letters):
                self.indels.setdefault((at, old), {}).setdefault(new.translate(ALLELE), []).append(k)
            there = np.concatenate(places)
            is_site[there[np.isin(letters[there], list(BASES)) & (letters[there] != target[there])]] = True
        self.sites = np.flatnonzero(is_site)

    def _anchored(self, indels: list[Indel], letters: NDArray[np.uint8]) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield position, REF and ALT of a row's indels; mark a first base that is in such an ALT in `letters`."""
        if indels and not indels[0].begin:  # an insertion, since the ends of a row are unknown
            base, own = self.reference[:1], letters[:1].tobytes()
            if own in BASES and own != base:
                base, letters[0] = own, JOINED
            first, behind = indels[0], Indel(1, 1, b"")
            indels = indels[1:]
            if indels and indels[0].begin == 1:
                behind, *indels = indels
            yield 0, self.reference[: behind.end], first.letters + base + behind.letters
        for one in indels:
            anchor = self.reference[one.begin - 1 : one.begin]
            yield one.begin - 1, self.reference[one.begin - 1 : one.end], anchor + one.letters

    def lines(self, contig: bytes) -> Iterator[bytes]:
        """Yield the records in blocks."""
        waiting = sorted(self.indels, reverse=True)
        for begin in range(0, len(self.sites), POSITIONS_AT_ONCE):
            sites = self.sites[begin : begin + POSITIONS_AT_ONCE]
            made = []
            for site, line in zip(sites.tolist(), self._of_sites(sites), strict=True):
                while waiting and waiting[-1][0] < site:
                    made.append(self._of_indel(*waiting.pop()))
                made.append(line)
            yield b"".join(contig + b"\t" + line for line in made)
        yield b"".join(contig + b"\t" + self._of_indel(*key) for key in reversed(waiting))

    def _of_sites(self, sites: NDArray[np.int64]) -> Iterator[bytes]:
        """Yield the record of each of these positions."""
        letters = np.ascontiguousarray(self.letters[:, sites].T)
        for site, column in zip(sites.tolist(), letters, strict=True):
            old = self.reference[site]
            there = set(np.unique(column).tolist())
            alleles = bytes(base for base in BASES if base in there and base != old) + b"*" * (GAP in there)
            calls = np.full(256, ord("."), np.uint8)
            calls[old] = ord("0") if old in BASES else ord(".")
            calls[list(alleles.replace(b"*", b"-"))] = np.arange(1, len(alleles) + 1) + ord("0")
            text = np.full(2 * len(column), ord("\t"), np.uint8)
            text[::2] = calls[column]
            text[-1:] = ord("\n")
            yield _fields(site, bytes([old]), [bytes([one]) for one in alleles]) + text.tobytes()

    def _of_indel(self, at: int, old: bytes) -> bytes:
        """Return the record of the indels with this anchor and REF; rows without the anchor are unknown or deleted."""
        found = self.indels[at, old]
        anchor = self.letters[:, at]
        is_known = (anchor != BEYOND) & (anchor != ord("N"))
        carriers = {row for who in found.values() for row in who}
        is_deleted = [k for k in np.flatnonzero(anchor == GAP).tolist() if k not in carriers]
        alleles = [*sorted(found), *([b"*"] if is_deleted else [])]
        calls = np.where(is_known, b"0", b".").tolist()
        for number, allele in enumerate(alleles, 1):
            for row in is_deleted if allele == b"*" else found[allele]:
                calls[row] = b"%d" % number
        return _fields(at, old, alleles) + b"\t".join(calls) + b"\n"


def _fields(at: int, old: bytes, alleles: list[bytes]) -> bytes:
    """Return the fields between the contig and the genotypes."""
    return b"%d\t.\t%s\t%s\t.\t.\t.\tGT\t" % (at + 1, old, b",".join(alleles))


VCF = Codec(encode_vcf, Concatenated(vcf_header), blocks=vcf_blocks)
