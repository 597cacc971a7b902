"""Entry point ``tropalign VERB ...``: runs the verb, and turns errors into one sentence and an exit code."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import os
import signal
import sys
import threading
import warnings
from functools import partial
from types import ModuleType

from tropalign import __version__
from tropalign.errors import TropalignError, options_named, shown
from tropalign.verbs import VERBS, declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any, NoReturn, TextIO

#: Variables for the number of threads that OpenBLAS starts when NumPy is imported, in order of precedence. MKL,
#: BLIS and Accelerate start theirs with the first product.
THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
#: New objects between two passes of the garbage collector. Python's default of 700 makes 75 passes (4 to 10 ms)
#: over permanent modules before a command computes. Computations make no reference cycles: memory peaks are the
#: same without a collector.
OBJECTS_PER_PASS = 60_000
#: Packages that need Python's regular exit for their threads, connections and devices.
WITH_AN_END = ("cuda", "distributed", "pyopencl", "sqlalchemy")
#: Modules that dataclasses and NumPy import, but that few commands need.
SPARED = {
    "dataclasses": ("inspect",),
    "numpy": ("ast", "ctypes", "inspect", "numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars", "pickle",
              "platform", "textwrap"),
}  # fmt: skip


# Programs that call `tropalign.align` or `main` keep their threads and garbage collector.
def run_alone(main: Callable[[], int]) -> NoReturn:
    """Run a command's main function as the only job of this process, and exit with its code."""
    gc.set_threshold(OBJECTS_PER_PASS, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, _Light())
    code = main()
    if _may_end_at_once():
        os._exit(code)
    sys.exit(code)


class _Light:
    """Import finder that loads dataclasses and NumPy without other modules, and NumPy without threads.

    The other modules, signatures and docstrings take a quarter of NumPy's import. The threads, for matrix products,
    take 40 ms of processor time on two cores, and more on more cores. The environment is restored after the import,
    so child processes are not affected. A number of threads that the user sets is respected.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec for these modules; NumPy is the last one."""
        if name not in SPARED:
            return None
        place = sys.meta_path.index(self)
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if name != "numpy":
            sys.meta_path.insert(place, self)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _lightly(spec.loader.exec_module, SPARED[name])  # type: ignore[assignment,method-assign]
        return spec


def _lightly(execute: Callable[[ModuleType], None], spared: Iterable[str]) -> Callable[[ModuleType], None]:
    def execute_lightly(module: ModuleType) -> None:
        stand_ins = {name: _StandIn(name) for name in spared if name not in sys.modules}
        if module.__name__ == "numpy" and "inspect" in stand_ins:  # for signatures and docstrings of its functions
            vars(stand_ins["inspect"]).update(cleandoc=str, signature=lambda function: None)
        sets_threads = not os.environ.keys() & THREADS
        sys.modules.update(stand_ins)
        try:
            if sets_threads:
                os.environ[THREADS[0]] = "1"
            execute(module)
        finally:
            if sets_threads:
                os.environ.pop(THREADS[0], None)
            for stand_in in stand_ins.values():
                stand_in.leave()

    return execute_lightly


class _StandIn(ModuleType):
    """Module that is loaded when one of its attributes is used."""

    def __getattr__(self, name: str) -> Any:
        """Return the module's attribute."""
        if name.startswith("__"):  # asked by Python's import system
            raise AttributeError(name)
        self.leave()
        return getattr(importlib.import_module(self.__name__), name)

    def leave(self) -> None:
        """Let others import the module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def _may_end_at_once() -> bool:
    """Run Python's exit functions; True if only freeing memory remains.

    Freeing objects takes 15 to 30 ms, mostly for NumPy's modules. All files are closed by then, and outputs have
    their names.
    """
    if sys.flags.inspect or sys.gettrace() or sys.getprofile() or any(name in sys.modules for name in WITH_AN_END):
        return False
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return False  # Python joins threads, and asks some to stop
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return False
    return True


EXIT_DEFECT, EXIT_USAGE, EXIT_RESOURCES, EXIT_INTERRUPTED = 1, 2, 4, 130


def command() -> NoReturn:
    """Run the command line in a dedicated process: ``tropalign`` in a shell."""
    run_alone(main)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, also within another program, and return the exit code.

    0 done, 2 usage, 3 bad input, 4 resources or device, 130 interrupted, 1 a defect of tropalign
    (TROPALIGN_TRACEBACK=1 then shows the traceback).
    """
    if threading.current_thread() is threading.main_thread():  # no half-written files after SIGTERM and SIGHUP
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
                signal.signal(getattr(signal, name), _end)
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        _silence(sys.stdout)
        return 0
    except KeyboardInterrupt as interrupt:
        return _fail(str(interrupt) or "interrupted", EXIT_INTERRUPTED)
    except TropalignError as error:
        _show_traceback()
        if error.failure:
            from tropalign.execution.progress import tell_failure

            tell_failure(error.failure)
        verb = getattr(error, "verb", "")
        return _fail(f"{error} (see tropalign {verb} --help)" if verb else str(error), error.exit_code)
    except MemoryError:
        return _fail("out of memory: give a lower limit with --memory, so that less is held at once", EXIT_RESOURCES)
    except ImportError as error:  # the core was compiled for another processor, or a package is missing
        _show_traceback()
        remedy = f": install tropalign and its packages again (pip install {error.name or 'tropalign'})"
        return _fail(f"{error}{remedy if error.name else ''}", EXIT_RESOURCES)
    except OSError as error:  # mostly from standard output: file readers and writers raise their own errors
        _show_traceback()
        _silence(sys.stdout)
        where = "standard output" if error.filename is None else error.filename
        return _fail(f"{where}: operating system error ({error.strerror or error}): name another path", EXIT_RESOURCES)
    except Exception as error:
        _show_traceback()
        return _fail(
            f"{type(error).__name__}: {error}: this is a defect of tropalign; TROPALIGN_TRACEBACK=1 shows where",
            EXIT_DEFECT,
        )
    finally:
        if (clusters := sys.modules.get("tropalign.devices.dask_cluster")) is not None:
            clusters.close_clusters()  # stops the processes of ``--cluster local:4``
        if (files := sys.modules.get("tropalign.execution.files")) is not None:
            files.release_outputs()


def _end(number: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def _run(arguments: list[str]) -> int:
    """Parse the arguments, run the verb, and return the exit code."""
    about = arguments[1:] if arguments[:1] and arguments[0] in VERBS else arguments
    if about in (["--version"], ["-V"]) or arguments == ["version"]:  # the parser is slow to load
        print(f"tropalign {__version__}")
        return 0
    from tropalign.cli.parser import runnable_of

    if arguments[:1] == ["help"]:
        arguments = [*filter(lambda word: word != "help", arguments), "--help"]
    if arguments[:1] == ["version"]:
        arguments = ["--version"]
    try:
        with warnings.catch_warnings(), options_named():
            wants_help = not arguments or "-h" in arguments or "--help" in arguments
            parser = make_parser(wants_help, arguments[:1] if arguments[:1] and arguments[0] in VERBS else VERBS)
            options = parser.parse_args(arguments)
            if options.verb is None:
                parser.print_help()
                return EXIT_USAGE
            warnings.showwarning = lambda message, *more, **named: _say(f"warning: {message}")
            warnings.simplefilter("ignore" if getattr(options, "quiet", False) else "always", UserWarning)
            runnable_of(options).run()
    except SystemExit as stop:  # argparse has already printed its message
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    if "TROPALIGN_STATUS" in os.environ and not getattr(options, "dry_run", False):
        from tropalign.execution.progress import tell_end

        tell_end()
    return 0


def make_parser(wants_help: bool = True, names: Iterable[str] = VERBS) -> argparse.ArgumentParser:
    """Make the parser of the named verbs; coloured help is loaded only if `wants_help`."""
    import argparse

    from tropalign.cli.parser import Parser, add_command, add_printing

    formatter: Any
    if wants_help:
        from rich_argparse import RawDescriptionRichHelpFormatter as formatter
    else:  # each option makes a formatter, which would query the terminal's size
        formatter = partial(argparse.RawDescriptionHelpFormatter, width=80)
    parser = Parser(
        "tropalign",
        description="Exact alignment of biological sequences at the speed of the machine it runs on.",
        epilog="example:\n  tropalign pairs proteins.fa -o alignments.tsv\n\nHelp for a verb: tropalign help VERB",
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"tropalign {__version__}")
    add_printing(parser)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs")
    for name in names:
        add_command(verbs, declared(name), formatter)
    return parser


def _fail(sentence: str, code: int) -> int:
    _say(sentence)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):  # Python would retry at exit, and end with code 120
        _silence(sys.stdout)
    return code


def _say(sentence: str) -> None:
    """Print one line to standard error, if possible, without the terminal escape sequences that names may contain."""
    try:
        print(f"tropalign: {shown(sentence)}", file=sys.stderr, flush=True)
    except (OSError, ValueError):  # full or closed
        _silence(sys.stderr)


def _silence(stream: TextIO | None) -> None:
    """Redirect a failed stream to the null device, so that Python does not write its buffer again at exit."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # not a stream of the operating system
        return


def _show_traceback() -> None:
    if os.environ.get("TROPALIGN_TRACEBACK"):
        import traceback

        traceback.print_exc()


if __name__ == "__main__":
    command()
