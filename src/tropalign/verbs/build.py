"""``tropalign build``: alignments to profile hidden Markov models."""

from __future__ import annotations

from tropalign.options.option import TEXT, Options, input_file, option
from tropalign.profiles.options import ALPHABETS, BuildOptions
from tropalign.verbs.command import Command, Served
from tropalign.verbs.runs import (
    EachOption,
    OutputOptions,
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


class Build(Command, BuiltOptions, BuildOptions, OutputOptions, ThreadOptions, EachOption):
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
        from tropalign.execution.run import Run
        from tropalign.formats.hits.hmmer import ModelsContext
        from tropalign.profiles.build_task import BuildTask
        from tropalign.resources.limits import default_budget

        output = output_of("models", "models", self.output, header_of(self, {}), ModelsContext())
        show = checked_progress(self, [self.output], [self.alignment])
        options = BuildOptions(**self.shared_with(BuildOptions))
        building = Run(
            task=BuildTask(self.alignment, options, self.alphabet, self.name),
            outputs=[output],
            outline=None,
            parameters={},
            memory_bytes=default_budget(),
            unit="alignments",
        )
        building.compute([CpuDevice(self.threads)], show)
