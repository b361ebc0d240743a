"""Target `devices`: modules of collectives, calls, branches and loops on several devices; every claim is proved, or
unknown with a reason. Their maps pass devices in every order, which is where names of variables meet."""

from __future__ import annotations

from hypothesis import strategies as st

from hloproof.fuzz.modules.generate_devices import device_modules
from hloproof.fuzz.modules.target_modules import every_claim_holds
from hloproof.fuzz.target import Target
from hloproof.models.hlo.parser import parse_module


def cases() -> st.SearchStrategy[str]:
    return device_modules()


def examine(text: str) -> tuple[str, ...]:
    every_claim_holds(text, "devices")
    module = parse_module(text)
    found = (i.opcode for c in module.computations for i in c.instructions)
    return tuple(dict.fromkeys(opcode for opcode in found if opcode not in ("parameter", "constant")))


TARGET = Target(
    "devices",
    "modules of collectives, calls, branches and loops on several devices; every claim proved",
    cases,
    examine,
    ".hlo",
)
