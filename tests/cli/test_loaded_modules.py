"""What a command loads: NumPy, its own folder and those below; nothing that it does not use."""

import subprocess
import sys

import pytest
from clone import ROOT

EXAMPLES = ROOT / "examples"
PROTEINS, ALIGNED, MODEL = (EXAMPLES / name for name in ("efp.fasta", "efp_aligned.fasta", "efp.hmm"))
#: What no command has a use for, whatever it does with small files that are not compressed.
NEVER = {
    "Bio", "asyncio", "bz2", "ctypes", "dask", "difflib", "distributed", "email", "fractions", "gzip", "html.parser",
    "http", "importlib.resources", "inspect", "lzma", "multiprocessing", "numpy._core._add_newdocs", "numpy.fft",
    "numpy.ma", "numpy.polynomial", "numpy.random", "numpy.testing", "pickle", "platform", "psutil", "pyhmmer", "rich",
    "scipy", "select", "socket", "sqlite3", "ssl", "subprocess", "tropalign.formats.saved_results", "unittest",
    "urllib.request", "xml", "xopen", "zoneinfo",
    "tropalign.devices.cluster_pool", "tropalign.devices.dask_cluster", "tropalign.client.calls",
    "tropalign.serve.command", "tropalign.submissions.submission",
}  # fmt: skip
#: Folders of jobs, and those that each verb has a use for.
JOBS = {"pairwise", "trees", "clusters", "placement", "msa", "profiles", "clustalw", "tropical", "decoding"}
COMMANDS = {
    "pairs": (["pairs", PROTEINS, "-o", "x.tsv"], {"pairwise"}),
    "msa": (["msa", PROTEINS, "-o", "x.fa"], {"msa", "pairwise", "clustalw"}),
    "search": (["search", MODEL, PROTEINS, "-o", "x.tbl"], {"profiles", "pairwise"}),
    "tree": (["tree", ALIGNED, "-o", "x.nwk"], {"trees", "pairwise"}),
    "cluster": (["cluster", PROTEINS, "-o", "x.tsv"], {"clusters", "pairwise"}),
    "decode": (["decode", EXAMPLES / "cpgislands.fa", "--model", "cpg", "-o", "x.tsv"], {"decoding", "pairwise"}),
    "score": (["score", ALIGNED, "--reference", EXAMPLES / "efp_clustalw.fasta", "-o", "x.tsv"], {"msa"}),
    "paths": (["paths", "edges.tsv", "-o", "x.tsv"], {"tropical"}),
    "db": (["db", "build", PROTEINS, "-o", "x.store"], set()),
    "merge": (["merge", "1.shard", "2.shard", "-o", "x.tsv"], JOBS - {"tropical", "trees"}),
}


def loaded(words, tmp_path):
    """Names of the modules that a command has loaded when it is done."""
    code = (
        "import atexit, sys\n"
        "def tell():\n"
        "    print(*sys.modules, sep='\\n', file=open('loaded', 'w'))\n"
        "atexit.register(tell)\n"
        "from tropalign.cli.main import command; command()"
    )
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], cwd=tmp_path, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return set((tmp_path / "loaded").read_text().split())


#: Results that wait for the last ones lie in a temporary file, whose module loads these.
WAITING = {"bz2", "lzma"}


@pytest.mark.parametrize("verb", COMMANDS)
def test_verbs_load_what_they_use(verb, tmp_path):
    (tmp_path / "edges.tsv").write_text("a\tb\t1\nb\tc\t2\n")
    words, used = COMMANDS[verb]
    if verb == "merge":
        for shard in (1, 2):
            loaded(["pairs", PROTEINS, "--shard", f"{shard}/2", "-o", f"{shard}.shard"], tmp_path)
    found = loaded(words, tmp_path)
    allowed = WAITING if verb not in ("pairs", "msa", "tree", "score") else set()
    assert not found & NEVER - allowed - ({"inspect"} if verb == "decode" else set())  # for a public signature
    assert {name.split(".")[1] for name in found if name.startswith("tropalign.")} & JOBS == used


def test_help_loads_no_numpy(tmp_path):
    """Help of all verbs in one process; `merge` has options of all of them."""
    code = (
        "import sys; from tropalign.cli.main import main; from tropalign.verbs import VERBS\n"
        "for words in [[], *([verb] for verb in VERBS)]:\n"
        "    main([*words, '--help'])\n"
        "    assert 'numpy' not in sys.modules, words\n"
        "assert 'rich_argparse' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_spared_modules_are_there_when_used():
    """NumPy, dataclasses and SciPy find the modules that the start has spared."""
    code = (
        "import sys\n"
        "from tropalign.cli.main import run_alone\n"
        "def main():\n"
        "    import dataclasses, numpy\n"
        "    assert not {'inspect', 'pickle', 'ctypes', 'numpy._core._add_newdocs'} & sys.modules.keys()\n"
        "    assert numpy._core._methods.pickle.dumps is __import__('pickle').dumps\n"
        "    assert numpy.arange(3).ctypes.data\n"
        "    import inspect\n"
        "    inspect.signature(main), inspect.cleandoc('  a')\n"
        "    assert str(inspect.signature(dataclasses.make_dataclass('D', ['x']))).startswith('(x')\n"
        "    import scipy.sparse.csgraph, scipy.cluster.hierarchy, numpy.ma, numpy.random\n"
        "    return 0\n"
        "run_alone(main)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
