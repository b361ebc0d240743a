"""Run as a program with jax at hand: compiles one StableHLO module, so that XLA_FLAGS of this process are obeyed.

    python compile_child.py MODULE PLATFORM

MODULE is text. Nothing of hloproof is imported, as this may run where only jax is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main(module: str, platform: str) -> None:
    """Compile the module of a file for the first devices of a platform. Raises what jax raises, SystemExit where there
    are too few devices."""
    import jax
    import numpy
    from jax.extend.backend import get_compile_options
    from jaxlib import xla_client

    jax.config.update("jax_platforms", platform)
    text = Path(module).read_text(encoding="utf-8")
    replicas, partitions = _count(text, "num_replicas"), _count(text, "num_partitions")
    devices = jax.devices()[: replicas * partitions]
    if len(devices) < replicas * partitions:
        raise SystemExit(f"the program is for {replicas * partitions} devices, and here are {len(devices)}")
    assignment = numpy.array([d.id for d in devices]).reshape(replicas, partitions)
    options = get_compile_options(replicas, partitions, device_assignment=assignment)
    devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options)


def _count(text: str, name: str) -> int:
    found = re.search(rf"mhlo\.{name} = (\d+)", text)
    return int(found[1]) if found else 1


if __name__ == "__main__":
    main(*sys.argv[1:])
