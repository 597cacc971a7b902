"""The layer of docs/how-to/pytorch.md, run with a stand-in for the few calls of PyTorch that it makes."""

import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from clone import ROOT

import tropalign as ta


class Tensor(np.ndarray):
    """An array with a tensor's methods."""

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return np.asarray(self)

    def new_tensor(self, values):
        return np.asarray(values, self.dtype).view(Tensor)


@pytest.fixture
def layer(monkeypatch):
    torch = ModuleType("torch")
    torch.autograd = SimpleNamespace(Function=object)
    torch.zeros_like, torch.from_numpy = np.zeros_like, np.asarray
    monkeypatch.setitem(sys.modules, "torch", torch)
    page = (ROOT / "docs/how-to/pytorch.md").read_text()
    scope = {}
    exec(re.search(r"```python\n(import torch.*?)```", page, re.S)[1], scope)
    return scope["SoftScore"]


def scores_of(layer, tables, lengths, costs, temperature):
    ctx = SimpleNamespace()
    ctx.save_for_backward = lambda *saved: setattr(ctx, "saved_tensors", saved)
    return layer.forward(ctx, tables, lengths, *map(np.float64, costs), temperature), ctx


def test_derivatives_of_a_batch_agree_with_differences(layer):
    random = np.random.default_rng(8)
    lengths, costs, temperature, step = np.array([[5, 7], [4, 3]]), (2.0, 0.5), 0.8, 1e-3
    tables = random.normal(size=(2, 5, 7)).view(Tensor)
    scores, ctx = scores_of(layer, tables, lengths, costs, temperature)
    alone = ta.soft_align(tables[1, :4, :3].numpy(), gap=ta.Gap(*costs), mode="global", temperature=temperature)
    assert scores[1] == alone.score
    weights = np.array([1.5, -0.5])
    by_tables, _, by_open, by_extend, _ = layer.backward(ctx, weights)

    def difference(tables=tables, costs=costs):
        return weights @ (scores_of(layer, tables, lengths, costs, temperature)[0] - scores) / step

    for place in ((0, 0, 0), (0, 4, 6), (0, 2, 3), (1, 1, 1), (1, 3, 2)):
        changed = tables.copy()
        changed[place] += step
        assert difference(changed) == pytest.approx(by_tables[place], abs=2e-3)
    assert not by_tables[1, 4:].any() and not by_tables[1, :, 3:].any()  # padding
    assert difference(costs=(2 + step, 0.5)) == pytest.approx(by_open, abs=2e-3)
    assert difference(costs=(2, 0.5 + step)) == pytest.approx(by_extend, abs=2e-3)
