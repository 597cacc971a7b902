"""``tropalign devices``: list of the devices that can compute here."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys

from tropalign.errors import InputError
from tropalign.options.option import option
from tropalign.verbs.command import Command

#: The verbs with kernels, and the modules with their check_gpu.
SELF_TESTS = {
    "pairs": "pairwise.self_test",
    "place": "placement.scorer",
    "msa": "msa.gpu",
    "search": "profiles.gpu",
    "paths": "tropical.gpu",
    "decode": "decoding.gpu",
}


class Devices(Command):
    """List of the devices that can compute here."""

    verb = "devices"
    summary = "list the devices that can compute here"
    description = "List the CPU and, with the extras cuda and opencl, the GPUs, and check each of them."
    example = "example:\n  tropalign devices\n  TROPALIGN_ISA=v3 tropalign devices --json"

    json: bool = option(default=False, role="private", help="print JSON, with sizes in bytes")

    def run(self) -> None:
        """Print the table."""
        if sys.stdout is None:
            raise InputError("standard output is closed: redirect it to a file or a terminal")
        from tropalign.devices.registry import cpu_info, find_gpus, verdict
        from tropalign.resources.limits import human

        info = cpu_info()
        gpus, reasons = find_gpus()
        tests = {verb: importlib.import_module(f"tropalign.{module}").check_gpu for verb, module in SELF_TESTS.items()}
        checks = {gpu.name: verdict(gpu.name, tests) for gpu in gpus}
        if self.json:
            entries = [{**dataclasses.asdict(gpu), "self_test": checks[gpu.name]} for gpu in gpus]
            print(json.dumps({"cpu": dataclasses.asdict(info), "gpus": entries, "not_available": reasons}, indent=1))
            return
        sets = ", ".join(f"{name} (selected)" if name == info.selected else name for name in info.instruction_sets)
        print(f"cpu  {info.model}")
        print(f"     instruction sets  {sets}")
        print(f"     threads           {info.n_threads}")
        print(f"     free memory       {human(info.free_bytes)}")
        print(f"     default --memory  {human(info.default_budget_bytes)}")
        for gpu in gpus:
            print(f"{gpu.name}  {gpu.model}")
            print(f"     kind              {'GPU' if gpu.is_gpu else 'processor'}; {gpu.driver}")
            free = "" if gpu.free_bytes is None else f", {human(gpu.free_bytes)} free"
            print(f"     memory            {human(gpu.memory_bytes)}{free}")
            print(f"     lanes exchange by {gpu.shuffles}; DPX instructions: {'yes' if gpu.has_dpx else 'no'}")
            verbs = f" ({', '.join(SELF_TESTS)})" if checks[gpu.name] == "ok" else ""
            print(f"     self-test         {checks[gpu.name]}{verbs}")
        for reason in reasons:
            print(f"not available: {reason}")
