"""Hits: views of rows, tables, and pyhmmer's objects."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tropalign.results.found_hits import LINES
from tropalign.results.hits import Hits

pyhmmer = pytest.importorskip("pyhmmer")
from pyhmmer.easel import SequenceFile  # noqa: E402
from pyhmmer.plan7 import HMMFile  # noqa: E402

DATA = Path(__file__).parent.parent / "data" / "search"


@pytest.fixture(scope="module")
def models():
    found = []
    for name in ("pfam.hmm", "reference.hmm"):
        with HMMFile(DATA / name) as file:
            found += list(file)
    return found


@pytest.fixture(scope="module")
def sequences(models):
    with SequenceFile(DATA / "proteins.fasta", digital=True, alphabet=models[0].alphabet) as file:
        return file.read_block()


@pytest.fixture(scope="module")
def searched(models, sequences):
    return list(pyhmmer.hmmsearch(models, sequences, cpus=1))


@pytest.fixture(scope="module")
def scanned(models, sequences):
    return list(pyhmmer.hmmscan(sequences, models, cpus=1))


@pytest.fixture(scope="module")
def hits(searched):
    return Hits.from_pyhmmer(searched)


def test_hits_and_domains_are_those_of_pyhmmer(searched, hits):
    expected = [hit for one in searched for hit in one.reported]
    assert len(hits) == len(expected) > 10
    for hit, other in zip(hits, expected, strict=True):
        assert (hit.name, hit.description, hit.accession) == (other.name, other.description, other.accession or "")
        assert (hit.evalue, hit.bits, hit.bias) == (other.evalue, other.score, other.bias)
        assert (hit.is_included, hit.length) == (other.included, other.length)
        assert hit.best_domain.bits == other.best_domain.score
        assert hit.query.name == other.hits.query.name == hit.model.name
    expected = [domain for one in searched for hit in one.reported for domain in hit.domains]
    own = [domain for hit in hits for domain in hit.domains]
    for domain, other in zip(own, expected, strict=True):
        assert (domain.bits, domain.c_evalue, domain.i_evalue) == (other.score, other.c_evalue, other.i_evalue)
        assert (domain.is_reported, domain.is_included) == (other.reported, other.included)
        assert domain.envelope == (other.env_from - 1, other.env_to)
        alignment = other.alignment
        assert domain.span == (alignment.target_from - 1, alignment.target_to)
        assert domain.model_span == (alignment.hmm_from - 1, alignment.hmm_to)
        lines = (alignment.hmm_sequence, alignment.identity_sequence, alignment.target_sequence)
        assert tuple(domain.lines.values()) == (*lines, alignment.posterior_probabilities)
        assert domain.bias == pytest.approx(other.bias)
        assert 0 < domain.accuracy <= 1
    assert len(hits.domains) == sum(domain.is_reported for domain in own) == len(list(hits.domains))


@pytest.mark.parametrize("results", ["searched", "scanned"])
def test_to_pyhmmer_and_back(results, models, sequences, request):
    results = request.getfixturevalue(results)
    hits = Hits.from_pyhmmer(results)
    queries = models if hits.orientation == "search" else sequences
    again = hits.to_pyhmmer(queries)
    for one, other in zip(again, results, strict=True):
        assert [hit.name for hit in one] == [hit.name for hit in other.reported]
        assert (one.Z, one.domZ, one.E, one.mode) == (other.Z, other.domZ, other.E, other.mode)
        assert (one.searched_models, one.searched_residues) == (other.searched_models, other.searched_residues)
        for hit, same in zip(one, other.reported, strict=True):
            assert (hit.evalue, hit.score, hit.included) == (same.evalue, same.score, same.included)
            if hits.orientation == "search":  # pyhmmer does not say how a model of a scan is annotated
                found = zip(hit.domains, same.domains, strict=True)
                assert all(str(a.alignment) == str(b.alignment) for a, b in found)
    back = Hits.from_pyhmmer(again)
    for name in hits.__dataclass_fields__:
        a, b = getattr(hits, name), getattr(back, name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, name


def test_what_pyhmmer_wants_and_keeps(hits, models, sequences):
    with pytest.raises(ValueError, match="2 objects for 3 queries: give one pyhmmer object per query"):
        hits.to_pyhmmer(models[:2])
    results = list(pyhmmer.hmmscan(sequences, models[:2], cpus=1, bit_cutoffs="gathering"))
    with pytest.raises(ValueError, match="pyhmmer does not keep the cutoffs of a scan's models"):
        Hits.from_pyhmmer(results)
    with pytest.raises(ValueError, match="there are no TopHits: give at least one"):
        Hits.from_pyhmmer([])


def test_thresholds_come_from_pyhmmer(models, sequences):
    options = {"T": 30.0, "domE": 0.5, "incdomT": 20.0, "Z": 1000.0}
    hits = Hits.from_pyhmmer(next(pyhmmer.hmmsearch(models[0], sequences, cpus=1, **options)))
    chosen = hits.thresholds
    assert (chosen.T, chosen.domE, chosen.incdomT, chosen.Z) == (30, 0.5, 20, 1000)
    assert (chosen.domT, chosen.incT, chosen.domZ, hits.Z) == (None, None, None, 1000)
    cut = next(pyhmmer.hmmsearch(models[0], sequences, cpus=1, bit_cutoffs="trusted"))
    assert Hits.from_pyhmmer(cut).thresholds.bit_cutoffs == "trusted"


def test_rows_and_their_text(hits):
    assert hits[-1].index == len(hits) - 1
    assert hits[2:5].names == hits.names[2:5]
    assert hits[hits.is_included].names == tuple(hit.name for hit in hits if hit.is_included)
    assert hits[[3, 1]].names == (hits.names[3], hits.names[1])
    assert hits[3].best_domain.lines == hits[[3, 1]][0].best_domain.lines
    assert hits[[3, 1]].domain_c_evalue[0] == hits[3].domains[0].c_evalue
    with pytest.raises(IndexError, match=f"row {len(hits)} of {len(hits)}"):
        hits[len(hits)]
    with pytest.raises(IndexError, match="a mask of shape"):
        hits[np.ones(2, bool)]
    first = hits[0]
    assert repr(first).startswith(f"RRM_1 x {first.name}: E-value {first.evalue:.2g}, {first.bits:.1f} bits, 5 domains")
    text = str(first.best_domain)
    assert first.best_domain.lines["target_line"][:50] in text
    table = repr(hits).splitlines()
    assert len({len(line) for line in table[1:11]}) <= 2  # "yes" and "no" end the lines
    assert table[-1] == f"... and {len(hits) - 10} more"
    begin = table[1].index("target")
    assert all(line[begin - 2 : begin] == "  " and line[begin] != " " for line in table[1:11])


def test_hits_in_notebooks_obey_no_terminal_and_no_browser(hits):
    text = hits._repr_html_()
    assert text.count("<tr>") == 11 and text.count("<details>") == 10
    assert f"... and {len(hits) - 10} more" in text
    assert hits[0].best_domain.lines["target_line"][:50] in text
    bare = {name: np.zeros(0, np.uint8) for name in LINES}
    without = replace(hits, line_offsets=np.zeros(len(hits.domain_bits) + 1, np.int64), **bare)
    assert "<details>" not in without._repr_html_()
    evil = replace(hits, names=tuple(f"\x1b[31m<b>{name}" for name in hits.names))
    for text in (repr(evil), repr(evil[0]), str(evil[0]), repr(evil[0].best_domain), evil._repr_html_()):
        assert "\x1b" not in text
    assert "<b>" in repr(evil) and "<b>" not in evil._repr_html_()


def test_tables_of_other_libraries(hits):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for table in (hits, hits.domains):
        columns = table.columns()
        frame, other = table.to_pandas(), table.to_polars()
        assert isinstance(frame, pandas.DataFrame) and isinstance(other, polars.DataFrame)
        assert len(frame) == len(other) == len(table)
        for name, values in columns.items():
            assert frame[name].tolist() == other[name].to_list() == list(values), name
    assert hits.columns()["best_bits"].tolist() == [hit.best_domain.bits for hit in hits]
    domains = list(hits.domains)
    assert hits.domains.columns()["i_evalue"].tolist() == [domain.i_evalue for domain in domains]
    assert hits.domains.columns()["target"] == [domain.hit.name for domain in domains]
    numbers = hits.domains.columns()["domain"].tolist()
    assert numbers[:4] == [1, 2, 3, 4] and max(numbers) <= 5
