"""Chunks of a campaign on a Dask cluster: `--cluster tcp://host:port` (extra hloproof[cluster])."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor


def executor(address: str) -> tuple[Callable[[int], Executor], int]:
    """What makes an executor on the cluster of this scheduler, and how many tasks its workers run at once.

    A task whose worker is lost is run again by another one. Raises ModuleNotFoundError without dask.distributed, and
    OSError when nothing answers at the address.
    """
    from distributed import Client

    client = Client(address, timeout=10)
    threads = sum(client.nthreads().values())

    def make(jobs: int) -> Executor:
        found: Executor = client.get_executor(pure=False, retries=3)
        return found

    return make, max(1, threads)
