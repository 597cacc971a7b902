"""A reference alignment and its tree, prepared for placing reads, and a table of the lineages of its tips."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterable, Set
from dataclasses import dataclass, fields
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tropalign import _native
from tropalign.errors import InputError, TropalignError, TropalignWarning, counted, named, shown
from tropalign.execution.files import disk_error
from tropalign.placement.scoring import GAP_FLAGS, GapFlags
from tropalign.placement.tree import (
    PlacementTree,
    StateAlphabet,
    branch_maker,
    column_counts,
    parse_tree,
    plain_name,
    read_tree,
    rows_of_tips,
    states_of,
    warn_of_unknown,
)
from tropalign.properties import cached_property
from tropalign.resources.limits import default_budget, require, resolve_threads
from tropalign.results.placements import BranchLineages, Lineage
from tropalign.sequences.aligned_files import read_alignment
from tropalign.sequences.alphabet import GAP_LETTERS, AlphabetLike, alphabet_named, alphabet_of, byte_counts
from tropalign.sequences.files import file_name, read_text
from tropalign.sequences.kinds import alphabet_of_rows

if TYPE_CHECKING:
    from tropalign._native import BranchBounds

#: Version of the file's layout.
FORMAT = 1
#: Number of axes and type of each array.
ARRAYS = {"letters": (2, "|u1"), "columns": (1, "<i8"), "planes": (3, "<u8"), "distinct": (1, "<i8")}
META = "meta"
#: Maximum size of an unpacked byte of a zip archive (deflate).
MOST_PACKED = 1040
HEADER_BYTES = 1 << 10


class Damaged(Exception):
    """A fault of a file; the message is the second half of a sentence."""


def write_saved(
    path: str | os.PathLike[str] | IO[bytes], meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a file for `read_saved`; a name without .npz gets this suffix."""
    is_name = isinstance(path, str | os.PathLike)
    if is_name and (not os.path.basename(path) or os.path.isdir(path)):  # type: ignore[arg-type]
        raise InputError("this is not a file name: give one", file=str(path))
    packed = np.frombuffer(json.dumps({"format": FORMAT, **meta}).encode(), np.uint8)
    try:
        np.savez_compressed(path, **{META: packed, **arrays})  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        if not is_name:  # the caller opened the file
            raise
        raise disk_error(error, str(path), 0) from error


def read_saved(
    path: str | os.PathLike[str], memory_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the metadata and arrays of a saved reference, and check their types and sizes.

    `memory_bytes`: limit, by default a share of the free memory; ResourceError above it, InputError for any other
    file.
    """
    file = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = _sizes(archive)
            allowed = default_budget() if memory_bytes is None else memory_bytes
            require(
                sum(sizes.values()), allowed, f"the saved reference {file}", f"allow more with {named('memory_bytes')}"
            )
            meta = json.loads(_array(archive, META, 1, "|u1", sizes[META]).tobytes())
            if not isinstance(meta, dict) or meta.get("format") != FORMAT:
                raise InputError("the reference was saved by another version of tropalign: build it again", file=file)
            arrays = {name: _array(archive, name, *kind, sizes[name]) for name, kind in ARRAYS.items()}
        return meta, arrays
    except FileNotFoundError:
        raise InputError("there is no such file", file=file) from None
    except (TropalignError, MemoryError):
        raise
    except Exception as error:  # damaged archives raise errors of many kinds
        raise damaged(file, str(error) if isinstance(error, Damaged) else "") from None


def damaged(file: str, what: str = "") -> InputError:
    """Return the error for a file that is not a saved reference, or is damaged."""
    detail = f" ({what})" if what else ""
    return InputError(f"this is not a saved reference, or it is damaged{detail}: save the reference again", file=file)


def _sizes(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the unpacked bytes of each member, according to the archive's directory."""
    sizes = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if (
            name in sizes
            or name not in {META, *ARRAYS}
            or entry.file_size > MOST_PACKED * entry.compress_size + HEADER_BYTES
        ):
            raise Damaged("its members are not those of a reference")
        sizes[name] = entry.file_size
    if sizes.keys() != {META, *ARRAYS}:
        raise Damaged("members are missing")
    return sizes


def _array(archive: zipfile.ZipFile, name: str, n_axes: int, dtype: str, size: int) -> NDArray[Any]:
    """Read a member, whose header must match the size in the directory."""
    with archive.open(f"{name}.npy") as stream:
        if stream.read(8) != b"\x93NUMPY\x01\x00":
            raise Damaged(f"{name} is not an array")
        n_header = int.from_bytes(stream.read(2), "little")
        header = ast.literal_eval(stream.read(min(n_header, HEADER_BYTES)).decode("latin-1"))
        shape = tuple(int(n) for n in header["shape"])
        if header["descr"] != dtype or header["fortran_order"] or len(shape) != n_axes or min(shape) < 0:
            raise Damaged(f"{name} has the wrong type or shape")
        kind = np.dtype(dtype)
        n_items = 1
        for n in shape:
            n_items *= n
        if n_items * kind.itemsize != size - 10 - n_header:
            raise Damaged(f"{name} has the wrong size")
        data = stream.read(n_items * kind.itemsize)
        if len(data) != n_items * kind.itemsize or stream.read(1):
            raise Damaged(f"{name} has the wrong size")
    return np.frombuffer(data, kind).reshape(shape)


@dataclass(frozen=True, eq=False)
class ReferencePackage:
    """A reference alignment, its tree, and the vector of every branch.

    Create one with `ReferencePackage.build` or `.read`, store it with `save`.

    Attributes
    ----------
    names : tuple of str
        Rows of the alignment.
    letters : uint8, shape (n_rows, n_columns)
        The alignment as it was written.
    tree
        The tree of the rows.
    states
        The alphabet.
    gap_flags : {"compat", "exact", "discrete"}
        Rule for the gap columns of branches: by likelihood, to the last bit as in PaPaRa 2.5, or
        in closed form, or by the rules of the 2011 paper.
    columns : int64
        Columns in which any row has a letter; the others take no part.
    planes : uint64, shape (n_groups, len(columns) padded in front to a multiple of 4, n_states + 1)
        The distinct vectors, 64 per group, a bit each: their states, and the gap flag (Berger and Stamatakis
        2011).
    distinct : int64, shape (n_branches,)
        The number of each branch's vector; vectors are numbered by their first branch.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> package.n_branches
    5
    """

    #: For transfer to remote workers (`tropalign.devices.remote_worker`).
    is_sent_once = True

    names: tuple[str, ...]
    letters: NDArray[np.uint8]
    tree: PlacementTree
    states: StateAlphabet
    gap_flags: str
    columns: NDArray[np.int64]
    planes: NDArray[np.uint64]
    distinct: NDArray[np.int64]

    def __repr__(self) -> str:
        rows, columns = self.letters.shape
        return f"<ReferencePackage: {rows:,} {self.states.alphabet.name} sequences, {columns:,} columns>"

    def __post_init__(self) -> None:
        if not isinstance(self.tree, PlacementTree) or not isinstance(self.states, StateAlphabet):
            raise ValueError("tree must be a Tree, and states a StateAlphabet")
        if not isinstance(self.gap_flags, str) or self.gap_flags not in GAP_FLAGS:
            raise ValueError(f"gap flags must be one of {', '.join(GAP_FLAGS)}")
        for name, (n_axes, dtype) in ARRAYS.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != n_axes or array.dtype != np.dtype(dtype):
                raise ValueError(f"{name} must be an array of {n_axes} axes and type {np.dtype(dtype)}")
            view = np.ascontiguousarray(array).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        n_rows, n_columns = self.letters.shape
        if not all(isinstance(name, str) for name in self.names) or len(set(self.names)) != len(self.names):
            raise ValueError("names must be distinct strings")
        if any("\n" in name or "\r" in name for name in self.names):
            raise ValueError("names must not contain line breaks")
        if len(self.names) != n_rows:
            raise ValueError(f"there are {len(self.names)} names for {n_rows} rows")
        columns = self.columns
        if not len(columns) or columns[0] < 0 or columns[-1] >= n_columns or (columns[1:] <= columns[:-1]).any():
            raise ValueError(
                f"columns must be ascending indices below {n_columns}, the number of columns of the alignment"
            )
        if len(self.tree.tips) != n_rows:
            raise ValueError(f"the tree has {len(self.tree.tips)} tips for {n_rows} rows")
        n_branches, distinct = len(self.tree.branches()), self.distinct
        if len(distinct) != n_branches or distinct.min() < 0 or distinct.max() >= n_branches:
            raise ValueError(f"distinct must hold an index for each of the {n_branches} branches")
        first = np.unique(distinct, return_index=True)[1]
        if len(first) != self.n_distinct or (first[1:] <= first[:-1]).any():
            raise ValueError("distinct vectors must be numbered consecutively in the order of their first branch")
        wanted = (-(-self.n_distinct // 64), len(self.columns) + self.n_empty, self.states.n_states + 1)
        if self.planes.shape != wanted:
            raise ValueError(f"planes must have shape {wanted}, not {self.planes.shape}")

    def __reduce__(self) -> tuple[Any, ...]:
        return ReferencePackage, tuple(getattr(self, entry.name) for entry in fields(self))

    @classmethod
    def read(
        cls,
        alignment: str | os.PathLike[str],
        tree: str | os.PathLike[str],
        *,
        alphabet: AlphabetLike | None = None,
        gap_flags: GapFlags = "compat",
        n_threads: int = 0,
    ) -> ReferencePackage:
        """Read a package from a PHYLIP, FASTA or Stockholm file and a Newick or NEXUS file.

        Parameters
        ----------
        alignment
            A file with a row per sequence.
        tree
            A file whose tips have the rows' names; branch lengths are used, a root is ignored.
        alphabet
            Inferred from the letters if not given.
        gap_flags : {"compat", "exact", "discrete"}
            See the class.
        n_threads
            0: as many as the process may use.

        Returns
        -------
        ReferencePackage

        Raises
        ------
        InputError
            Files that cannot be read, or whose names differ.

        Examples
        --------
        >>> package = tropalign.ReferencePackage.read("examples/16s/ref.phy.gz", "examples/16s/ref.nwk")
        >>> package.n_branches, package.letters.shape
        (1601, (802, 3644))
        """
        parsed = read_tree(tree)  # read first: its memory is free again for the alignment
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
        tree: PlacementTree | str,
        *,
        alphabet: AlphabetLike | None = None,
        gap_flags: GapFlags = "compat",
        n_threads: int = 0,
        file: str = "the alignment",
    ) -> ReferencePackage:
        """Build a package from rows of letters and a tree (or Newick text).

        Parameters
        ----------
        names
            One per row, all different.
        letters : uint8, shape (n_rows, n_columns)
            Bytes of ASCII letters; ``-``, ``.``, ``_`` and ``~`` are gaps.
        tree
            A tree whose tips have the rows' names, or its Newick text.
        alphabet
            An Alphabet or its name; inferred from the letters if not given.
        gap_flags : {"compat", "exact", "discrete"}
            See the class.
        n_threads
            0: as many as the process may use.
        file
            Name of the alignment in messages.

        Returns
        -------
        ReferencePackage

        Raises
        ------
        InputError
            Names that differ from rows in number, are not unique or are not those of the tree; no letter at all.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> package.columns.tolist()
        [0, 1, 2, 3, 4]
        """
        is_list = isinstance(names, Iterable) and not isinstance(names, str | bytes | Set)
        names = tuple(names) if is_list else (names,)  # type: ignore[assignment]
        if not is_list or not all(isinstance(name, str) for name in names):
            raise InputError("the names must be a list of strings, one per row in the order of the rows", file=file)
        if not isinstance(letters, np.ndarray) or letters.ndim != 2 or letters.dtype != np.uint8:
            raise InputError(
                "the letters of an alignment must be a two-dimensional uint8 array with a row per sequence", file=file
            )
        if len(names) != len(letters):
            raise InputError(f"{len(names)} names for {len(letters)} rows: give one name per row", file=file)
        if len(set(names)) != len(names):
            raise InputError("two rows have the same name: give each its own", file=file)
        if not isinstance(gap_flags, str) or gap_flags not in GAP_FLAGS:
            raise InputError(f"gap flags {gap_flags!r} are not one of {', '.join(GAP_FLAGS)}")
        tree = parse_tree(tree) if isinstance(tree, str) else tree
        if not isinstance(tree, PlacementTree):
            raise InputError(f"an object of type {type(tree).__name__} is not a tree: give a Tree or Newick text")
        row = rows_of_tips(names, tree, file)
        letters = np.ascontiguousarray(letters)
        counts = byte_counts(letters.reshape(-1))
        if alphabet is not None:
            alphabet = alphabet_of(alphabet)
        if alphabet is None:
            alphabet = alphabet_of_rows(names, letters, file)
        states = states_of(alphabet)
        if counts[~states.known].any():
            warn_of_unknown(names, letters, states, file)
        plain = letters
        if counts[(other_gaps := list(GAP_LETTERS.replace("-", "").encode()))].any():
            plain = np.where(np.isin(letters, other_gaps), np.uint8(ord("-")), letters)
            counts = byte_counts(plain.reshape(-1))
        n_letters, n_gaps = column_counts(plain, counts, states)
        columns = np.flatnonzero(n_letters)
        if not len(columns):
            raise InputError("no column of the alignment holds a residue", file=file)
        share = int(n_gaps[columns].sum()) / (len(names) * len(columns))
        maker = branch_maker(tree, plain, row, columns, states, gap_flags, share, resolve_threads(n_threads))
        planes, distinct = maker.planes()
        return cls(names, letters, tree, states, gap_flags, columns, planes, distinct)

    @property
    def n_branches(self) -> int:
        """Number of branches: 2 n - 3 for n tips."""
        return len(self.distinct)

    @property
    def n_distinct(self) -> int:
        """Number of distinct vectors."""
        return int(self.distinct.max()) + 1

    @cached_property
    def first_branch(self) -> NDArray[np.int64]:
        """First branch with each distinct vector."""
        return np.unique(self.distinct, return_index=True)[1]

    @cached_property
    def multiplicity(self) -> NDArray[np.int64]:
        """Number of branches with each distinct vector."""
        return np.bincount(self.distinct)

    @property
    def n_empty(self) -> int:
        """Number of padding columns at the start of `planes`."""
        return -len(self.columns) % 4

    @cached_property
    def bounds(self) -> BranchBounds:
        """Bounds of each group of eight branches."""
        return _native.BranchBounds(self.planes, self.n_distinct, self.n_empty)

    def vectors(self) -> NDArray[Any]:
        """Return the distinct vectors, uint8 or (proteins) uint32, shape (n_distinct, len(columns)).

        They are state sets, with the gap flag in the bit above the last state.

        Returns
        -------
        array
            State k of a column is bit k.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> package.vectors().shape == (package.n_distinct, 5)
        True
        """
        found = _native.plane_vectors(self.planes, self.n_distinct, self.n_empty, np.arange(self.n_distinct))
        made: NDArray[Any] = found.astype(np.uint8) if self.states.n_states < 8 else found
        return made

    def held_bytes(self) -> int:
        """Return the bytes in memory during placement: the arrays, bounds of half their size, and the words of bounds.

        Returns
        -------
        int

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> package.held_bytes() > 0
        True
        """
        vectors = self.n_distinct * len(self.columns)
        words = 8 * (1 << 18) + 12 * (vectors // 8)  # native/placement/likely_bounds.hpp
        return int(self.letters.nbytes + 2 * self.planes.nbytes + vectors + words)

    def fingerprint(self) -> str:
        """Return the SHA-256 of names, letters, tree and vectors, in hexadecimal.

        Returns
        -------
        str
            64 hexadecimal digits.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> len(package.fingerprint())
        64
        """
        digest = hashlib.sha256(json.dumps([self.names, self.tree.jplace(), self.gap_flags]).encode())
        for array in (self.letters, self.planes, self.distinct):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write the package to a file that `load` reads; a name without .npz gets this suffix.

        Parameters
        ----------
        path
            A name, or a file that is open for writing bytes.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     package.save(f"{folder}/package.npz")
        ...     again = tropalign.ReferencePackage.load(f"{folder}/package.npz")
        >>> again.fingerprint() == package.fingerprint()
        True
        """
        tree = {"children": self.tree.children, "lengths": self.tree.lengths.tolist(), "names": self.tree.names}
        words = {"alphabet": self.states.alphabet.name, "gap_flags": self.gap_flags}
        write_saved(path, {"names": self.names, **words, "tree": tree}, {name: getattr(self, name) for name in ARRAYS})

    @staticmethod
    def is_saved(path: str | os.PathLike[str]) -> bool:
        """Return whether a file is one that `save` wrote, by its first bytes.

        Parameters
        ----------
        path
            Any file.

        Returns
        -------
        bool

        Examples
        --------
        >>> tropalign.ReferencePackage.is_saved("examples/16s/ref.nwk")
        False
        """
        try:
            with open(path, "rb") as file:
                return file.read(4) == b"PK\x03\x04"
        except (OSError, ValueError):
            return False

    @classmethod
    def load(cls, path: str | os.PathLike[str], memory_bytes: int | None = None) -> ReferencePackage:
        """Load a package that `save` wrote.

        Parameters
        ----------
        path
            The file.
        memory_bytes
            Memory limit; by default a share of the free memory.

        Returns
        -------
        ReferencePackage

        Raises
        ------
        InputError
            Any other file, or a damaged one: all contents are checked.
        ResourceError
            More than the memory allowed.

        Examples
        --------
        >>> import numpy as np
        >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
        >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
        >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     package.save(f"{folder}/package.npz")
        ...     tropalign.ReferencePackage.load(f"{folder}/package.npz").names
        ('a', 'b', 'c', 'd')
        """
        meta, arrays = read_saved(path, memory_bytes)
        try:
            children, lengths, names = (meta["tree"][name] for name in ("children", "lengths", "names"))
            tree = PlacementTree(tuple(map(tuple, children)), np.array(lengths, np.float64), tuple(names))
            states = states_of(alphabet_named(meta["alphabet"]))
            return cls(tuple(meta["names"]), tree=tree, states=states, gap_flags=meta["gap_flags"], **arrays)
        except ValueError as error:
            raise damaged(str(path), shown(str(error))) from None
        except (KeyError, TypeError, AttributeError, OverflowError, InputError):
            raise damaged(str(path)) from None


#: A larger file is not a table of tips.
MOST_TABLE_BYTES = 1 << 30
#: Line ends; other Unicode line separators may occur in names.
_LINE_END = re.compile(r"\r\n|\r|\n")
#: A lineage as quoted by spreadsheets.
_QUOTED = re.compile(r'^"(.*)"$')


def read_taxonomy(path: str | os.PathLike[str], package: ReferencePackage) -> BranchLineages:
    r"""Read the lineages of the tips below each branch from a table.

    Parameters
    ----------
    path
        Lines of a tip's name, a tab, and its ranks from the top with semicolons between them. Empty lines, lines
        that start with ``#``, and names that the tree lacks are ignored.
    package
        The reference with these tips.

    Returns
    -------
    BranchLineages

    Raises
    ------
    InputError
        A line without a tab or with an empty rank, a repeated name, or no name that is one of the tree's.

    Warns
    -----
    TropalignWarning
        Tips of the tree that the table lacks.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> rows = np.array([list(row) for row in (b"ACGTA", b"ACGAA", b"ACCAA", b"TCCAA")], np.uint8)
    >>> tree = "((a:0.1,b:0.1):0.1,c:0.1,d:0.1);"
    >>> package = tropalign.ReferencePackage.build(("a", "b", "c", "d"), rows, tree)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "tips.tsv")
    ...     _ = table.write_text("a\tP;Q\nb\tP;R\nc\tS\nd\tS\n")
    ...     lineages = tropalign.read_taxonomy(table, package)
    >>> (placed,) = tropalign.place(package, [("x", "ACGTA")])
    >>> lineages.assign(placed)[0].likely
    ('P', 'Q')
    """
    file = file_name(path)
    of_names = _parsed(read_text(path, MOST_TABLE_BYTES), file)
    tips = [package.tree.names[tip] for tip in package.tree.tips]
    plain: dict[str, tuple[str, Lineage]] = {}
    for name, lineage in of_names.items():
        before, other = plain.setdefault(plain_name(name), (name, lineage))
        if lineage != other and not {name, before} <= {*tips}:
            raise InputError(
                f"{before!r} and {name!r} are the same tip with different lineages: leave one of them out", file=file
            )
    lineages = tuple(of_names.get(tip, plain.get(plain_name(tip), ("", ()))[1]) for tip in tips)
    missing = [tip for tip, lineage in zip(tips, lineages, strict=True) if not lineage]
    if len(missing) == len(tips):
        raise InputError(
            f"the table contains none of the tree's tips, such as {tips[0]!r}: its first column must hold their names",
            file=file,
        )
    if missing:
        without = counted(len(missing), "tips of the tree")
        text = f"{shown(file)}: {without} without a lineage, such as {missing[0]!r}: left out"
        warnings.warn(text, TropalignWarning, stacklevel=2)
    return BranchLineages(lineages, *package.tree.tips_below())


def _parsed(text: str, file: str) -> dict[str, Lineage]:
    found: dict[str, Lineage] = {}
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, tab, words = line.partition("\t")
        where = f"{file}, line {number}"
        if not tab:
            raise InputError("this line has no tab: write a name, a tab and a lineage such as a;b;c", file=where)
        words = _QUOTED.sub(r"\1", words.split("\t")[0].strip())
        lineage = tuple(word.strip() for word in words.removesuffix(";").split(";"))
        if "" in lineage:
            raise InputError(
                f"rank {lineage.index('') + 1} of the lineage is empty: write a word such as unclassified",
                file=where,
            )
        if name in found:
            raise InputError(f"the tip {name!r} occurs twice: keep one of its lines", file=where)
        found[name] = lineage
    return found
