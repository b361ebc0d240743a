"""Target `async`: what is claimed of asynchronous modules, against walks over their schedules and runs.

Eight kinds of cases, told apart by the name of the module: hazards of operations in flight against every order; chains
against their runs; sends and recvs against every way in which devices can move; values of buffer type followed by hand;
fused updates carried out in place; values and alias classes read off instruction by instruction; what can run when;
branches of conditionals. None of the judges shares code with the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.claims.asynchronous import judge
from hloproof.fuzz.asynchronous.alias_checks import check_aliases
from hloproof.fuzz.asynchronous.buffers import broken_buffers, buffer_modules
from hloproof.fuzz.asynchronous.channels import broken_channels, channel_modules
from hloproof.fuzz.asynchronous.generate import (
    BREAKS,
    SLIP,
    alias_modules,
    branch_modules,
    chain_modules,
    flight_modules,
    order_modules,
)
from hloproof.fuzz.asynchronous.hazard_words import ARGUMENTS, Words
from hloproof.fuzz.asynchronous.in_place import in_place_modules, spoils_itself, steps_of
from hloproof.fuzz.asynchronous.order_checks import check_orders
from hloproof.fuzz.asynchronous.simulation import Program, hazards, moments_of
from hloproof.fuzz.asynchronous.slips import SLIPS
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

Key = tuple[str, str]
"""A claim and an instruction, with its computation where names are not unique."""


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


def _in_entry(module: Module, broken: set[Key]) -> set[Key]:
    return {(claim, f"{module.entry_name}.{name}") for claim, name in broken}


def _covered(expected: set[Key]) -> list[str]:
    return sorted({f"{claim} broken" for claim, _ in expected})


def _flights(module: Module, text: str) -> tuple[str, ...]:
    program = Program(module)
    moments = moments_of(program)
    expected = _in_entry(module, hazards(program, moments))
    claims = ("hazard-operand", "hazard-output", "hazard-overwrite", "hazard-donation")
    how = "scheduled" if program.scheduled else "unscheduled"
    rounds = {  # what one turn of a loop leaves for the next is not run here
        (j.claim, f"{j.place.computation}.{j.place.instruction}")
        for j in judge(module, lambda name: name in claims, lambda name: False)
        if ARGUMENTS.match(j.problem or "") and module.entry.by_name[j.place.instruction].opcode == "while"
    }
    compare(f"{how} modules", expected, judged(module, claims), rounds)
    Words(program, moments).check(judge(module, lambda name: name in claims, lambda name: name in claims))
    forms = {module.entry.by_name[f.opening].opcode for f in program.flights}
    return (how, *sorted(forms), *_covered(expected))


def _branches(module: Module, text: str) -> tuple[str, ...]:
    program = Program(module)
    said = [
        j
        for j in judge(module, lambda n: n == "hazard-overwrite", lambda n: False)
        if j.place.instruction == module.entry.root_name and "returns one buffer for" in (j.problem or "returns one buffer for")
    ]
    found = (said, [j.problem for j in said if j.problem])
    expected = (program.scheduled, program.scheduled and bool(program.joined))
    if tuple(map(bool, found)) != expected:
        raise Failure("async: hazard-overwrite of a conditional is decided wrongly", f"{found}, by hand {program.joined}")
    Words(program, []).check(said)
    return ("branches", *(("branches that disagree",) if program.joined else ()))


_CHAIN_CLAIMS: Final = tuple(sorted({slip.claim for slip in SLIPS.values()}))


def _chains(module: Module, text: str) -> tuple[str, ...]:
    """What is broken is known from how the module was made; where a slip was made, links after it may be so too."""
    said = [line.removeprefix(BREAKS).split() for line in text.splitlines() if line.startswith(BREAKS)]
    expected = {(claim, place) for claim, place in said}
    found = judged(module, _CHAIN_CLAIMS)
    slip = text.splitlines()[0].removeprefix(SLIP) if text.startswith(SLIP) else ""
    compare("chains", expected, found, found[0] - expected if slip else set())
    links = {i.opcode for c in module.computations for i in c.instructions if i.opcode.endswith(_ROLES)}
    return (*sorted(links), *_covered(expected), *filter(None, (slip,)))


_ROLES: Final = ("-start", "-update", "-done")


def _channels(module: Module, text: str) -> tuple[str, ...]:
    expected = _in_entry(module, broken_channels(module))
    compare("channels", expected, judged(module, ("async-channel", "collective-deadlock")), set())
    return ("channels", *_covered(expected))


def _buffers(module: Module, text: str) -> tuple[str, ...]:
    expected = _in_entry(module, broken_buffers(module))
    compare("buffers", expected, judged(module, ("buffer-alias",)), set())
    return ("buffers", *_covered(expected))


def _in_place(module: Module, text: str) -> tuple[str, ...]:
    expected = _in_entry(module, {("hazard-in-place", "f")} if spoils_itself(module) else set())
    found = judged(module, ("hazard-in-place",))
    compare("fused updates", expected, found, set())
    word = "unknown" if found[1] else "broken" if expected else "proved"
    return (f"hazard-in-place {word}", *sorted(set(steps_of(module)) - {"parameter", "constant"}))


@dataclass(frozen=True, slots=True)
class Kind:
    """Modules of one name: how they are drawn, how often, and how they are examined."""

    drawn: Callable[[], Any]
    examine: Callable[[Module, str], tuple[str, ...]]
    often: int = 1


KINDS: Final[dict[str, Kind]] = {
    "flights": Kind(flight_modules, _flights, 3),
    "chains": Kind(chain_modules, _chains, 2),
    "channels": Kind(channel_modules, _channels),
    "buffers": Kind(buffer_modules, _buffers),
    "in_place": Kind(in_place_modules, _in_place),
    "aliases": Kind(alias_modules, lambda module, text: check_aliases(module), 2),
    "orders": Kind(order_modules, lambda module, text: check_orders(module)),
    "branches": Kind(branch_modules, _branches),
}


def cases() -> st.SearchStrategy[str]:
    return st.one_of(*(kind.drawn() for kind in KINDS.values() for _ in range(kind.often)))


def examine(text: str) -> tuple[str, ...]:
    try:
        module = parse_module(text)
    except InputError:
        if text.startswith(SLIP):
            return ("refused when read",)
        raise
    return KINDS[module.name].examine(module, text)


TARGET = Target("async", "asynchronous operations against walks over their schedules and runs", cases, examine, ".hlo")
