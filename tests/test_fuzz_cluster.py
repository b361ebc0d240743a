"""Campaigns on a Dask cluster: a scheduler and two workers on loopback, one of which is killed in mid-run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hloproof.fuzz import campaign
from hloproof.fuzz.campaign import Limits
from hloproof.fuzz.state import State

pytest.importorskip("distributed", reason="dask.distributed is not installed")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    environment = dict(os.environ)
    file = tmp_path / "scheduler.json"
    quiet = subprocess.DEVNULL
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    started = [
        subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], env=environment, stderr=quiet)
    ]
    try:
        deadline = time.monotonic() + 60
        # The file is there before its text is.
        while not (file.exists() and file.read_text().endswith("}")) and time.monotonic() < deadline:
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        started += [subprocess.Popen([*worker, "--no-dashboard"], env=environment, stderr=quiet) for _ in range(2)]
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.longer
def test_a_lost_worker_loses_no_chunk(processes: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path) -> None:
    from distributed import Client

    from hloproof.fuzz.cluster import executor

    address, started = processes
    with Client(address) as client:
        client.wait_for_workers(2, timeout=60)
    make, at_once = executor(address)
    assert at_once == 2
    state = State.open(tmp_path / "campaign", 5, 20)
    killed: list[int] = []

    def show(progress: campaign.Progress) -> None:
        if progress.examples >= 60 and not killed:
            started[1].kill()
            killed.append(progress.examples)

    assert campaign.run(state, ["layouts"], Limits(examples=200), at_once, show, make) == []
    assert killed
    assert state.done["layouts"] == set(range(10))
    alone = State.open(tmp_path / "alone", 5, 20)
    campaign.run(alone, ["layouts"], Limits(examples=200))
    assert state.coverage == alone.coverage
