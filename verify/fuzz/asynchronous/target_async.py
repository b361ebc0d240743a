"""Target `async`: what is claimed of asynchronous modules, against walks over their schedules and runs.

Eight kinds of cases, told apart by the name of the module: hazards of operations in flight against every order; chains
against their runs; sends and recvs against every way in which devices can move; values of buffer type followed by hand;
fused updates carried out in place; values and alias classes read off instruction by instruction; what can run when;
branches of conditionals. None of the judges shares code with the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from hypothesis import strategies as st

from hloproof.claims.asynchronous import judge
from hloproof.fuzz.asynchronous.alias_checks import check_aliases
from hloproof.fuzz.asynchronous.generate_aliases import NAME as ALIASES
from hloproof.fuzz.asynchronous.generate_aliases import alias_modules
from hloproof.fuzz.asynchronous.generate_chains import BREAKS, SLIP, chain_modules
from hloproof.fuzz.asynchronous.generate_chains import NAME as CHAINS
from hloproof.fuzz.asynchronous.generate_channels import (
    BUFFERS,
    CHANNELS,
    IN_PLACE,
    buffer_modules,
    channel_modules,
    in_place_modules,
)
from hloproof.fuzz.asynchronous.generate_flights import NAME as FLIGHTS
from hloproof.fuzz.asynchronous.generate_flights import flight_modules
from hloproof.fuzz.asynchronous.hazard_words import ARGUMENTS, check_words
from hloproof.fuzz.asynchronous.oracle_branches import NAME as BRANCHES
from hloproof.fuzz.asynchronous.oracle_branches import branch_modules, check_branches
from hloproof.fuzz.asynchronous.oracle_channels import broken_buffers, broken_channels, spoils_itself, steps_of
from hloproof.fuzz.asynchronous.oracle_flights import Program, hazards
from hloproof.fuzz.asynchronous.oracle_orders import NAME as ORDERS
from hloproof.fuzz.asynchronous.oracle_orders import check_orders, order_modules
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

Key = tuple[str, str]
"""A claim and an instruction, with its computation where names are not unique."""

_CHAIN_CLAIMS: Final = (
    "async-chain",
    "async-linear",
    "async-thread",
    "async-computation",
    "async-shape",
    "async-done",
    "async-binding",
)


_ROLES: Final = ("-start", "-update", "-done")


def cases() -> st.SearchStrategy[str]:
    return st.one_of(
        flight_modules(),
        flight_modules(),
        flight_modules(),
        chain_modules(),
        chain_modules(),
        channel_modules(),
        buffer_modules(),
        in_place_modules(),
        alias_modules(),
        alias_modules(),
        order_modules(),
        branch_modules(),
    )


def judged(module: Module, claims: Collection[str]) -> tuple[set[Key], set[Key], set[Key]]:
    """What is refuted, what is unknown, and everything that is said."""
    refuted, unknown, said = set[Key](), set[Key](), set[Key]()
    for j in judge(module, lambda name: name in claims, lambda name: name in claims):
        key = (j.claim, f"{j.place.computation}.{j.place.instruction}")
        said.add(key)
        if j.problem is not None:
            refuted.add(key)
        elif j.found.verdict is not Verdict.PROVED:
            unknown.add(key)
    return refuted, unknown, said


def compare(what: str, expected: set[Key], found: tuple[set[Key], set[Key], set[Key]], blind: set[Key]) -> None:
    """Raises Failure where a claim is refuted that holds, proved although it does not hold, or not made at all."""
    refuted, unknown, said = found
    for claim, place in sorted(expected - blind - said):
        raise Failure(f"async: {claim} says nothing of what breaks it ({what})", place)
    for claim, place in sorted(refuted - expected - blind):
        raise Failure(f"async: {claim} is refuted where it holds ({what})", place)
    for claim, place in sorted(expected - blind - refuted - unknown):
        raise Failure(f"async: {claim} is proved where it is broken ({what})", place)


def _is_loop(module: Module, name: str) -> bool:
    """What one turn of a loop leaves for the next is not run here."""
    return module.entry.by_name[name].opcode == "while"


def _flights(module: Module, text: str) -> tuple[str, ...]:
    program = Program(module)
    expected = {(claim, f"{module.entry_name}.{name}") for claim, name in hazards(program)}
    claims = ("hazard-operand", "hazard-output", "hazard-overwrite", "hazard-donation")
    how = "scheduled" if program.scheduled else "unscheduled"
    rounds = {
        (j.claim, f"{j.place.computation}.{j.place.instruction}")
        for j in judge(module, lambda name: name in claims, lambda name: False)
        if j.problem is not None and ARGUMENTS.match(j.problem) and _is_loop(module, j.place.instruction)
    }
    compare(f"{how} modules", expected, judged(module, claims), rounds)
    check_words(module, program, judge(module, lambda name: name in claims, lambda name: name in claims))
    forms = {i.opcode for i in module.entry.instructions if i.name in {f.opening for f in program.flights}}
    return (how, *sorted(forms), *sorted({f"{claim} broken" for claim, _ in expected}))


def _chains(module: Module, text: str) -> tuple[str, ...]:
    """What is broken is known from how the module was made; where a slip was made, links after it may be so too."""
    said = [line.removeprefix(BREAKS).split() for line in text.splitlines() if line.startswith(BREAKS)]
    expected = {(claim, place) for claim, place in said}
    found = judged(module, _CHAIN_CLAIMS)
    slip = text.splitlines()[0].removeprefix(SLIP) if text.startswith(SLIP) else ""
    compare("chains", expected, found, found[0] - expected if slip else set())
    links = {i.opcode for c in module.computations for i in c.instructions if i.opcode.endswith(_ROLES)}
    return (*sorted(links), *sorted({f"{claim} broken" for claim, _ in expected}), *filter(None, (slip,)))


def _channels(module: Module, text: str) -> tuple[str, ...]:
    expected = {(claim, f"{module.entry_name}.{name}") for claim, name in broken_channels(module)}
    compare("channels", expected, judged(module, ("async-channel", "collective-deadlock")), set())
    return ("channels", *sorted({f"{claim} broken" for claim, _ in expected}))


def _buffers(module: Module, text: str) -> tuple[str, ...]:
    expected = {(claim, f"{module.entry_name}.{name}") for claim, name in broken_buffers(module)}
    compare("buffers", expected, judged(module, ("buffer-alias",)), set())
    return ("buffers", *sorted({f"{claim} broken" for claim, _ in expected}))


def _in_place(module: Module, text: str) -> tuple[str, ...]:
    expected = {("hazard-in-place", f"{module.entry_name}.f")} if spoils_itself(module) else set[Key]()
    found = judged(module, ("hazard-in-place",))
    compare("fused updates", expected, found, set())
    word = "unknown" if found[1] else "broken" if expected else "proved"
    return (f"hazard-in-place {word}", *sorted(set(steps_of(module)) - {"parameter", "constant"}))


def _aliases(module: Module, text: str) -> tuple[str, ...]:
    return check_aliases(module)


def _orders(module: Module, text: str) -> tuple[str, ...]:
    return check_orders(module)


def _branches(module: Module, text: str) -> tuple[str, ...]:
    return check_branches(module)


_KINDS: Final[dict[str, Callable[[Module, str], tuple[str, ...]]]] = {
    FLIGHTS: _flights,
    CHAINS: _chains,
    CHANNELS: _channels,
    BUFFERS: _buffers,
    IN_PLACE: _in_place,
    ALIASES: _aliases,
    ORDERS: _orders,
    BRANCHES: _branches,
}


def examine(text: str) -> tuple[str, ...]:
    try:
        module = parse_module(text)
    except InputError:
        if text.startswith(SLIP):
            return ("refused when read",)
        raise
    return _KINDS[module.name](module, text)


TARGET = Target("async", "asynchronous operations against walks over their schedules and runs", cases, examine, ".hlo")
