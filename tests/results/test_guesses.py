"""Calls that users of Biopython, scikit-bio and pyhmmer guess: each works, or its error has the right name.

The calls are the first ones of the chapters on alignments and trees of Biopython's tutorial, of scikit-bio's pages
on alignment, tree and sequence, and of pyhmmer's examples.
"""

import copy
import dataclasses
import math
import pickle
import re

import Bio.Align
import Bio.Phylo.BaseTree
import Bio.SeqRecord
import numpy
import pyhmmer
import pytest

import tropalign
from tropalign.errors import hints

OTHER = tropalign.trees.parse_tree("((A:1,C:2):0.5,B:3,D:4);")
HINTS = hints()
ROWS = tropalign.MultipleAlignment.from_rows(["a", "b"], ["MKV-LAW", "MKVILA-"])


@pytest.fixture(scope="module")
def objects():
    """Return an object of each class by the name that hints have for it, with what else the calls refer to."""
    hits = tropalign.search("examples/efp.hmm", "examples/efp.fasta")
    batch = tropalign.SequenceBatch.from_strings({"a": "ATGAAA", "b": "CTG"})
    found = {
        "Alignment": tropalign.align("HEAGAWGHEE", "PAWHEAE", mode="global"),
        "AlignmentTable": next(tropalign.align_all(["MKVLAW", "MKILAW", "KVLAW"])),
        "MultipleAlignment": ROWS,
        "Tree": tropalign.trees.parse_tree("((A:1,B:2)97:0.5,C:3,D:4);"),
        "Hits": hits,
        "Hit": hits[0],
        "Domain": hits[0].best_domain,
        "Model": next(tropalign.read_queries("examples/efp.hmm")),
        "Query": hits.queries[0],
        "Sequence": batch[0],
        "SequenceBatch": batch,
    }
    assert all(type(each).__name__ == name for name, each in found.items())
    return found


#: Name of an object in calls and hints.
WORDS = {"MultipleAlignment": "alignment", "AlignmentTable": "table", "SequenceBatch": "batch"}


def words_of(owner, objects):
    """Return what a call of this class refers to, by name."""
    return {
        "tropalign": tropalign,
        "numpy": numpy,
        "math": math,
        "other": ROWS if owner == "MultipleAlignment" else OTHER,
        "name": objects["Hits"].names[1] if owner == "Hits" else "b",
        "sequences": {"c": "MKVLW"},
        "batch": dataclasses.replace(objects["SequenceBatch"], descriptions=("", "")),
        "k": 0,
        WORDS.get(owner, owner.lower()): objects[owner],
    }


#: Calls by class, and their value.
WORKS = {
    "Alignment": {
        "alignment.score": 1,
        "alignment.coordinates.tolist()": [[0, 0, 7], [0, 3, 10]],
        "print(alignment)": None,
        "str(alignment)[:5]": "query",
        "alignment == alignment": True,
        "bool(alignment)": True,
        "alignment.query, alignment.target": ("query", "target"),
        "alignment.cigar": None,
    },
    "AlignmentTable": {
        "len(table)": 3,
        "[row.score for row in table]": [32, 28, 27],
        "table[0].score": 32,
        "table.score.tolist()": [32, 28, 27],
        "table[-1].query_start": 1,
    },
    "MultipleAlignment": {
        "len(alignment)": 2,
        "alignment[0]": "MKV-LAW",
        "alignment[0][2]": "V",
        "alignment[0, 2]": "V",
        "alignment[:, 3]": "-I",
        "alignment[:, -1]": "W-",
        "alignment[1:].names": ("b",),
        "alignment[:, 2:5][0]": "V-L",
        "alignment[0, 2:5][0]": "V-L",
        "(alignment[:, :2] + alignment[:, 4:])[1]": "MKLA-",
        "alignment[:, :3] + alignment[:, 3:] == alignment": True,
        "[row for row in alignment]": ["MKV-LAW", "MKVILA-"],
        "alignment.shape": (2, 7),
        "alignment.sequences[0].name": "a",
        "print(alignment)": None,
        "alignment.to_biopython().counts().identities": 5,
    },
    "Tree": {
        "print(tree)": None,
        "tree.name": "",
        "tree.names": ("A", "B", "C", "D"),
        "tree.to_biopython().count_terminals()": 4,
        "tree.to_biopython().total_branch_length()": 10.5,
        "tree.to_biopython().distance('A', 'C')": 4.5,
        "[clade.confidence for clade in tree.to_biopython().get_nonterminals()]": [None, 97.0],
        "tree.to_biopython().rooted": False,
    },
    "Hits": {
        "len(hits)": 37,
        "hits[0].name": "tr|H8KCP7|H8KCP7_RICMS",
        "[hit.name for hit in hits][0]": "tr|H8KCP7|H8KCP7_RICMS",
        "hits.Z": 37.0,
        "hits.domZ.tolist()": [37.0],
        "hits.query.max()": 0,
    },
    "Hit": {
        "hit.evalue < 1e-80": True,
        "hit.bias > 0": True,
        "hit.description[:10]": "Elongation",
        "hit.accession": "",
        "len(hit.domains)": 1,
        "hit.best_domain.c_evalue < 1e-80": True,
        "hit.best_domain.i_evalue < 1e-80": True,
        "hit.length": 188,
    },
    "Sequence": {
        "sequence.name": "a",
        "str(sequence)": "ATGAAA",
        "len(sequence)": 6,
        "sequence[0]": "A",
        "sequence[1:3]": "TG",
        "'G' in sequence": True,
        "list(sequence)[:3]": ["A", "T", "G"],
    },
    "SequenceBatch": {
        "len(batch)": 2,
        "[each.name for each in batch]": ["a", "b"],
        "batch[0].name": "a",
        "str(batch[-1])": "CTG",
    },
}


@pytest.mark.parametrize(("owner", "call"), [(owner, call) for owner, calls in WORKS.items() for call in calls])
def test_guesses_that_work(owner, call, objects):
    value, expected = eval(call, words_of(owner, objects)), WORKS[owner][call]
    assert expected is None or value == expected


#: Guesses without a value, by class, and what their errors say; HINTS has those of attributes.
FAILS = {
    "Alignment": {
        "alignment[0]": "alignment.aligned()",
        "alignment[:, 2:4]": "alignment.aligned()",
        "score, paths, _ = alignment": "alignment.aligned()",
        "for row in alignment: pass": "alignment.aligned()",
        "len(alignment)": "alignment.n_columns",
        "format(alignment, 'fasta')": 'str(alignment), or alignment.table.write("-", "fasta")',
    },
    "AlignmentTable": {"table['score']": "table.columns()['score']", "format(table, 'sam')": 'table.write("-", "tsv")'},
    "MultipleAlignment": {
        "alignment['b']": "alignment[alignment.names.index(name)]",
        "format(alignment, 'clustal')": 'alignment.write("-", "clustal")',
    },
    "Tree": {
        "len(tree)": "tree.n_taxa",
        "for tip in tree: pass": "tree.names",
        "tree['A']": "tree.names",
        "'A' in tree": "tree.names",
        "format(tree, 'newick')": "tree.newick()",
    },
    "Hits": {"hits['b']": "hits[hits.names.index(name)]"},
    "Hit": {"for hit in hit: pass": "hit.domains", "len(hit)": "hit.domains", "hit[0]": "hit.domains"},
    "Domain": {"domain[0]": "domain.lines"},
    "SequenceBatch": {"batch['b']": "batch[batch.names.index(name)]"},
}


@pytest.mark.parametrize(("owner", "call"), [(owner, call) for owner, calls in FAILS.items() for call in calls])
def test_guesses_that_are_answered(owner, call, objects):
    with pytest.raises((TypeError, IndexError), match=re.escape(f": write {FAILS[owner][call]}")):
        exec(call, words_of(owner, objects))


CLASSES = [owner for owner in HINTS if not owner.startswith("tropalign")]


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner in CLASSES for name in HINTS[owner]])
def test_hints_are_code_that_runs(owner, name, objects, capsys):
    hint = HINTS[owner][name]
    if name.isidentifier() and name not in ("len", "index"):
        with pytest.raises(
            AttributeError, match=re.escape(f"{owner!r} object has no attribute {name!r}: write {hint}")
        ):
            getattr(objects[owner], name)
        assert not hasattr(type(objects[owner]), name)
    code = re.split(r"; | and |, (?=the |all |because |whose |which |or )", hint)[0]
    compiled = compile(code, name, "eval")
    if not code.startswith("skbio."):
        eval(compiled, words_of(owner, objects))


@pytest.mark.parametrize("package", [tropalign, tropalign.trees])
def test_hints_of_packages_begin_with_a_public_name(package):
    for name, hint in HINTS[package.__name__].items():
        with pytest.raises(AttributeError, match=re.escape(f"no attribute {name!r}: write {hint}")):
            getattr(package, name)
        first = re.match(r"[\w.]+", hint)[0]
        assert first == "print" or eval(f"package.{first}", {"package": package})


#: What objects of the peers have and ours do not: constructors, nucleotides of pyhmmer, and what changes a model.
NOT_OURS = """
    block_length long_targets strand compare_ranking copy merge dropped duplicate new
    checksum command_line creation_time nseq nseq_effective insert_emissions consensus_accessibility
    emit_alignment emit_sequence match_occupancy mean_match_entropy mean_match_information mean_match_relative_entropy
    from_alignments_with_same_reference parse_printed_alignment query target from_clade randomized
    renormalize sample scale set_composition set_consensus validate zero
""".split()


@pytest.mark.parametrize(
    ("owner", "theirs"),
    [
        ("Hits", pyhmmer.plan7.TopHits),
        ("Hit", pyhmmer.plan7.Hit),
        ("Domain", pyhmmer.plan7.Domain),
        ("Domain", pyhmmer.plan7.Alignment),
        ("Model", pyhmmer.plan7.HMM),
        ("Alignment", Bio.Align.Alignment),
        ("MultipleAlignment", Bio.Align.Alignment),
        ("MultipleAlignment", Bio.Align.MultipleSeqAlignment),
        ("Tree", Bio.Phylo.BaseTree.Tree),
        ("Sequence", Bio.SeqRecord.SeqRecord),
    ],
)
def test_every_name_of_the_peers_is_there_or_answered(owner, theirs, objects):
    names = {name for name in dir(theirs) if not name.startswith("_")} - {*NOT_OURS, "domain"}
    assert not {name for name in names if not hasattr(objects[owner], name)} - HINTS[owner].keys()


def test_values_of_hints_are_those_of_pyhmmer(objects):
    """Every hint for a number or a text of a hit, of its domain and of the alignment."""
    with pyhmmer.plan7.HMMFile("examples/efp.hmm") as file:
        model = file.read()
    with pyhmmer.easel.SequenceFile("examples/efp.fasta", digital=True, alphabet=model.alphabet) as file:
        theirs = pyhmmer.plan7.Pipeline(model.alphabet).search_hmm(model, file.read_block())[0]
    domain = theirs.best_domain
    pairs = [("Hit", theirs), ("Domain", domain), ("Domain", domain.alignment)]
    compared = 0
    for owner, each in pairs:
        for name, hint in HINTS[owner].items():
            value = getattr(each, name, None)
            if isinstance(value, str | bytes | int | float) and not isinstance(value, bool):
                ours = eval(hint, words_of(owner, objects))
                assert ours == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value), name
                compared += 1
    assert compared > 18


def test_other_errors_stay(objects):
    """Names without a hint, properties that fail, copies and pickles."""
    alignment = tropalign.align("MKV", "MKI", report="score")
    with pytest.raises(AttributeError, match=r"^Alignment.cigar was not computed: request report 'alignment'$"):
        _ = alignment.cigar
    for owner, each in objects.items():
        with pytest.raises(AttributeError, match=f"^'{owner}' object has no attribute 'nothing'$"):
            _ = each.nothing
        assert copy.copy(each) is not None and f"{each}" == str(each)
    assert pickle.loads(pickle.dumps(objects["Tree"])) == objects["Tree"]
    with pytest.raises(tropalign.InputError, match="an object of type Alignment is not a sequence"):
        tropalign.align(alignment, "MKV")
    with pytest.raises(ValueError, match="different rows cannot be joined"):
        ROWS + ROWS[:1]
    with pytest.raises(TypeError, match="unsupported operand"):
        ROWS + "MKV"
    with pytest.raises(IndexError, match="7 of 7"):
        _ = ROWS[:, 7]
