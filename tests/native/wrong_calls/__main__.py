"""Wrong calls of every native entry: what is wrong, the exception, and a part of its text.

Run with the name of a group, it makes the group's calls and prints a line per call: "ok", or what came instead. So a
crash ends a process of its own, and the last line names the call.
"""

import sys

from native.wrong_calls import formats, hmm, msa, pairwise, phylo, profile

ALL = (
    pairwise.pairs, pairwise.plans, pairwise.scatters, phylo.makers, phylo.vectors, phylo.placements,
    formats.rows_of_text, formats.alignments, msa.subsequences, msa.groups_of_sequences, msa.posteriors,
    msa.posterior_stores, msa.guide_trees, msa.refinements, profile.models, profile.targets, profile.envelopes,
    profile.domains, profile.searches, profile.recodings, hmm.best_paths,
    msa.posterior_stores, msa.guide_trees, msa.refinements, msa.profiles_of_families,
    profile.models, profile.targets, profile.envelopes, profile.domains, profile.searches, profile.recodings,
)  # fmt: skip
GROUPS = {f.__name__: f for f in ALL}


def outcome(call, arguments, error, text):
    """The word "ok", or what came instead of the exception."""
    try:
        call(**arguments)
    except Exception as raised:
        if error is None or type(raised) is not error or text not in str(raised):
            return f"{type(raised).__name__}: {raised}"
    else:
        if error is not None:
            return "no exception"
    return "ok"


if __name__ == "__main__":
    for name, *case in GROUPS[sys.argv[1]]():
        print(name.replace("\n", " "), end="\t", flush=True)
        print(outcome(*case).replace("\n", " "), flush=True)
