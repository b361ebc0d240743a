"""Settings of all tests: what is slow on a busy machine is not wrong, and signals reach what a test starts, which is
compiled once. What takes long runs with HLOPROOF_SLOW=1 only, as `.ci/run` does behind all others."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Started in the background or by nohup, tests inherit that signals are ignored, and so would the programs that they
# start and tell to end.
for _signal, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _default)

# Hundreds of tests start the program: where the environment forbids to keep what is compiled, that is half of the time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("HLOPROOF_SLOW"):
        for item in items:
            if item.get_closest_marker("longer") is not None:
                item.add_marker(pytest.mark.skip(reason="takes long; set HLOPROOF_SLOW=1"))
