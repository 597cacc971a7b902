"""Arguments that all computing functions share: threads, memory and devices."""

from __future__ import annotations

from tropalign.devices.names import DeviceLike
from tropalign.options.option import Options, argument


class ComputeArguments(Options):
    """Devices that compute, with limits on threads and memory."""

    n_threads: int = argument(default=0, kw_only=True, doc="0: as many as the process may use; at most 1024.")
    memory_bytes: int | None = argument(
        default=None, kw_only=True, doc="What may be taken beside the sequences; a share of the free memory by default."
    )
    device: DeviceLike = argument(
        default="auto",
        kw_only=True,
        doc='What computes, one or several of "cpu", "cuda:0", "opencl:0.0" ...; "auto": the processor, and with it '
        'the GPUs if the job is large. A cluster ("tcp://host:8786", "local:4", or a distributed.Client) computes on '
        "its workers. The result does not depend on it.",
    )
