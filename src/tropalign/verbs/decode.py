"""``tropalign decode``: segments of sequences by a hidden Markov model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from tropalign.decoding.options import PARTS, DecodeOptions, PartName, SegmentOptions
from tropalign.formats.format import format_names
from tropalign.options.option import AMOUNT, Options, again, input_file, option, output_file, whole
from tropalign.verbs.command import (
    SEQUENCE_FILES,
    Command,
    CommentOptions,
    DeviceOptions,
    EachOption,
    MemoryOptions,
    OutputOptions,
    Served,
    ShardOptions,
    checked_progress,
    header_of,
    output_of,
    with_version,
)
from tropalign.verbs.sequence_options import SequenceOptions

if TYPE_CHECKING:
    from tropalign.decoding.decode_task import Contents
    from tropalign.decoding.decoding import Decoder
    from tropalign.decoding.model import HMM
    from tropalign.execution.run import Output
    from tropalign.execution.task import Progress
    from tropalign.sequences.reader import SequenceBlock


class FormatOptions(Options, group="output and resources"):
    """Formats and files of the output."""

    format: str | None = option(
        default=None,
        flags=("-f", "--format"),
        choices=format_names("segments"),
        role="machine",
        help="output format (default: by the suffix of -o, else tsv)",
    )
    plot: str | None = output_file(
        output="plot",
        suffix=".svg",
        metavar="FILE",
        help="image of the first 20 sequences, SVG or PNG by the suffix",
    )
    threads: int = again(DeviceOptions, "threads")


class TrainingOptions(Options, group="training", needs="fit"):
    """Training of the model before its use."""

    fit: bool = option(
        default=False, label="Train the model first", help="train the model on the sequences first (Baum-Welch)"
    )
    model_out: str | None = output_file(
        output="model", suffix=".toml", of_shards=False, metavar="FILE", help="file for the trained model"
    )
    rounds: int = option(
        default=100, kind=whole(0), metavar="N", label="Training rounds", help="maximum number of rounds (default: 100)"
    )
    tolerance: float = option(
        default=0.01,
        kind=AMOUNT,
        metavar="X",
        help="stop when a round gains less log-likelihood than this (default: .01)",
    )
    pseudocount: float = option(
        default=0.0, kind=AMOUNT, metavar="X", help="pseudocount added to each possible event (default: 0)"
    )
    fix: list[PartName] | None = option(
        default=None,
        choices=PARTS,
        many="append",
        label="Keep fixed",
        help="keep this part of the model unchanged; may be repeated (default: none)",
    )


class Decode(
    Command,
    SegmentOptions,
    TrainingOptions,
    OutputOptions,
    CommentOptions,
    FormatOptions,
    MemoryOptions,
    ShardOptions,
    EachOption,
):
    """Segments of sequences to which a hidden Markov model gives one label."""

    verb = "decode"
    summary = "cut sequences into segments by a hidden Markov model (CpG islands)"
    description = (
        "Find the segments of sequences to which a hidden Markov model assigns one label, such as CpG islands, with "
        "the posterior probability of each."
    )
    example = """example:
  tropalign decode --model cpg examples/cpgislands.fa
  tropalign decode --model cpg chr21.fa.gz -o islands.bed --min-length 200 --plot islands.svg
  tropalign decode --model cpg genes.fa --fit --model-out mine.toml -o islands.tsv

Models are small text files (docs/decode.md); cpg, for the CpG islands of Durbin et al. 1998, comes with tropalign.
Runs of 10 or more missing letters (N) have no label and split a sequence. Coordinates are 0-based, half-open.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory or disk, 130 interrupted."""
    served = Served(title="Find segments", kind="segments", is_resumable=True, example={"sequences": "cpgislands.fa"})
    each_input = "sequences"

    sequences: list[str] = input_file(flags=(), many="+", metavar="FASTA", holds="sequences", help=SEQUENCE_FILES)
    skip_empty: bool = again(SequenceOptions, "skip_empty", group="")
    model: str = input_file(
        holds="model",
        names=("tropalign.decoding.model", "model_names"),
        default_name="cpg",
        metavar="MODEL",
        is_common=True,
        help="cpg, or a model file",
    )

    def run(self) -> None:
        """Read sequences, decode them and write the segments."""
        from tropalign.decoding.decode_task import Contents, DecodeTask, Unlabelled
        from tropalign.decoding.decoding import Decoder
        from tropalign.decoding.model import HMM
        from tropalign.devices.registry import CpuDevice
        from tropalign.execution.run import Run, memory_allowed
        from tropalign.sequences.files import can_be_read_twice
        from tropalign.sequences.reader import BlockReader, Policy

        self.check()
        plot = self.plot if self.shard is None else None  # for shards, tropalign merge draws the plot
        paths = [path for path in (self.output, plot, self.model_out) if path is not None]
        show = checked_progress(self, paths, [*self.sequences, self.model])
        model = HMM.load(self.model)
        choice = DecodeOptions(**{**self.shared_with(DecodeOptions), "labels": tuple(self.label or ())})
        allowed = memory_allowed(self.memory, self.output)
        means = {"n_threads": self.threads, "allowed_bytes": allowed}
        decoder = Decoder(model, choice, **means)  # fails early if something does not fit
        outputs = _outputs(self, model, decoder)

        def blocks() -> Iterable[SequenceBlock]:
            reader = BlockReader(self.sequences, Policy(gaps="keep", empty="skip" if self.skip_empty else "refuse"))
            return _fitting(reader, allowed, self.fit)

        opened, contents, unlabelled = blocks, None, Unlabelled(decoder)
        if self.fit:
            kept = list(blocks())
            opened = kept.__iter__
            with show("rounds of training", self.rounds) as progress:
                model = _trained(self, model, kept, progress)
            if self.model_out is not None:
                model.save(self.model_out)
            decoder = Decoder(model, choice, **means)
        elif self.output != "-" and all(map(can_be_read_twice, self.sequences)):
            contents = Contents.of(unlabelled.watched(blocks()))
        watched = opened if contents is not None else lambda: unlabelled.watched(opened())
        task = DecodeTask(decoder, watched, contents, self.shard, draws=self.plot is not None)
        parameters = _parameters(self, model, outputs, contents)
        decoding = Run(
            task=task,
            outputs=outputs,
            outline=task.outline(),
            parameters=parameters,
            memory_bytes=allowed,
            shard=self.shard,
            unit="sequences",
        )
        decoding.compute([CpuDevice(self.threads)], show)
        unlabelled.warn()

    def check(self) -> None:
        """Reject invalid options before anything is read."""
        super().check()
        refuse = self.refuse
        if self.fit and self.shard is not None:
            refuse(
                "--fit trains on all sequences, so it has no shards: train once with --fit --model-out mine.toml, "
                "then give the shards --model mine.toml"
            )
        if self.shard is not None and "-" in self.sequences:
            refuse("sequences from standard input cannot be divided into shards: write them to a file first")


def _parameters(options: Decode, model: HMM, outputs: list[Output], contents: Contents | None) -> dict[str, str]:
    """Return everything that determines the parts, by name."""
    from tropalign.decoding.decode_task import fingerprint_of

    words = with_version() | {
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


def _outputs(options: Decode, model: HMM, decoder: Decoder) -> list[Output]:
    """Return the output files with their writers."""
    from tropalign.execution.run import ShareWriter
    from tropalign.formats.aligned import title_of
    from tropalign.formats.format import format_for_path
    from tropalign.formats.segments import SegmentsContext

    name = options.format or format_for_path("segments", options.output)
    words = {"model": model.name or "unnamed", "coordinates": "0-based, half-open", "support": "mean posterior"}
    header = header_of(options, words, format=name)
    title = title_of(options.sequences[0]) if options.sequences[0] != "-" else "standard input"
    context = SegmentsContext(model.name or "segments", title, decoder.labels[decoder.shown_label])
    outputs = {"segments": output_of("segments", "segments", options.output, header, context, name)}
    if options.plot is not None:
        outputs["tracks"] = output_of("plot", "tracks", options.plot, header, context)
    return [replace(one, writer=ShareWriter(one.writer, kind)) for kind, one in outputs.items()]


def _fitting(blocks: Iterable[SequenceBlock], allowed: int, keeps: bool) -> Iterator[SequenceBlock]:
    """Yield blocks while memory suffices for each, or for all so far if they are kept."""
    from tropalign.decoding.decoding import POSITION_BYTES
    from tropalign.errors import shown
    from tropalign.resources.limits import PROCESS_BYTES, require

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


def _trained(options: Decode, model: HMM, blocks: list[SequenceBlock], progress: Progress | None) -> HMM:
    import numpy as np

    from tropalign.decoding.decoding import Decoder
    from tropalign.decoding.model_base import ImpossibleSequenceError
    from tropalign.decoding.observations import Observations
    from tropalign.errors import InputError

    decoder = Decoder(model, DecodeOptions())
    codes = [decoder.codes(tuple(block.names), block.letters, block.offsets, block.file) for block in blocks]
    offsets = np.concatenate([[0], *(np.diff(block.offsets) for block in blocks)]).cumsum()
    pieces = decoder.pieces(codes[0] if len(codes) == 1 else np.concatenate(codes), offsets)
    if not len(pieces.codes):
        raise InputError(
            "there are no letters to train on, because all are in long runs of missing letters: name other sequences"
        )
    seen = Observations(pieces.codes, None, pieces.offsets, is_single=False)
    words: dict[str, Any] = {
        "n_rounds": options.rounds,
        "tolerance": options.tolerance,
        "pseudocount": options.pseudocount,
    }
    try:
        return model.fit(seen, fixed=options.fix or (), n_threads=options.threads, progress=progress, **words)
    except ImpossibleSequenceError as error:
        records = ((block.file, name) for block in blocks for name in block.names)
        number = int(pieces.sequence[error.number])
        file, name = next(islice(records, number, None))
        raise ImpossibleSequenceError(number, file=file, record=name) from None
