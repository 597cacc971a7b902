"""Pickles of modules under their former paths."""

import pickle
import subprocess
import sys

import pytest

import tropalign
from tropalign import tropical
from tropalign.client.records import RemoteDatabase
from tropalign.hmm.model_base import ModelCalls
from tropalign.hmm.observations import Reader
from tropalign.renamed import RENAMED
from tropalign.semirings.closures import NegativeCycle

CLASSES = {
    "client.databases": [RemoteDatabase],
    "msa.clustalw.options": [tropalign.ClustalwOptions],
    "tropical.cycles": [NegativeCycle],
    "tropical.folding": [tropical.Structure],
    "tropical.graphs": [tropical.Graph, tropical.DenseGraph],
    "tropical.hmm": [tropalign.HMM],
    "tropical.intervals": [tropical.MatrixChain, tropical.SearchTree],
    "tropical.model_calls": [ModelCalls],  # a model that was used holds these two
    "tropical.observations": [Reader],
    "tropical.semirings": [tropical.Semiring],
}
#: `tropalign.tropical.LOG`, pickled when its module was tropalign.tropical.semirings.
LOG = (
    b"\x80\x04\x95a\x00\x00\x00\x00\x00\x00\x00\x8c\x1ctropalign.tropical.semirings\x94\x8c\x08Semiring\x94\x93\x94)\x81\x94}"
    b"\x94(\x8c\x04name\x94\x8c\x03log\x94\x8c\x04zero\x94G\xff\xf0\x00\x00\x00\x00\x00\x00\x8c\x03one\x94G\x00\x00\x00\x00\x00"
    b"\x00\x00\x00ub."
)


def test_a_pickle_of_before_can_be_read_in_a_fresh_process():
    code = f"import pickle; log = pickle.loads({LOG!r}); from tropalign.tropical import LOG; assert log == LOG, log"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_options_of_clustalw_are_found_where_nothing_is_loaded():
    code = "import pickle; print(pickle.loads(b'ctropalign.msa.clustalw.options\\nClustalwOptions\\n.'))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "tropalign.clustalw.options.ClustalwOptions" in found


@pytest.mark.parametrize("former", RENAMED)
def test_a_class_is_the_same_under_its_former_path(former):
    for found in CLASSES.get(former, []):
        assert pickle.loads(f"ctropalign.{former}\n{found.__name__}\n.".encode()) is found


def test_a_former_path_is_imported_and_pickles_again_under_the_present_one():
    import tropalign.tropical.graphs as former

    graph = former.Graph.from_edges([0], [1], [2.0])
    assert b"tropalign.semirings.graphs" in pickle.dumps(graph)
    with pytest.raises(AttributeError):
        _ = former.Grph


def test_what_looks_through_all_modules_loads_none_of_them():
    code = (
        "import sys, tropalign; known = {*sys.modules}\n"
        "for one in sys.modules.copy().values(): hasattr(one, '__file__')\n"
        "print([name for name in {*sys.modules} - known if name.startswith('tropalign')])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"
