"""``tropalign decode``: segments of sequences by a hidden Markov model."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from tropalign.cli.options import (
    Choices,
    add_comments_option,
    add_memory_option,
    add_output_options,
    add_shard_option,
    command_line,
    fraction,
    started,
    whole,
)
from tropalign.formats.registry import format_names
from tropalign.machine.numbers import MOST_THREADS

if TYPE_CHECKING:
    from tropalign.execution.run import Output, Writer
    from tropalign.execution.task import Progress
    from tropalign.hmm.decode_task import Contents
    from tropalign.hmm.decoding import Decoder
    from tropalign.hmm.model import HMM
    from tropalign.sequences.blocks import SequenceBlock

EXAMPLE = """example:
  tropalign decode --model cpg examples/cpgislands.fa
  tropalign decode --model cpg chr21.fa.gz -o islands.bed --min-length 200 --plot islands.svg
  tropalign decode --model cpg genes.fa --fit --model-out mine.toml -o islands.tsv

Models are small files that people can read (docs/decode.md); cpg, the CpG islands of Durbin et al. 1998, comes with
tropalign. Runs of 10 or more missing letters (N) have no label and cut a sequence. Coordinates are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory or disk, 130 interrupted."""
#: Options that belong to --fit, with their defaults.
FITTING = {"rounds": 100, "tolerance": 0.01, "pseudocount": 0.0, "fix": None, "model_out": None}


def add_parser(verbs: Any, formatter: Any) -> None:
    """Registers the verb."""
    parser = verbs.add_parser(
        "decode",
        help="cut sequences into segments by a hidden Markov model (CpG islands)",
        description="Finds the segments of sequences that a hidden Markov model gives one label, such as CpG islands, "
        "with the posterior probability of each.",
        epilog=EXAMPLE,
        formatter_class=formatter,
        allow_abbrev=False,
    )
    parser.add_argument("sequences", nargs="+", metavar="FASTA", help="sequences, compressed or not; - is stdin")
    parser.add_argument("--skip-empty", action="store_true", help="leave empty sequences out")
    parser.add_argument("--model", required=True, metavar="MODEL", help="cpg, or the file of a model")
    _add_segment_options(parser.add_argument_group("segments"))
    _add_fit_options(parser.add_argument_group("training"))
    group = parser.add_argument_group("output and resources")
    add_output_options(group)
    add_comments_option(group)
    group.add_argument(
        "-f",
        "--format",
        choices=format_names("segments"),
        help="what to write (default: by the suffix of -o, else tsv)",
    )
    group.add_argument("--plot", metavar="FILE", help="a picture, SVG or PNG by the suffix, of the first 20 sequences")
    group.add_argument(
        "-t", "--threads", type=whole(0, MOST_THREADS), default=0, metavar="N", help="0 (default) for all there are"
    )
    add_memory_option(group)
    add_shard_option(group)
    parser.set_defaults(run=run, parser=parser, check=_check_usage, device=None)


def _add_segment_options(group: Any) -> None:
    group.add_argument(
        "--by",
        choices=Choices("tropalign.hmm.decoding", "WAYS"),
        default="viterbi",
        help="labels of the most probable path (default), or the most probable label of each position",
    )
    group.add_argument(
        "--label",
        action="append",
        metavar="LABEL",
        help="write segments with this label; may be repeated (default: those that the model reports)",
    )
    group.add_argument(
        "--min-length",
        type=whole(0),
        default=1,
        metavar="N",
        help="leave segments of less than N positions out (default: 1)",
    )
    group.add_argument(
        "--min-support",
        type=fraction,
        default=0.0,
        metavar="P",
        help="leave segments of a lower mean posterior out (default: 0)",
    )


def _add_fit_options(group: Any) -> None:
    group.add_argument("--fit", action="store_true", help="train the model on the sequences first (Baum-Welch)")
    group.add_argument("--model-out", metavar="FILE", help="where to write the trained model")
    group.add_argument("--rounds", type=whole(0), default=100, metavar="N", help="rounds at most (default: 100)")
    group.add_argument(
        "--tolerance",
        type=_amount,
        default=0.01,
        metavar="X",
        help="end when a round gains less log-likelihood (default: .01)",
    )
    group.add_argument(
        "--pseudocount",
        type=_amount,
        default=0.0,
        metavar="X",
        help="added to the count of whatever is possible (default: 0)",
    )
    group.add_argument(
        "--fix",
        action="append",
        choices=Choices("tropalign.hmm.fitting", "PARTS"),
        help="leave this part of the model as it is; several times for several (default: none)",
    )


def _amount(text: str) -> float:
    """A number of 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def run(options: argparse.Namespace) -> None:
    """Reads, decodes and writes."""
    from tropalign.devices.registry import CpuDevice
    from tropalign.execution.run import Run, memory_allowed
    from tropalign.hmm.decode_task import Contents, DecodeTask, Unlabelled
    from tropalign.hmm.decoding import DecodeOptions, Decoder
    from tropalign.hmm.model import HMM
    from tropalign.sequences.blocks import BlockReader, Policy
    from tropalign.sequences.files import can_be_read_twice

    _check_usage(options)
    plot = options.plot if options.shard is None else None  # of a shard, merge makes it
    paths = [path for path in (options.output, plot, options.model_out) if path is not None]
    show = started(options, paths, [*options.sequences, options.model])
    model = HMM.load(options.model)
    choice = DecodeOptions(options.by, tuple(options.label or ()), options.min_length, options.min_support)
    allowed = memory_allowed(options.memory, options.output)
    means = {"n_threads": options.threads, "allowed_bytes": allowed}
    decoder = Decoder(model, choice, **means)  # which finds what does not fit before anything is read
    outputs = _outputs(options, model, decoder)

    def blocks() -> Iterable[SequenceBlock]:
        reader = BlockReader(options.sequences, Policy(empty="skip" if options.skip_empty else "refuse"))
        return _fitting(reader, allowed, options.fit)

    opened, contents, unlabelled = blocks, None, Unlabelled(decoder)
    if options.fit:
        kept = list(blocks())
        opened = kept.__iter__
        with show("rounds of training", options.rounds) as progress:
            model = _trained(options, model, kept, progress)
        if options.model_out is not None:
            model.save(options.model_out)
        decoder = Decoder(model, choice, **means)
    elif options.output != "-" and all(map(can_be_read_twice, options.sequences)):
        contents = Contents.of(unlabelled.watched(blocks()))
    watched = opened if contents is not None else lambda: unlabelled.watched(opened())
    task = DecodeTask(decoder, watched, contents, options.shard, draws=options.plot is not None)
    parameters = _parameters(options, model, outputs, contents)
    decoding = Run(
        task=task,
        outputs=outputs,
        outline=task.outline(),
        parameters=parameters,
        memory_bytes=allowed,
        shard=options.shard,
        unit="sequences",
    )
    decoding.compute([CpuDevice(options.threads)], show)
    unlabelled.warn()


def _parameters(
    options: argparse.Namespace, model: HMM, outputs: list[Output], contents: Contents | None
) -> dict[str, str]:
    """All that decides the parts, by name."""
    from tropalign import __version__
    from tropalign.hmm.decode_task import fingerprint_of

    words = {
        "version": __version__,
        "formats": ", ".join(output.writer.name for output in outputs),
        "model": f"{model.name or 'unnamed'}, hash {fingerprint_of(model)[:16]}",
        "by": options.by,
        "labels": ", ".join(options.label or ()),
        "min_length": str(options.min_length),
        "min_support": str(options.min_support),
    }
    if contents is not None:
        words["sequences"] = f"{len(contents.lengths)} of {int(contents.lengths.sum())} letters, hash {contents.sha256}"
    return words


def _check_usage(options: argparse.Namespace) -> None:
    refuse = options.parser.error
    if [*options.sequences, options.model].count("-") > 1:
        refuse("standard input can be read once: name - once")
    if options.fit and options.shard is not None:
        refuse(
            "--fit trains on all sequences, which has no shards: train once with --fit --model-out mine.toml, then "
            "give the shards --model mine.toml"
        )
    if options.shard is not None and "-" in options.sequences:
        refuse("sequences from standard input cannot be shared out: write them to a file first")
    if not options.fit:
        for name, default in FITTING.items():
            if getattr(options, name) != default:
                refuse(f"--{name.replace('_', '-')} belongs to --fit: add that, or leave it out")


@dataclass(frozen=True)
class _Of:
    """A writer that takes its share of what is found of a tile."""

    writer: Writer
    share: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.writer, name)

    def encode(self, result: Any) -> bytes:
        """What one tile leaves behind."""
        return self.writer.encode(getattr(result, self.share))


def _outputs(options: argparse.Namespace, model: HMM, decoder: Decoder) -> list[Output]:
    """The files with their writers."""
    from tropalign import __version__
    from tropalign.execution.files import check_terminal
    from tropalign.execution.run import Output
    from tropalign.formats.aligned import title_of
    from tropalign.formats.header import Header
    from tropalign.formats.registry import format_for_path, make_writer
    from tropalign.formats.segments.context import SegmentsContext

    name = options.format or format_for_path("segments", options.output)
    words = {"model": model.name or "unnamed", "coordinates": "0-based, half-open", "support": "mean posterior"}
    command = command_line(options.parser, options, format=name)
    header = Header(__version__, command, words, has_comments=not options.no_comments)
    wanted = [("segments", "segments", options.output, name)]
    if options.plot is not None:
        wanted.append(("plot", "tracks", options.plot, format_for_path("tracks", options.plot)))
    title = title_of(options.sequences[0]) if options.sequences[0] != "-" else "standard input"
    context = SegmentsContext(model.name or "segments", title, decoder.labels[decoder.shown_label])
    outputs = []
    for role, kind, path, chosen in wanted:
        writer = make_writer(kind, chosen, header, context)
        if writer.is_binary and options.shard is None:
            check_terminal(chosen, path)
        outputs.append(Output(role, path, _Of(writer, "segments" if kind == "segments" else "tracks")))
    return outputs


def _fitting(blocks: Iterable[SequenceBlock], allowed: int, keeps: bool) -> Iterator[SequenceBlock]:
    """The blocks, as long as memory suffices for each, or for all so far where they are kept."""
    from tropalign.errors import shown
    from tropalign.hmm.decoding import POSITION_BYTES
    from tropalign.machine.memory import PROCESS_BYTES, require

    n_letters = 0
    for block in blocks:
        n_letters = len(block.letters) + (n_letters if keeps else 0)
        what = f"{shown(block.file)}, record {block.names[0]!r} with {len(block.letters):,} letters,"
        remedy = "allow more with --memory, or cut the sequence"
        if n_letters > len(block.letters):
            what = f"training on {n_letters:,} letters, up to {shown(block.file)}, record {block.names[-1]!r},"
            remedy = "allow more with --memory, or train on fewer sequences"
        require(PROCESS_BYTES + POSITION_BYTES * n_letters, allowed, what, remedy)
        yield block


def _trained(options: argparse.Namespace, model: HMM, blocks: list[SequenceBlock], progress: Progress | None) -> HMM:
    import numpy as np

    from tropalign.errors import InputError
    from tropalign.hmm.decoding import DecodeOptions, Decoder
    from tropalign.hmm.fitting import ImpossibleSequenceError
    from tropalign.hmm.observations import Observations

    decoder = Decoder(model, DecodeOptions())
    codes = [decoder.codes(tuple(block.names), block.letters, block.offsets, block.file) for block in blocks]
    offsets = np.concatenate([[0], *(np.diff(block.offsets) for block in blocks)]).cumsum()
    pieces = decoder.pieces(codes[0] if len(codes) == 1 else np.concatenate(codes), offsets)
    if not len(pieces.codes):
        raise InputError("there is no letter to train on: all are in long runs of missing ones")
    seen = Observations(pieces.codes, None, pieces.offsets, is_single=False)
    words = {"n_rounds": options.rounds, "tolerance": options.tolerance, "pseudocount": options.pseudocount}
    try:
        return model.fit(seen, fixed=options.fix or (), n_threads=options.threads, progress=progress, **words)
    except ImpossibleSequenceError as error:
        records = ((block.file, name) for block in blocks for name in block.names)
        number = int(pieces.sequence[error.number])
        file, name = next(islice(records, number, None))
        raise ImpossibleSequenceError(number, file=file, record=name) from None
