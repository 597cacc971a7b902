"""What NumPy does with masked arrays loaded is the same without."""

import subprocess
import sys
import types

import numpy as np
import pytest

from tropalign.arrays import distinct, is_masked


@pytest.mark.parametrize("values", [[], [3], [3, 1, 3, 2, 1], [[2, 1], [2, 7]], [0.5, -0.5, 0.5], [True, False, True]])
def test_distinct_values_are_those_of_numpy(values):
    found = distinct(np.array(values))
    assert found.tolist() == np.unique(np.array(values)).tolist() and found.dtype == np.array(values).dtype


def test_masked_arrays():
    assert is_masked(np.ma.masked_less([1, 2], 2))
    assert not is_masked(np.array([1, 2])) and not is_masked([1, 2])


def test_they_do_not_load_masked_arrays():
    code = (
        "import sys, numpy as np; from tropalign.arrays import distinct, is_masked\n"
        "print(distinct(np.array([2, 1, 2])), is_masked(np.zeros(2)), 'numpy.ma' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[1 2] False False\n"


def test_a_module_of_masked_arrays_that_another_thread_is_loading(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", types.ModuleType("numpy.ma"))
    assert not is_masked(np.zeros(2))
