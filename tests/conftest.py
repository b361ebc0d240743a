"""Settings of all tests: what is slow on a busy machine is not wrong, and signals reach what a test starts."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Started in the background or by nohup, tests inherit that signals are ignored, and so would the programs that they
# start and tell to end.
for _signal, _default in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _default)
