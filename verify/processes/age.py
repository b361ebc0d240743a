"""How long this process has been there: what a run takes begins before its first line."""

from __future__ import annotations

import os
import time
from pathlib import Path


def age() -> float:
    """Wall seconds since this process began, to a hundredth; where the system does not say, its processor seconds,
    which are less."""
    try:
        # Behind the name in parentheses, which may hold anything; the times are in ticks since the machine was started.
        fields = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        began = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - began)
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
