"""What shells and type checkers see of the package."""

import ast
import importlib
import inspect
import operator
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from clone import ROOT, skip_without

import tropalign
from tropalign.formats import format as formats
from tropalign.results import names as format_names
from tropalign.results.tree import TreeFormat

PACKAGE = Path(tropalign.__file__).parent


def is_lazy(path):
    """Whether a package or module loads its public names on first use."""
    source = path / "__init__.py" if path.is_dir() else path
    return (
        source.suffix == ".py"
        and source.is_file()
        and path != PACKAGE / "__init__.py"
        and "= lazy(" in source.read_text()
    )


def test_the_public_names_are_listed():
    """In a fresh process, before anything is loaded."""
    code = "import sys, tropalign; print(*dir(tropalign)); assert 'numpy' not in sys.modules"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert listed == sorted(tropalign.__all__)
    assert {"align", "align_all", "write_alignments", "Alignment", "read_sequences"} <= set(listed)
    assert all(hasattr(tropalign, name) for name in listed)
    pair = tropalign.align("MKVLAW", "MKILAW")
    assert {"score", "cigar", "query_start", "n_columns", "coordinates", "to_biopython"} <= set(dir(pair))
    assert all(inspect.getdoc(getattr(type(pair), name)) for name in dir(pair) if not name.startswith("_"))


@pytest.mark.parametrize("module", ["", *sorted(path.name for path in PACKAGE.iterdir() if is_lazy(path))])
def test_type_checkers_see_the_names_that_are_loaded(module):
    """What is imported for them is what `lazy` loads, from the same homes."""
    package = importlib.import_module(f"tropalign.{module.removesuffix('.py')}".rstrip("."))
    guarded = next(node for node in ast.parse(Path(package.__file__).read_text()).body if isinstance(node, ast.If))
    homes = {alias.asname: node.module for node in guarded.body for alias in node.names if alias.name == alias.asname}
    assert sorted({*homes} | {*package.__all__} & {"__version__"}) == sorted(package.__all__) == dir(package)
    for name, home in homes.items():
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize("name", ["pairs", "find", "tree", "nj", "hmmsearch", "read", "convert", "PairwiseAligner"])
def test_names_of_other_packages_are_answered(name):
    with pytest.raises(AttributeError, match=f"no attribute '{name}': write ") as raised:
        getattr(tropalign, name)
    for path in re.findall(r"(?<![\w.=])[a-z_.]+(?=\()", str(raised.value).partition(": write ")[2]):
        assert callable(operator.attrgetter(path)(tropalign))


def test_the_pages_of_the_api_have_every_name_once():
    skip_without("docs")
    folder = ROOT / "docs" / "api"
    documented, words, home = [], "", ""
    for path in sorted(folder.glob("*.md")):
        words += path.read_text()
        for module, name in re.findall(r"^\.\. (?:currentmodule:: (\S+)|auto\w+:: (\S+))$", path.read_text(), re.M):
            home = module or home
            documented += [f"{home}.{name}"] if name else []
    assert len(set(documented)) == len(documented) > 60
    for package in (tropalign, tropalign.client, tropalign.msa, tropalign.trees, tropalign.tropical):
        names = {
            name for name in dir(package) if f"`{name}`" not in words and not inspect.ismodule(getattr(package, name))
        }
        lacking = {name for name in names if f"{package.__name__}.{name}" not in documented}
        assert lacking <= {"__version__"} and {*dir(package)} == {*package.__all__}


CLIENT_HEAD = """
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
import tropalign as ta
from tropalign import trees
def client(family: ta.SequenceBatch, model: ta.Model, table: ta.AlignmentTable) -> None:
"""
#: Lines of client code, and what a type checker says of each; nothing where the line is right.
CLIENT = {
    "pair = ta.align('MKVLAW', 'MKILAW', mode='global')": "",
    "pair.score": "",
    "pair.scoer": '"Alignment" has no attribute "scoer"; maybe "score"?',
    "ta.align('MKV', 'MKL', mode='globel')": "expected \"Literal['local', 'global', 'semiglobal']\"",
    "ta.align_all(family, top='5')": 'Argument "top" to "align_all" has incompatible type "str"',
    "ta.cluster(family, None)": 'Argument 2 to "cluster" has incompatible type "None"',
    "ta.align_all(family).score": '"Iterator[AlignmentTable]" has no attribute "score"',
    "ta.search('family.hmm', family, threshold=1e-5)": 'Unexpected keyword argument "threshold"',
    "ta.search('family.hmm', family, thresholds=1e-5)": 'incompatible type "float"; expected "Thresholds | None"',
    "ta.search(family, 'family.hmm')": 'Argument 1 to "search" has incompatible type "SequenceBatch"',
    "hits: ta.Hits = ta.decode('cpg', family)": 'expression has type "Segments", variable has type "Hits"',
    "ta.decode('cpg', {'a': 'ACGT'})[0].begin": '"Segment" has no attribute "begin"',
    "ta.place('reference.npz', family)": 'Argument 1 to "place" has incompatible type "str"',
    "ta.read_sequences('x.fa', alphabet='dna')": "Literal['nucleotide', 'protein']",
    "ta.BuildOptions(weights='henikoff')": "expected \"Literal['position', 'tree', 'blosum', 'none', 'given']\"",
    "trees.pair_distances(family, 'jukes')": "Literal['identity', 'kimura', 'jc69', 'k2p']",
    "table.matrix('identities')": "expected \"Literal['score', 'identity', 'distance']\"",
    "table.scores": '"AlignmentTable" has no attribute "scores"; maybe "score"?',
    "table[0].cigr": '"Alignment" has no attribute "cigr"; maybe "cigar"?',
    "ta.align_many()": 'Missing positional argument "pairs" in call to "align_many"',
    "ta.write_alignments(table, 'x', 'fsta')": 'Argument 3 to "write_alignments" has incompatible type',
    "table.write('x', format='fasta')": "",
    "ta.write_clusters(ta.cluster(family), 'x', 'uc')": "",
    "ta.align_multiple(family).write('x', format='stokholm')": "has incompatible type \"Literal['stokholm']\"",
    "ta.search('x.hmm', family).write('x', 'domtbl')": "has incompatible type \"Literal['domtbl']\"",
    "trees.parse_tree('(a,b);').write('x', 'nexsus')": "has incompatible type \"Literal['nexsus']\"",
    "reveal_type(table[0])": 'Revealed type is "tropalign.results.alignments.Alignment"',
    "reveal_type(table[0].query_start)": 'int"',
    "ta.align('MK', 'MV'), ta.align_all(['MK']), ta.align_many([('MK', 'MV')]), ta.cluster(['MK'], 0.5)": "",
    "ta.align_multiple(['MK']), ta.align_clustalw(['MK']), ta.add_sequences(Path('x'), ['MK'])": "",
    "ta.merge_alignments(Path('x'), Path('y')), ta.search('x.hmm', ['MK']), ta.scan(['MK'], 'x.hmm')": "",
    "ta.search([model, Path('y.hmm')], [('a', 'MK')]), ta.align_to_model(model, Path('x.fa'))": "",
    "ta.decode('cpg', ['AC']), ta.place(ta.ReferencePackage.read('x', 'y'), ['AC'], scoring='paper')": "",
    "ta.ClustalwOptions(), ta.PlacementScoring(2, 0), ta.SearchOptions(0.1), ta.Thresholds(1e-3)": "",
    "distances: NDArray[np.float64] = trees.alignment_distances(Path('x.aln'), gaps='complete')": "",
    "tree: trees.Tree = trees.neighbour_joining(distances, negative='zero')": "",
    "names: list[str] = [member for cluster in ta.cluster(family) for member in cluster.members]": "",
    "frame = table.to_pandas(); ta.write_alignments(table, 'x.paf')": "",
    "best: dict[str, float] = {row.query: row.score for row in table[:2]}": "",
    "square: NDArray[np.float64] = table.matrix('distance'); square[table.query_index, table.target_index]": "",
}


@pytest.mark.parametrize(
    ("literal", "kinds"),
    [
        (format_names.AlignmentsFormat, ["pairs"]),
        (format_names.MultipleFormat, ["aligned"]),
        (format_names.HitsFormat, ["hits"]),
        (format_names.ClustersFormat, ["clusters", "counts", "representatives"]),
        (format_names.ChimerasFormat, ["chimeras/table", "chimeras/sequences"]),
        (TreeFormat, ["trees"]),
    ],
)
def test_type_checkers_know_the_formats_that_there_are(literal, kinds):
    default, *others = get_args(literal)
    known = [name for kind in kinds for name in formats.format_names(kind)]
    assert default == known[0] and others == sorted(set(known) - {default})


def test_type_checkers_find_mistakes_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "client.py"
    path.write_text(CLIENT_HEAD + "".join(f"    {line}\n" for line in CLIENT))
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(path)], capture_output=True, text=True
    ).stdout
    said = {}
    for line, text in re.findall(r"client.py:(\d+): (?:error|note): (.*)", found):
        said[int(line)] = said.get(int(line), "") + text
    first = CLIENT_HEAD.count("\n") + 1
    assert min(said) >= first, found
    for number, (line, expected) in enumerate(CLIENT.items(), first):
        assert expected in said.get(number, "") and bool(expected) == (number in said), (line, said.get(number))
