"""Options of other programs and their counterparts here, for users who know these programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_RUNS = ("pairs", "find", "cluster", "chimeras", "msa", "tree", "search", "scan", "place", "decode", "paths")
_PAIRS, _BOTH, _HITS = ("pairs", "find"), ("pairs", "find", "cluster"), ("search", "scan")
_TREATED = ("msa", "tree")

#: Verbs, option names without dashes (``_`` equals ``-``), and the advice. Covers BLAST+, vsearch, MAFFT, HMMER
#: and MMseqs2, and part of CD-HIT, EMBOSS, MUSCLE, Clustal Omega, IQ-TREE and EPA-ng. Options with the same name
#: here are left out.
NAMES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (_RUNS, "cpu cpus thread num-threads nthreads n-threads", "write --threads"),
    (("cluster",), "T", "write --threads"),
    (_RUNS, "out outfile output-file", "write -o FILE"),
    (_BOTH, "M split-memory-limit", "write --memory, such as 8G"),
    (_BOTH, "gpu", "write --device, such as cuda:0"),
    # sequences
    (("pairs",), "query subject db asequence bsequence", "name the two files first: A, then B"),
    (("find",), "query subject db asequence bsequence", "name the queries first, then the database"),
    (_PAIRS, "usearch-global", "name the two files first, or map reads to OTUs with tropalign cluster --to"),
    (("pairs",), "allpairs-global", "name the file first, with --mode global"),
    (("cluster",), "i cluster-fast", "name the file first"),
    (("cluster",), "cluster-size", "name the file first, with --order abundance"),
    (("cluster",), "cluster-smallmem", "name the file first, with --order input"),
    (_TREATED, "in infile i align", "name the file first"),
    (("place",), "ref-msa s", "write --reference"),
    (("place",), "query", "name the file of reads first"),
    # which pairs
    (_BOTH, "id min-seq-id c-id identity-threshold", "write --min-identity, such as 0.97"),
    (_BOTH, "perc-identity", "write --min-identity, as a fraction: 0.97 for 97"),
    (("cluster",), "c", "write --min-identity (of CD-HIT) or --min-coverage (of MMseqs2)"),
    (_PAIRS, "c", "write --min-coverage"),
    (("cluster",), "iddef seq-id-mode", "write --identity"),
    (("cluster",), "cov-mode", "write --coverage-of"),
    (("cluster",), "aL", "write --min-coverage, with --coverage-of longer"),
    (("cluster",), "aS", "write --min-coverage, with --coverage-of shorter"),
    (_PAIRS, "query-cov", "write --min-query-coverage"),
    (_PAIRS, "target-cov", "write --min-target-coverage"),
    (_PAIRS, "qcov-hsp-perc", "write --min-query-coverage, as a fraction: 0.8 for 80"),
    (_PAIRS, "evalue e e-value E", "write --max-evalue"),
    (_PAIRS, "maxaccepts maxhits max-target-seqs max-seqs num-alignments", "write --top"),
    (_PAIRS, "culling-limit", "write --culling"),
    (_PAIRS, "top-hits-only", "write --top 1"),
    (_PAIRS, "dbsize", "write --db-size"),
    (_PAIRS, "sum-stats", "write --sum-statistics, with --max-hsps"),
    (_PAIRS, "max-intron-length", "write --max-intron, with --sum-statistics"),
    (_PAIRS, "comp-based-stats", "write --composition, scaled or ignored"),
    (_PAIRS, "seg dust soft-masking masking", "write --mask, seg, dust or tantan, with --mask-hard for X and N"),
    (_PAIRS, "lcase-masking mask-lower-case", "write --mask lower"),
    (_BOTH, "word-size wordlength k n", "leave it out: every pair is aligned, without a search for k-mers"),
    (_BOTH, "maxrejects", "leave it out: no sequence is skipped after a number of rejections"),
    (("cluster",), "maxaccepts", "write --assign, best or first"),
    (("cluster",), "sizein", "leave it out: ;size=N counts, and --order abundance starts with the most abundant"),
    (("cluster",), "usearch-global", "name the reads first, with --to for the database"),
    (("cluster",), "db", "write --to"),
    (("cluster",), "notmatched", "write --unmapped"),
    (("cluster",), "dbmatched", "write --representatives, with --to"),
    (("cluster",), "top-hits-only", "leave it out: with --to, a read counts for the first of the most similar"),
    (("cluster",), "cluster-mode", "write --method"),
    (("derep",), "derep-fulllength fastx-uniques", "name the files first"),
    (("cluster", "derep"), "sintax", "leave it out: tropalign place assigns taxa"),
    (("derep",), "fastaout", "write -o"),
    (("derep",), "fastq fastqout", "write -o with a name that ends in .fastq"),
    (("derep",), "fastq-qout-max", "write --quality max"),
    (("derep",), "db", "write --orient"),
    (("derep",), "notmatched", "write --unoriented"),
    (("derep",), "tabbedout", "write --orientations"),
    (("derep",), "sizein sizeout", "leave it out: ;size=N is read and written, unless --no-sizes"),
    (("derep",), "minuniquesize", "write --min-size"),
    (("derep",), "maxuniquesize", "write --max-unique-size"),
    (("derep",), "minseqlength", "write --min-length"),
    (("derep",), "maxseqlength", "write --max-length"),
    (("derep",), "relabel-sha1", "write --relabel sha1"),
    (("chimeras",), "uchime-denovo uchime-ref", "name the file first"),
    (("chimeras",), "uchime2-denovo", "name the file first, with --rule uchime2"),
    (("chimeras",), "uchime3-denovo", "name the file first, with --rule uchime3"),
    (("chimeras",), "nonchimeras", "write -o"),
    (("chimeras",), "uchimeout", "write --table, such as FILE.uchime"),
    (("chimeras",), "sizein", "leave it out: ;size=N counts if there is no --db"),
    # scores
    (_BOTH, "reward", "write --match"),
    (_BOTH, "penalty", "write --mismatch"),
    (_BOTH, "gapopen", "write --gap-open: the cost of opening a gap, excluding its residues"),
    (_BOTH, "gapextend gapext", "write --gap-extend: the cost of each residue of a gap"),
    (_BOTH, "datafile sub-mat mx", "write --matrix"),
    (("pairs", "cluster"), "endopen", "write --end-gap-open"),
    (("pairs", "cluster"), "endextend", "write --end-gap-extend"),
    (_PAIRS, "query-gencode db-gencode translation-table", "write --genetic-code"),
    # outputs
    (("pairs",), "global", "write --mode global"),
    (_PAIRS, "outfmt format-mode", "write -o FILE.m8 for BLAST's table, or choose a --format"),
    (_PAIRS, "blast6out tblout", "write -o FILE.m8"),
    (_PAIRS, "userout", "write -o FILE.tsv, with --columns"),
    (_PAIRS, "userfields format-output", "write --columns, separated by commas"),
    (_PAIRS, "samout", "write -o FILE.sam"),
    (_PAIRS, "samheader", "leave it out: SAM has a header, unless --no-header"),
    (_PAIRS, "no-hd", "write --no-header"),
    (_PAIRS, "MD", "leave it out: SAM and BAM always have MD tags"),
    (_PAIRS, "alnout aformat", "write -o FILE.srspair, or choose a --format"),
    (("cluster",), "centroids", "write --representatives"),
    (("cluster",), "otutabout biomout", "write --otu-table, FILE.tsv or FILE.biom"),
    (("cluster",), "relabel-sha1", "write --relabel sha1"),
    (("cluster",), "derep-fulllength fastx-uniques", "name the files first, with --dereplicate (or tropalign derep)"),
    (_HITS, "outfmt", "write --tblout or --domtblout"),
    # profiles
    (_HITS, "evalue e e-value max-evalue", "write -E"),
    (("search",), "N", "write --iterate"),
    (_HITS, "tformat qformat", "leave it out: formats are detected from the content (for afa, add --gaps remove)"),
    (("build",), "informat", "leave it out: formats are detected from the content"),
    # families and trees
    (("msa",), "localpair linsi globalpair ginsi genafpair einsi", "write --effort accurate"),
    (("msa",), "hmm hmm-in", "write --model"),
    (("msa",), "auto", "leave it out: --effort follows from the number of sequences"),
    (("msa",), "maxiterate", "write --refine"),
    (("msa",), "addfragments addlong addfull", "write --add"),
    (("msa",), "keeplength", "write --keep-length"),
    (("msa",), "adjustdirection adjustdirectionaccurately", "write --strand adjust"),
    (("msa",), "op ep gop gep", "leave it out: gap costs follow from the models (--method clustalw has gap costs)"),
    (("msa",), "reorder", "write --row-order tree"),
    (("msa",), "inputorder", "write --row-order input"),
    (("msa",), "treein guidetree-in usetree", "write --tree-in"),
    (("msa",), "treeout guidetree-out newtree", "write --tree-out"),
    (("msa",), "clustalout", "write -o FILE.aln"),
    (("msa",), "phylipout", "write -o FILE.phy"),
    (("msa",), "outfmt", "write --format"),
    (_TREATED, "amino", "write --alphabet protein"),
    (_TREATED, "nuc nt", "write --alphabet nucleotide"),
    (_TREATED, "gt gapthreshold", "write --min-occupancy, with the same share"),
    (_TREATED, "nogaps", "write --min-occupancy 1"),
    (_TREATED, "noallgaps", "write --min-occupancy with a small share, such as 0.001"),
    (_TREATED, "gappyout automated1 strictplus", "write --min-occupancy, --max-gaps or --max-entropy, with a share"),
    (_TREATED, "colnumbering", "write --columns-out FILE"),
    (("tree",), "rf rfdist compare-tree ref r", "write --compare TREES"),
    (("tree",), "con minsup min-freq", "write --consensus majority, or strict"),
    (("tree",), "unrooted", "leave it out: trees count as unrooted without --rooted"),
    (("tree",), "weighted", "write --method wpgma"),
    (("tree",), "b bb B boot ufboot bs-trees", "write --bootstrap"),
    (("tree",), "m model lg wag gtr", "write --distances: the tree is made from distances, not from likelihoods"),
    (("place",), "outdir", "write -o FILE, or --jplace FILE"),
)  # fmt: skip
#: Names of other programs and of vsearch commands, and the verb that does their job.
PROGRAMS: dict[str, str] = {
    "blastp blastn blastx tblastn ssearch36 diamond": "find",
    "makeblastdb": "db build",
    "needle water needleall parasail": "pairs",
    "vsearch cd-hit cd-hit-est uclust": "cluster",
    "mafft muscle clustalo famsa kalign": "msa",
    "clustalw": "msa --method clustalw",
    "hmmalign": "msa --model",
    "hmmbuild": "build",
    "hmmsearch phmmer jackhmmer": "search",
    "hmmscan hmmpfam hmmpress": "scan",
    "papara epa-ng pplacer": "place",
    "quicktree rapidnj fasttree": "tree",
    "treedist": "tree --compare",
    "consense sumtrees": "tree --consensus majority",
    "trimal clipkit": "msa --aligned --min-occupancy 0.5",
    "formatdb": "db build",
    "blastdbcmd": "db info",
    "usearch-global": "cluster --to",
    "allpairs-global": "pairs --mode global",
    "cluster-size": "cluster --order abundance",
    "cluster-fast cluster-smallmem": "cluster",
    "fastx-uniques derep-fulllength": "derep",
    "uchime-denovo uchime-ref uchime2-denovo uchime3-denovo": "chimeras",
    "gappa guppy": "place --taxonomy",
    "qscore fastsp": "score",
}


def verb_for(word: str) -> str | None:
    """Return the verb that does the job of another program (``_`` equals ``-``), None if the program is unknown."""
    name = word.lower().replace("_", "-")
    return next((verb for names, verb in PROGRAMS.items() if name in names.split()), None)


def advice(verb: str, word: str) -> str | None:
    """Return the counterpart of another program's option, dashes included, None if the option is unknown."""
    name = word.lstrip("-").replace("_", "-")
    for verbs, names, what in NAMES:
        if verb in verbs and name in names.split():
            return what
    return None


def refusal(verb: str, words: Iterable[str], own: Sequence[str]) -> str | None:
    """Return a sentence about other programs' options among the arguments `words`, None if there are no such options.

    Includes this verb's options (`own`) with a single dash, which would be read as a short option and its value.
    """
    told: dict[str, dict[str, None]] = {}
    for word in words:
        if word == "--":
            break
        name = word.partition("=")[0]
        if not name.startswith("-") or name in own:
            continue
        what = f"write -{name}" if len(name) > 2 and f"-{name}" in own else advice(verb, name)
        if what is not None:
            told.setdefault(what, {})[name] = None
    if not told:
        return None
    return f"{verb} has no " + "; no ".join(f"{' or '.join(names)}: {what}" for what, names in told.items())
