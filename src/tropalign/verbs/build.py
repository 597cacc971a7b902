"""``tropalign build``: alignments to profile hidden Markov models."""

from __future__ import annotations

from tropalign.options.option import TEXT, Options, input_file, option, output_file
from tropalign.profiles.options import ALPHABETS, BuildOptions
from tropalign.verbs.command import (
    Command,
    EachOption,
    OutputOptions,
    Served,
    ThreadOptions,
    checked_progress,
    header_of,
    output_of,
)


class BuiltOptions(Options, group="models"):
    """Name and alphabet of the models."""

    name: str | None = option(
        default=None,
        flags=("-n", "--name"),
        kind=TEXT,
        metavar="NAME",
        label="Name of the model",
        is_common=True,
        help="name of the model, if the file has a single alignment (default: the alignment's, else the file's)",
    )
    alphabet: str = option(
        default="auto",
        choices=ALPHABETS,
        is_common=True,
        help="alphabet: auto (default; that of the first alignment), protein, dna or rna",
    )


class AnnotatedOutput(Options, group="models"):
    """The alignments with their nodes."""

    alignment_out: str | None = output_file(
        output="alignment",
        suffix=".sto",
        flags=("-O", "--alignment-out"),
        metavar="FILE",
        help="the alignments as the models see them, in Stockholm format: nodes are marked (RF), other residues are "
        "insertions in lower case, and rows have their weights",
    )


class Build(Command, BuiltOptions, AnnotatedOutput, BuildOptions, OutputOptions, ThreadOptions, EachOption):
    """Alignments to profile hidden Markov models."""

    verb = "build"
    summary = "build profile HMMs from alignments"
    description = (
        "Build a profile hidden Markov model from each alignment of a file, as hmmbuild of HMMER does. HMMER and "
        "tropalign search and scan can read these models."
    )
    example = """example:
  tropalign build family.sto -o family.hmm
  tropalign build family.aln --name kinases --fragments 0.8 -o kinases.hmm
  tropalign build families.sto.gz -o library.hmm

Alignments are Stockholm (several in a file make a library), FASTA, A2M, A3M, Clustal, PHYLIP or MSF. Models are
numerically identical to those of hmmbuild.
Exit codes: 0 done, 2 usage, 3 bad input, 4 memory or disk, 130 interrupted."""
    served = Served(title="Build profiles", kind="models", example={"alignment": "efp_aligned.fasta"})
    no_shards = "alignments of a file become models one by one, so there are no shards: split the file, or use --each"
    each_input, each_refuses = "alignment", ("name",)

    alignment: str = input_file(
        flags=(),
        metavar="ALIGNMENT",
        holds="alignment",
        help="alignments in Stockholm (one or more), or one in FASTA, A2M, A3M, Clustal, PHYLIP or MSF, compressed "
        "or not; - is stdin",
    )

    def run(self) -> None:
        """Read alignments, build the models and write them."""
        from tropalign.devices.registry import CpuDevice
        from tropalign.execution.run import Output, Run, ShareWriter
        from tropalign.formats.hits.hmmer import ModelsContext
        from tropalign.profiles.build_task import BuildTask
        from tropalign.resources.limits import default_budget

        places = {"models": self.output, "alignments": self.alignment_out}
        kinds = {"models": "models", "alignments": "models/alignments"}
        header = header_of(self, {})
        made = [
            output_of(name, kinds[name], path, header, ModelsContext())
            for name, path in places.items()
            if path is not None
        ]
        show = checked_progress(self, [one.path for one in made], [self.alignment])
        options = BuildOptions(**self.shared_with(BuildOptions))
        building = Run(
            task=BuildTask(self.alignment, options, self.alphabet, self.name, self.alignment_out is not None),
            outputs=[Output(one.role, one.path, ShareWriter(one.writer, one.role)) for one in made],
            outline=None,
            parameters={},
            memory_bytes=default_budget(),
            unit="alignments",
        )
        building.compute([CpuDevice(self.threads)], show)
