"""Target `async`: values and alias classes of a module against the reading instruction by instruction."""

from __future__ import annotations

from itertools import islice, product

from hloproof.fuzz.asynchronous.reading import Reading, Spot
from hloproof.fuzz.target import Failure
from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.async_chain import AsyncChains
from hloproof.models.dataflow.value_flow import HloPosition
from hloproof.models.hlo.module import Module

MOST_PAIRS = 400
"""So many pairs of places are asked about one by one; the classes are compared whole."""


def spot_of(place: HloPosition) -> Spot:
    return (place.computation, place.instruction, place.index)


def place_of(spot: Spot) -> HloPosition:
    return HloPosition(*spot)


def same(what: str, found: object, expected: object, where: object = "") -> None:
    if found != expected:
        raise Failure(f"async: aliases: another {what}", f"{where}: {found}, read off {expected}")


def check_aliases(module: Module) -> tuple[str, ...]:
    """Raises Failure where the code and the reading differ, under every option."""
    plain = Reading(module)
    _values(Buffers(module), plain)
    _classes(Buffers(module, chains=AsyncChains(module)), plain)
    _values(Buffers(module, threads=frozenset({"main"})), Reading(module, main_only=True))
    _values(Buffers(module, bitcast_makes_value=True), Reading(module, new_bitcasts=True))
    opcodes = {i.opcode for c in module.computations for i in c.instructions}
    return ("aliases", *sorted(opcodes - {"parameter", "constant"}))


def _values(code: Buffers, read: Reading) -> None:
    same("list of places", [spot_of(p) for p in code.places], read.spots)
    given: dict[Spot, list[Spot]] = {}
    for a, b in read.pairs:
        given.setdefault(b, []).append(a)
    values, merging, entry = read.values(), read.merges(), read.module.entry
    live = [s for s in read.spots if s[:2] == (entry.name, entry.root_name)]
    for place in code.places:
        s = spot_of(place)
        found = [spot_of(p) for p in code.sources[place]]
        same("source of a value", sorted(found), sorted(given.get(s, [])), place)
        same("answer whether a value is made", code.defined_at(place), s not in given, place)
        same("value", {spot_of(p) for p in code.values[place]}, values[s], place)
        same("answer whether values meet", code.merges(place), s in merging, place)
        same("answer whether a value leaves", code.leaves_module(place), any(s in values[p] for p in live), place)
    for name, starts in read.starts.items():
        for start in starts:
            bound = [(n, spot_of(p)[:2]) for n, p in code.chains.binds(HloPosition(*start[:2]))]
            same("list of bound operands", bound, read.bound(start), name)


def _classes(code: Buffers, read: Reading) -> None:
    same("declaration", [(spot_of(a), spot_of(b), m) for a, b, m in code.declared_by_module()], read.donated())
    for may in (False, True):
        order = {s: n for n, s in enumerate(read.spots)}
        expected = sorted(sorted(order[s] for s in found) for found in read.shared(may))
        found = [[order[spot_of(p)] for p in c.places] for c in code.classes(may)]
        same("partition into buffers", found, expected)
        one = {read.spots[n]: k for k, members in enumerate(expected) for n in members}
        step = max(1, len(read.spots) ** 2 // MOST_PAIRS)
        for a, b in islice(product(read.spots, read.spots), 0, None, step):
            ask = code.may_share if may else code.must_share
            same("answer on a shared buffer", ask(place_of(a), place_of(b)), one[a] == one[b], (a, b))
