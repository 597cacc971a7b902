"""A reference alignment and its tree, made ready for placing reads."""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign.errors import InputError, TropalignWarning
from tropalign.formats.msa import read_alignment
from tropalign.machine.threads import resolve_threads
from tropalign.phylo import transitions
from tropalign.phylo.states import NUCLEOTIDE_STATES, PROTEIN_STATES, StateAlphabet
from tropalign.phylo.tree import Tree, parse_tree, read_tree
from tropalign.sequences import NUCLEOTIDE, Alphabet
from tropalign.sequences.batch import judge_counts

if TYPE_CHECKING:
    from tropalign._native import BranchBounds, BranchMaker

GAP_FLAGS = ("compat", "exact", "discrete")
#: Names shown of each side where tree and alignment differ.
SHOWN = 10


@dataclass(frozen=True, eq=False)
class ReferencePackage:
    """A reference alignment, its tree, and what every branch looks like from there.

    Make one with `ReferencePackage.build` or `.read`, keep it with `save`.

    Attributes
    ----------
    names : tuple of str
        Rows of the alignment.
    letters : uint8, shape (n_rows, n_columns)
        The alignment as it was written.
    tree
    states
        The alphabet.
    gap_flags : {"compat", "exact", "discrete"}
        How a branch's column becomes a gap column: by likelihood, to the last bit as PaPaRa 2.5, in closed form, or by
        the rules of the 2011 paper.
    columns : int64
        Columns in which any row has a letter; the others take no part.
    planes : uint64, shape (n_groups, len(columns) padded in front to a multiple of 4, n_states + 1)
        The distinct vectors, 64 in a group, a bit each: their states, and the gap flag (Berger and Stamatakis 2011).
    distinct : int64, shape (n_branches,)
        Of each branch, the number of its vector; they are numbered by their first branch.
    """

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    tree: Tree
    states: StateAlphabet
    gap_flags: str
    columns: NDArray[np.int64]
    planes: NDArray[np.uint64]
    distinct: NDArray[np.int64]

    @classmethod
    def read(
        cls,
        alignment: str | os.PathLike[str],
        tree: str | os.PathLike[str],
        *,
        alphabet: Alphabet | None = None,
        gap_flags: str = "compat",
        n_threads: int = 0,
    ) -> ReferencePackage:
        """From a PHYLIP, FASTA or Stockholm file and a Newick file.

        Raises
        ------
        InputError
            Files that cannot be read, or whose names differ.
        """
        parsed = read_tree(tree)  # first: what parsing takes is free again for the alignment
        names, letters = read_alignment(alignment)
        return cls.build(
            names,
            letters,
            parsed,
            alphabet=alphabet,
            gap_flags=gap_flags,
            n_threads=n_threads,
            file=str(alignment),
        )

    @classmethod
    def build(
        cls,
        names: tuple[str, ...],
        letters: NDArray[np.uint8],
        tree: Tree | str,
        *,
        alphabet: Alphabet | None = None,
        gap_flags: str = "compat",
        n_threads: int = 0,
        file: str = "the alignment",
    ) -> ReferencePackage:
        """From rows of letters and a tree (or Newick text).

        Parameters
        ----------
        letters : uint8, shape (n_rows, n_columns)
        alphabet
            Judged by the letters when not given.
        n_threads
            0: as many as the process may use.
        """
        if gap_flags not in GAP_FLAGS:
            raise InputError(f"gap flags {gap_flags!r} are none of {', '.join(GAP_FLAGS)}")
        tree = parse_tree(tree) if isinstance(tree, str) else tree
        row = _matched(names, tree, file)
        counts = _byte_counts(letters)
        if alphabet is None:
            alphabet = judge_counts(np.where(np.isin(np.arange(256), list(b"-._?*")), 0, counts))
        states = NUCLEOTIDE_STATES if alphabet is NUCLEOTIDE else PROTEIN_STATES
        if counts[~states.known].any():
            _warn_of_unknown(names, letters, states, file)
        n_letters, n_gaps = _counts(letters, states)
        columns = np.flatnonzero(n_letters)
        if not len(columns):
            raise InputError("no column of the alignment holds a letter", file=file)
        share = int(n_gaps[columns].sum()) / (len(names) * len(columns))
        maker = _maker(tree, letters, row, columns, states, gap_flags, share, resolve_threads(n_threads))
        distinct, first = _distinct(maker.hashes())
        return cls(names, letters, tree, states, gap_flags, columns, maker.planes(first), distinct)

    @property
    def n_branches(self) -> int:
        """2 n - 3 for n tips."""
        return len(self.distinct)

    @property
    def n_distinct(self) -> int:
        """Distinct vectors."""
        return int(self.distinct.max()) + 1

    @cached_property
    def first_branch(self) -> NDArray[np.int64]:
        """Of each distinct vector, the first branch that has it."""
        return np.unique(self.distinct, return_index=True)[1]

    @cached_property
    def multiplicity(self) -> NDArray[np.int64]:
        """Of each distinct vector, how many branches have it."""
        return np.bincount(self.distinct)

    @property
    def n_empty(self) -> int:
        """Columns of padding that `planes` begins with."""
        return -len(self.columns) % 4

    @cached_property
    def bounds(self) -> BranchBounds:
        """Bounds of every eight branches."""
        from tropalign import _native

        return _native.BranchBounds(self.planes, self.n_distinct, self.n_empty)

    def vectors(self) -> NDArray[Any]:
        """The distinct vectors, uint8 or (proteins) uint32, shape (n_distinct, len(columns)).

        State sets, and the gap flag in the bit above the last state.
        """
        from tropalign import _native

        found = _native.plane_vectors(self.planes, self.n_distinct, self.n_empty, np.arange(self.n_distinct))
        made: NDArray[Any] = found.astype(np.uint8) if self.states.n_states < 8 else found
        return made

    def held_bytes(self) -> int:
        """Memory that it takes while reads are placed: its arrays, and bounds of half their size."""
        vectors = self.n_distinct * len(self.columns)
        return int(self.letters.nbytes + 2 * self.planes.nbytes + vectors)

    def fingerprint(self) -> str:
        """SHA-256 of names, letters, tree and vectors, in hexadecimal."""
        digest = hashlib.sha256(json.dumps([self.names, self.tree.newick(), self.gap_flags]).encode())
        for array in (self.letters, self.planes, self.distinct):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str] | IO[bytes]) -> None:
        """Writes it to a file that `load` reads; to a name without .npz that is added."""
        tree = {"children": self.tree.children, "lengths": self.tree.lengths.tolist(), "names": self.tree.names}
        meta = {
            "format": 1,
            "names": self.names,
            "alphabet": self.states.alphabet.name,
            "gap_flags": self.gap_flags,
            "tree": tree,
        }
        arrays = {"letters": self.letters, "columns": self.columns, "planes": self.planes, "distinct": self.distinct}
        np.savez_compressed(path, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)  # type: ignore[arg-type]

    @staticmethod
    def is_saved(path: str | os.PathLike[str]) -> bool:
        """Whether this is a file that `save` wrote, by its first bytes."""
        try:
            with open(path, "rb") as file:
                return file.read(4) == b"PK\x03\x04"
        except OSError:
            return False

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ReferencePackage:
        """What `save` wrote. Raises InputError on any other file."""
        try:
            with open(path, "rb") as file, np.load(io.BytesIO(file.read())) as stored:
                meta = json.loads(stored["meta"].tobytes())
                letters, columns, planes, distinct = (
                    stored[name] for name in ("letters", "columns", "planes", "distinct")
                )
            if meta["format"] != 1:
                raise InputError("this reference is of another version of tropalign: make it again", file=str(path))
            children, lengths, names = (meta["tree"][name] for name in ("children", "lengths", "names"))
            tree = Tree(tuple(map(tuple, children)), np.array(lengths), tuple(names))
            states = NUCLEOTIDE_STATES if meta["alphabet"] == NUCLEOTIDE.name else PROTEIN_STATES
            return cls(tuple(meta["names"]), letters, tree, states, meta["gap_flags"], columns, planes, distinct)
        except FileNotFoundError:
            raise InputError("there is no such file", file=str(path)) from None
        except InputError:
            raise
        except Exception:  # whatever a damaged archive makes of itself
            raise InputError(
                "this is no saved reference, or a damaged one: make it with --save-reference", file=str(path)
            ) from None


def _matched(names: tuple[str, ...], tree: Tree, file: str) -> list[int]:
    """The alignment's row of each tip; blanks for underscores and quotes are tried."""
    tips = [tree.names[tip] for tip in tree.tips]
    for change in (str, _plain):
        row = {change(name): k for k, name in enumerate(names)}
        wanted = [change(tip) for tip in tips]
        if len(row) == len(names) and len(set(wanted)) == len(wanted) and row.keys() == set(wanted):
            return [row[name] for name in wanted]
    only_tree = [tip for tip in tips if _plain(tip) not in {_plain(name) for name in names}]
    only_rows = [name for name in names if _plain(name) not in {_plain(tip) for tip in tips}]
    parts = [
        f"{len(side)} only in the {where} ({', '.join(side[:SHOWN])}{', ...' if len(side) > SHOWN else ''})"
        for side, where in ((only_tree, "tree"), (only_rows, "alignment"))
        if side
    ]
    raise InputError(
        f"tree and alignment have different names: {'; '.join(parts) or 'some are the same but for quotes or blanks'}; "
        "as they are, and without quotes and with underscores for blanks, they do not match",
        file=file,
    )


def _plain(name: str) -> str:
    return name.strip("'\"").replace(" ", "_")


def _byte_counts(letters: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How often each byte occurs; row by row, since counting takes eight times the memory."""
    counts = np.zeros(256, np.int64)
    for row in letters:
        counts += np.bincount(row, minlength=256)
    return counts


def _warn_of_unknown(names: tuple[str, ...], letters: NDArray[np.uint8], states: StateAlphabet, file: str) -> None:
    unknown = ~states.known[letters]
    row, column = np.argwhere(unknown)[0]
    warnings.warn(
        f"{file}, row {names[row]!r}: {int(unknown.sum())} letters outside the {states.alphabet.name} "
        f"alphabet, the first {chr(letters[row, column])!r} in column {column + 1}; "
        f"read as {states.alphabet.wildcard}",
        TropalignWarning,
        stacklevel=4,
    )


def _counts(letters: NDArray[np.uint8], states: StateAlphabet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each column, rows that have a letter there, and rows that have "-"."""
    is_letter = states.sets != states.all_states
    n_letters, n_gaps = np.zeros(letters.shape[1], np.int64), np.zeros(letters.shape[1], np.int64)
    for row in letters:
        n_letters += is_letter[row]
        n_gaps += row == ord("-")
    return n_letters, n_gaps


def _maker(
    tree: Tree,
    letters: NDArray[np.uint8],
    row: list[int],
    columns: NDArray[np.int64],
    states: StateAlphabet,
    gap_flags: str,
    share: float,
    n_threads: int,
) -> BranchMaker:
    """What makes vectors of branches, from two directional ones each: what is below it, and all the rest."""
    from tropalign import _native

    plan = _Plan(tree)
    lengths = np.array(plan.lengths)
    table = transitions.exact(share, lengths) if gap_flags == "exact" else transitions.compatible(share, lengths)
    joints, branches = np.array(plan.joints, np.int32).reshape(-1, 5), np.array(plan.branches, np.int32)
    alignment = (np.ascontiguousarray(letters), np.array(row, np.int64), columns, states.sets, states.n_states)
    return _native.BranchMaker(*alignment, joints, branches, table, gap_flags == "discrete", n_threads)


class _Plan:
    """Which directional vector comes from which, as native code takes it."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.joints, self.branches = tree, list[tuple[int, ...]](), list[tuple[int, int, int]]()
        self.lengths: list[float] = []
        self._of_length: dict[float, int] = {}
        tips = tree.tips
        self.n_vectors = len(tips)
        self._below = {tip: k for k, tip in enumerate(tips)}
        self._above: dict[int, int] = {}
        for node in range(len(tree.children) - 1, 0, -1):
            if tree.children[node]:
                one, other = tree.children[node]
                self._below[node] = self._join(one, self._below[one], other, self._below[other])
        self._from_the_root()
        for node in range(1, len(tree.children)):
            if tree.children[node]:
                one, other = tree.children[node]
                self._above[one] = self._join(node, self._above[node], other, self._below[other])
                self._above[other] = self._join(node, self._above[node], one, self._below[one])
        for node, length in zip(tree.branches(), tree.branch_lengths().tolist(), strict=True):
            self.branches.append((self._below[node], self._above[node], self._transition(length)))

    def _from_the_root(self) -> None:
        root = self.tree.children[0]
        if len(root) == 2:
            one, other = root
            self._above[one], self._above[other] = self._below[other], self._below[one]
            return
        for k, child in enumerate(root):
            one, other = (node for j, node in enumerate(root) if j != k)
            self._above[child] = self._join(one, self._below[one], other, self._below[other])

    def _join(self, one: int, of_one: int, other: int, of_other: int) -> int:
        """A vector from those at the far ends of the branches above two nodes."""
        self.joints.append((self.n_vectors, of_one, self._above_node(one), of_other, self._above_node(other)))
        self.n_vectors += 1
        return self.n_vectors - 1

    def _above_node(self, node: int) -> int:
        length = float(self.tree.lengths[node])
        root = self.tree.children[0]
        if len(root) == 2 and node in root:
            length = float(self.tree.lengths[root[0]] + self.tree.lengths[root[1]])
        return self._transition(length)

    def _transition(self, length: float) -> int:
        if length not in self._of_length:
            self._of_length[length] = len(self.lengths)
            self.lengths.append(length)
        return self._of_length[length]


def _distinct(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each row among the different ones, by first appearance; and the first row of each."""
    place: dict[tuple[int, int], int] = {}
    distinct = np.array([place.setdefault((a, b), len(place)) for a, b in hashes.tolist()], np.int64)
    return distinct, np.unique(distinct, return_index=True)[1]
