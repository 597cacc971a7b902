"""HMMER's own pipeline in place of the native one, until that is whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from tropalign.profile.models import Model
from tropalign.profile.options import SearchOptions
from tropalign.profile.targets import Proteins
from tropalign.results.found_hits import DOMAIN_COLUMNS, HIT_COLUMNS, LINES, of_all_queries
from tropalign.results.hit_pyhmmer import found_of


def _hmm(model: Model, alphabet: Any) -> Any:
    import pyhmmer

    hmm: Any = pyhmmer.plan7.HMM(alphabet, model.length, model.name)
    np.asarray(hmm.match_emissions)[:] = model.match
    np.asarray(hmm.insert_emissions)[:] = pyhmmer.plan7.Background(alphabet).residue_frequencies
    np.asarray(hmm.transition_probabilities)[:] = model.transitions
    hmm.set_composition()
    np.asarray(hmm.composition)[:] = model.composition
    hmm.consensus = model.consensus
    np.asarray(hmm.evalue_parameters.as_vector())[:] = model.evalue
    return hmm


def search_block(models: tuple[Model, ...], block: Proteins, options: SearchOptions) -> dict[str, Any]:
    """The dictionary that ``_native.search_block`` will return."""
    import pyhmmer

    alphabet = pyhmmer.easel.Alphabet.amino()
    sequences = pyhmmer.easel.DigitalSequenceBlock(
        alphabet,
        [
            pyhmmer.easel.DigitalSequence(
                alphabet, name=str(k), sequence=block.codes[block.offsets[k] : block.offsets[k + 1]].tobytes()
            )
            for k in range(len(block))
        ],
    )
    pieces = []
    for model in models:
        pipeline = pyhmmer.plan7.Pipeline(
            alphabet, F1=options.f1, F2=options.f2, F3=options.f3, bias_filter=options.bias_filter, null2=options.null2,
            seed=options.seed, E=1e300, Z=1, domE=1e300,
        )  # fmt: skip
        pieces.append(found_of(pipeline.search_hmm(_hmm(model, alphabet), sequences)))
    found = of_all_queries(pieces)
    raw = {name: getattr(found, name) for name in (*HIT_COLUMNS, *DOMAIN_COLUMNS, *LINES)}
    raw["target"] = np.array([int(name) for name in found.names], np.int32)
    raw["model"] = raw.pop("query")
    return raw | {
        "domain_offsets": found.domain_offsets, "line_offsets": found.line_offsets, "n_passed": found.n_passed,
    }  # fmt: skip
