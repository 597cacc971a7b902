"""Makes the pictures of the tutorials from the examples: python docs/extensions/make_pictures.py; make docs does it."""

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from Bio import Phylo
from Bio.Data.CodonTable import standard_dna_table
from matplotlib import pyplot

import tropalign as ta
from tropalign.cli.main import main
from tropalign.trees import alignment_distances, neighbour_joining, with_support
from tropalign.tropical import read_graph, shortest_paths

DOCS = Path(__file__).parent.parent
EXAMPLES = DOCS.parent / "examples"
BLUE, ORANGE, GREY = "#2a6f97", "#d1782e", "#8d99a6"


def pairs_map(path: Path) -> None:
    """The map of identities that --plot draws."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--mode", "global", "-q", "-o", f"{folder}/efp.tsv", "--plot", str(path)]
        if main(["pairs", str(EXAMPLES / "efp.fasta"), *words]):
            raise SystemExit("tropalign pairs --plot failed")


def decode_islands(path: Path) -> None:
    """The segments that --plot draws."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["-q", "-o", f"{folder}/islands.tsv", "--plot", str(path)]
        if main(["decode", "--model", "cpg", str(EXAMPLES / "cpgislands.fa"), *words]):
            raise SystemExit("tropalign decode --plot failed")


def cluster_thresholds(path: Path) -> None:
    """How many clusters there are at each threshold, greedily and by average linkage."""
    thresholds = np.round(np.arange(0.80, 1.001, 0.01), 2)
    reads = ta.read_sequences(EXAMPLES / "amplicons.fasta")
    for method, colour in (("greedy", BLUE), ("average", ORANGE)):
        counts = [len(ta.cluster(reads, float(each), method=method).representatives) for each in thresholds]
        pyplot.step(100 * thresholds, counts, where="mid", color=colour, label=method)
    pyplot.axvline(97, color=GREY, linewidth=1, linestyle=":")
    labelled("identity, %", "clusters", path)


def msa_confidence(path: Path) -> None:
    """The confidence of each column, and how many rows have a residue there."""
    family = ta.align_multiple(EXAMPLES / "efp.fasta")
    filled = (family.letters != ord("-")).mean(axis=0)
    pyplot.fill_between(range(len(filled)), filled, color="#dde5ec", step="mid", label="share of rows with a residue")
    pyplot.step(range(len(filled)), family.column_confidence, where="mid", color=BLUE, label="confidence")
    pyplot.ylim(0, 1.05)
    labelled("column", "share, probability", path)


def tree_of_genera(path: Path) -> None:
    """The tree, the four largest groups in colour."""
    family = ta.align_multiple(EXAMPLES / "efp.fasta")
    tree = with_support(neighbour_joining(alignment_distances(family), family.names), family, 100, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tree.nwk").write_text(tree.newick() + "\n")
        drawn = Phylo.read(f"{folder}/tree.nwk", "newick")
    drawn.root_with_outgroup(next(drawn.find_elements(name="sp.C0QQC2.EFP_PERMH")))
    colours = {"RIC": ORANGE, "BOR": BLUE, "MYC": "#5b8c5a"}

    def colour(name: str) -> str:
        return next((each for start, each in colours.items() if name.split("_")[-1].startswith(start)), "black")

    figure, axes = pyplot.subplots(figsize=(8, 8))
    Phylo.draw(
        drawn,
        axes=axes,
        do_show=False,
        label_func=lambda clade: (clade.name or "").split("|")[-1],
        label_colors=colour,
        branch_labels=lambda clade: f"{clade.confidence:.0f}" if (clade.confidence or 0) >= 70 else "",
    )
    axes.set_ylabel("")
    axes.set_yticks([])
    axes.set_xlabel("substitutions per site")
    figure.savefig(path, bbox_inches="tight")


def search_scores(path: Path) -> None:
    """Scores of all proteins, the filters off, so that those that do not belong are seen, too."""
    for name, colour, label in (("efp", BLUE, "the family"), ("family", GREY, "other proteins")):
        everything = ta.search(
            str(EXAMPLES / "efp.hmm"),
            str(EXAMPLES / f"{name}.fasta"),
            thresholds=ta.Thresholds(E=1e9),
            options=ta.SearchOptions(f1=1, f2=1, f3=1, bias_filter=False),
        )
        pyplot.hist(everything.bits, bins=np.arange(-20, 300, 5), color=colour, label=f"{label}, {len(everything)}")
    labelled("score, bits", "proteins", path)


def paths_codons(path: Path) -> None:
    """Distances between codons, in the order of their amino acids."""
    found = shortest_paths(read_graph(EXAMPLES / "codons.tsv", is_directed=False))
    names = [found.names[i] for i in found.sources]
    order = sorted(range(len(names)), key=lambda i: (standard_dna_table.forward_table[names[i]], names[i]))
    residues = [standard_dna_table.forward_table[names[i]] for i in order]
    pyplot.figure(figsize=(6.4, 5.4))
    pyplot.imshow(found.distances[np.ix_(order, order)], cmap="Blues", interpolation="nearest")
    firsts = [i for i, residue in enumerate(residues) if i == 0 or residue != residues[i - 1]]
    middles = [(a + b - 1) / 2 for a, b in zip(firsts, [*firsts[1:], len(residues)], strict=True)]
    for ticks in (pyplot.xticks, pyplot.yticks):
        ticks(middles, [residues[i] for i in firsts])
    pyplot.tick_params(length=0)
    pyplot.colorbar(label="distance")
    labelled("codons of", "codons of", path, legend=False)


def score_modes(path: Path) -> None:
    """SP and TC of other modes, by the default mode's alignment."""
    family = EXAMPLES / "efp.fasta"
    with tempfile.TemporaryDirectory() as folder:
        default = ta.align_multiple(family)
        default.write(f"{folder}/default.fa")
        every = np.ones(default.letters.shape[1], bool)
        others = {name: ["--effort", name] for name in ("fast", "accurate")} | {"clustalw": ["--method", "clustalw"]}
        scores = {}
        for name, words in others.items():
            if main(["msa", str(family), "-q", "-o", f"{folder}/{name}.fa", *words]):
                raise SystemExit(f"tropalign msa {' '.join(words)} failed")
            scores[name] = ta.score_alignment(f"{folder}/{name}.fa", f"{folder}/default.fa", reference_columns=every)
    places = np.arange(len(scores))
    for shift, label, colour in ((-0.2, "sp", BLUE), (0.2, "tc", ORANGE)):
        values = [getattr(each, label) for each in scores.values()]
        pyplot.bar(places + shift, values, 0.38, color=colour, label=label.upper())
    pyplot.xticks(places, list(scores))
    pyplot.ylim(0.9, 1.005)
    labelled("", "agreement with the default mode", path)


def embeddings_path(path: Path) -> None:
    """The similarities of two proteins, with their alignment."""
    query, target = two_embeddings()
    scores = query @ target.T - 0.5
    hit = ta.align_scores(scores, gap=ta.Gap(1, 0.1))
    write_figure(ta.dot_plot(hit, scores=scores), path)


def soft_posteriors(path: Path) -> None:
    """The probabilities of pairs of residues of the same proteins, with the alignment of the highest sum."""
    query, target = two_embeddings()
    soft = ta.soft_align(query @ target.T - 0.5, gap=ta.Gap(1, 0.1), temperature=0.5)
    write_figure(ta.dot_plot(soft.alignment(), scores=soft.posteriors), path)


def two_embeddings() -> list[Any]:
    """Vectors of two distant homologs, of length 1."""
    with np.load(EXAMPLES / "embeddings.npz") as file:
        found = [file[name].astype(np.float32) for name in ("EFP_BORBP", "A0A0K8MZJ2_9PROT")]
    return [each / np.linalg.norm(each, axis=1, keepdims=True) for each in found]


def write_figure(figure: Any, path: Path) -> None:
    """Write a figure of tropalign."""
    figure.set_size_inches(4.6, 4)
    figure.savefig(path)


def labelled(x: str, y: str, path: Path, *, legend: bool = True) -> None:
    """Finish the current picture and write it."""
    pyplot.xlabel(x)
    pyplot.ylabel(y)
    for side in ("top", "right"):
        pyplot.gca().spines[side].set_visible(False)
    if legend:
        pyplot.legend(frameon=False)
    pyplot.savefig(path, bbox_inches="tight")


PICTURES: dict[str, Callable[[Path], None]] = {
    "pairs_map.svg": pairs_map,
    "cluster_thresholds.svg": cluster_thresholds,
    "msa_confidence.svg": msa_confidence,
    "tree.svg": tree_of_genera,
    "search_scores.svg": search_scores,
    "decode_islands.svg": decode_islands,
    "paths_codons.svg": paths_codons,
    "score_modes.svg": score_modes,
    "embeddings_path.svg": embeddings_path,
    "soft_posteriors.svg": soft_posteriors,
}


def make_pictures(folder: Path = DOCS / "pictures") -> None:
    """Write all pictures into `folder`, anew."""
    pyplot.switch_backend("agg")
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"figure.figsize": (7, 3.2), "svg.hashsalt": "tropalign", "font.size": 9}):
        for name, draw in PICTURES.items():
            with contextlib.suppress(FileNotFoundError):
                (folder / name).unlink()
            draw(folder / name)
            pyplot.close("all")


def setup(app: Any) -> None:
    """Make them before Sphinx reads the pages."""
    app.connect("builder-inited", lambda _: make_pictures())


if __name__ == "__main__":
    make_pictures(*map(Path, sys.argv[1:2]))
