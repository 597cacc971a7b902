"""Soft alignment as a differentiable function of PyTorch, which must be installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from tropalign.pairwise.options import FREE_ENDS, EndName, ModeName, PairOptions
from tropalign.pairwise.soft import soft_sums
from tropalign.scoring import Gap, SubstitutionMatrix
from tropalign.sequences import PROTEIN

__all__ = ["soft_score"]


def soft_score(
    scores: torch.Tensor,
    gap_open: torch.Tensor | float,
    gap_extend: torch.Tensor | float,
    *,
    lengths: torch.Tensor | None = None,
    mode: ModeName = "local",
    free_ends: Iterable[EndName] = FREE_ENDS,
    temperature: float = 1.0,
    n_threads: int = 0,
) -> torch.Tensor:
    """Return the soft scores of a batch, as `tropalign.soft_align`, with gradients for scores and costs.

    Parameters
    ----------
    scores : Tensor, shape (batch, m, n)
        A table per pair, padded. It is computed on the CPU, in float64 if it has that type, otherwise in float32.
    gap_open, gap_extend : Tensor of one number, or float
        A gap of k residues costs ``gap_open + k * gap_extend``, both at least 0.
    lengths : Tensor of int, shape (batch, 2)
        Rows and columns of each table that count; all by default.
    mode, free_ends, temperature, n_threads
        See `tropalign.soft_align`.

    Returns
    -------
    Tensor, shape (batch,)
        Of the type and device of `scores`.
    """
    costs = [torch.as_tensor(cost, dtype=scores.dtype, device=scores.device) for cost in (gap_open, gap_extend)]
    shapes = [list(scores.shape[1:])] * len(scores) if lengths is None else lengths.tolist()
    options = PairOptions(SubstitutionMatrix.default(PROTEIN), gap=Gap(0, 0), mode=mode, free_ends=free_ends)
    found: torch.Tensor = _SoftScore.apply(scores, *costs, shapes, options, temperature, n_threads)
    return found


class _SoftScore(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """The derivatives by scores are posteriors, by costs minus the expected numbers of gaps and their residues."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        gap_open: torch.Tensor,
        gap_extend: torch.Tensor,
        shapes: list[list[int]],
        options: PairOptions,
        temperature: float,
        n_threads: int,
    ) -> torch.Tensor:
        given = scores.detach().cpu()
        given = given if given.dtype == torch.float64 else given.to(torch.float32)
        tables = [table[:m, :n].numpy() for table, (m, n) in zip(given, shapes, strict=True)]
        found = soft_sums(tables, gap_open.item(), gap_extend.item(), options, temperature, n_threads=n_threads)
        by_score = torch.zeros_like(given)
        for to, one, (m, n) in zip(by_score, found, shapes, strict=True):
            to[:m, :n] = torch.from_numpy(one.posteriors)
        counts = [[one.score, one.n_gaps, one.gap_residues] for one in found]
        sums = torch.tensor(counts, dtype=torch.float64).to(scores).reshape(-1, 3)
        ctx.save_for_backward(by_score.to(scores), sums, gap_open, gap_extend)
        return sums[:, 0].clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        by_score, sums, gap_open, gap_extend = ctx.saved_tensors
        by_open, by_extend = (-(gradient * sums[:, k]).sum() for k in (1, 2))
        return (
            gradient[:, None, None] * by_score,
            by_open.reshape(gap_open.shape),
            by_extend.reshape(gap_extend.shape),
            None,
            None,
            None,
            None,
        )
