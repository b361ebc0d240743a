"""Target `async`: what is claimed of asynchronous modules, against walks over their schedules and runs.

Eight kinds of cases, told apart by the name of the module: hazards of operations in flight against every order; chains
against their runs; sends and recvs against every way in which devices can move; values of buffer type followed by hand;
fused updates carried out in place; values and alias classes read off instruction by instruction; what can run when;
branches of conditionals. None of the judges shares code with the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from hloproof.claims.asynchronous import judge
from hloproof.claims.asynchronous.judgement import Judgement
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
from hloproof.fuzz.asynchronous.hazards import ARGUMENTS, Hazards
from hloproof.fuzz.asynchronous.in_place import broken_in_place, in_place_modules
from hloproof.fuzz.asynchronous.order_checks import check_orders
from hloproof.fuzz.asynchronous.simulation import programs
from hloproof.fuzz.asynchronous.slips import SLIPS
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

Key = tuple[str, str]
"""A claim and an instruction, with its computation where names are not unique."""


Answers = tuple[set[Key], set[Key], set[Key]]
"""What is refuted, what is unknown, and everything that is said."""


def key_of(j: Judgement) -> Key:
    return (j.claim, f"{j.place.computation}.{j.place.instruction}")


def judged(module: Module, claims: Collection[str]) -> Answers:
    return found(judge(module, lambda name: name in claims, lambda name: name in claims))


def found(judgements: Iterable[Judgement]) -> Answers:
    refuted, unknown, said = set[Key](), set[Key](), set[Key]()
    for j in judgements:
        key = key_of(j)
        said.add(key)
        if j.problem is not None:
            refuted.add(key)
        elif j.found.verdict is not Verdict.PROVED:
            unknown.add(key)
    return refuted, unknown, said


def compare(what: str, expected: set[Key], answers: Answers, blind: set[Key]) -> None:
    """Raises Failure where a claim is refuted that holds, proved although it does not hold, or not made at all."""
    refuted, unknown, said = answers
    for claim, place in sorted(expected - blind - said):
        raise Failure(f"async: {claim} says nothing of what breaks it ({what})", place)
    for claim, place in sorted(refuted - expected - blind):
        raise Failure(f"async: {claim} is refuted where it holds ({what})", place)
    for claim, place in sorted(expected - blind - refuted - unknown):
        raise Failure(f"async: {claim} is proved where it is broken ({what})", place)


def _covered(expected: set[Key]) -> list[str]:
    return sorted({f"{claim} broken" for claim, _ in expected})


_HAZARDS: Final = ("hazard-operand", "hazard-output", "hazard-overwrite", "hazard-donation")


def _shown(module: Module, alone: bool = False) -> list[Hazards]:
    own, disagreements = programs(module, alone)
    return [Hazards(program, () if alone else disagreements[name]) for name, program in own.items()]


def _flights(module: Module, text: str) -> tuple[str, ...]:
    said = list(judge(module, lambda name: name in _HAZARDS, lambda name: name in _HAZARDS))
    broken, spoiled = set[str](), set[Key]()
    for h in _shown(module, alone=True)[:-1]:  # callees first
        if h.broken and not broken.intersection(name for name, _ in h.program.inside()):
            spoiled |= {(claim, f"{h.computation.name}.{name}") for claim, name in h.broken}
        if h.broken:
            broken.add(h.computation.name)
    if spoiled:
        # What callers make of a body that is broken by itself can be told in many ways.
        compare("bodies", spoiled, found(j for j in said if key_of(j) in spoiled), set())
        return ("bodies", *_covered(spoiled))
    shown = _shown(module)
    expected = {(claim, f"{h.computation.name}.{name}") for h in shown for claim, name in h.broken}
    arguments = [j for j in said if ARGUMENTS.match(j.problem or "")]
    # Of other bodies the same is told inside of them, too.
    rounds = {key_of(j) for j in arguments if expected or _opcode(module, j) == "while"}
    how = "scheduled" if module.attributes.flag("is_scheduled") else "unscheduled"
    compare(f"{how} modules", expected, found(said), rounds)
    for hazards in shown:
        hazards.check(said)
    forms = {h.computation.by_name[f.opening].opcode for h in shown for f in h.program.flights}
    joined = any(h.joined for h in shown)
    return (how, *sorted(forms), *_covered(expected), *(("branches that disagree",) if joined else ()))


def _opcode(module: Module, j: Judgement) -> str:
    return module.by_name[j.place.computation].by_name[j.place.instruction].opcode


_CHAIN_CLAIMS: Final = tuple(sorted({slip.claim for slip in SLIPS.values()}))


def _chains(module: Module, text: str) -> tuple[str, ...]:
    """What is broken is known from how the module was made; where a slip was made, links after it may be so too."""
    said = [line.removeprefix(BREAKS).split() for line in text.splitlines() if line.startswith(BREAKS)]
    expected = {(claim, place) for claim, place in said}
    answers = judged(module, _CHAIN_CLAIMS)
    slip = text.splitlines()[0].removeprefix(SLIP) if text.startswith(SLIP) else ""
    compare("chains", expected, answers, answers[0] - expected if slip else set())
    links = {i.opcode for c in module.computations for i in c.instructions if i.opcode.endswith(_ROLES)}
    return (*sorted(links), *_covered(expected), *filter(None, (slip,)))


_ROLES: Final = ("-start", "-update", "-done")


def _decided(claims: Collection[str], broken: Callable[[Module], set[Key]]) -> Callable[[Module, str], tuple[str, ...]]:
    """An examination of these claims about the entry computation by one oracle."""

    def examined(module: Module, text: str) -> tuple[str, ...]:
        expected = {(claim, f"{module.entry_name}.{name}") for claim, name in broken(module)}
        answers = judged(module, claims)
        # What is unknown of the whole module, told at its root, says nothing of one instruction in it.
        whole = {claim for claim, place in answers[1] if place == f"{module.entry_name}.{module.entry.root_name}"}
        compare(module.name, expected, answers, {key for key in expected - answers[2] if key[0] in whole})
        unknown = {f"{claim} unknown" for claim, _ in answers[1]}
        return (module.name, *_covered(expected), *sorted(unknown))

    return examined


@dataclass(frozen=True, slots=True)
class Kind:
    """Modules of one name: how they are drawn, how often, and how they are examined."""

    drawn: Callable[[], Any]
    examine: Callable[[Module, str], tuple[str, ...]]
    often: int = 1


KINDS: Final[dict[str, Kind]] = {
    "flights": Kind(flight_modules, _flights, 3),
    "chains": Kind(chain_modules, _chains, 3),
    "channels": Kind(channel_modules, _decided(("async-channel", "collective-deadlock"), broken_channels)),
    "buffers": Kind(buffer_modules, _decided(("buffer-alias",), broken_buffers)),
    "in_place": Kind(in_place_modules, _decided(("hazard-in-place",), broken_in_place)),
    "aliases": Kind(alias_modules, lambda module, text: check_aliases(module), 2),
    "orders": Kind(order_modules, lambda module, text: check_orders(module)),
    "branches": Kind(branch_modules, _flights),
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
