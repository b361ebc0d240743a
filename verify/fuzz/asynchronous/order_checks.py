"""Target `async`: which instruction can run when, by walking through every order of a small computation."""

from __future__ import annotations

from collections.abc import Collection

from hloproof.claims.asynchronous.orders import Orders
from hloproof.fuzz.asynchronous.simulation import Step, moments, waits_of
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Computation, Module


def check_orders(module: Module) -> tuple[str, ...]:
    """Raises Failure where what is said of the orders is not what all of them show; a schedule is the only order."""
    steps = [Step(i.name, waits_of(i)) for i in module.entry.instructions]
    _check(module.entry, False, steps)
    _check(module.entry, True, [Step(s.name, frozenset(x.name for x in steps[:n])) for n, s in enumerate(steps)])
    return ("orders",)


def _same(what: str, found: object, expected: object, where: object) -> None:
    if found != expected:
        raise Failure(f"async: orders: {what}", f"{where}: {found}, by all orders {expected}")


def _check(computation: Computation, scheduled: bool, steps: list[Step]) -> None:
    told = Orders(computation, scheduled)
    names, waits = [s.name for s in steps], {s.name: s.waits for s in steps}
    before: dict[str, list[frozenset[str]]] = {}
    for done, step in moments(steps):
        before.setdefault(step.name, []).append(done)
    first = {(a, b) for a in names for b in names if all(a in done for done in before[b])}
    for a in names:
        for b in names:
            _same("what runs first", told.must_precede(a, b), (a, b) in first, (a, b))
    for opening in (None, *names):
        later = [n for n in names if opening is None or (opening, n) in first]
        ends: list[tuple[str, ...]] = [(), *((n,) for n in later)]
        ends += [(a, b) for a in later[:4] for b in later[-4:] if a != b]
        for name in names:
            for closings in ends:
                where = (opening, name, closings)
                found = any(_inside(done, name, opening, closings) for done in before[name])
                _same("what can run between", told.between(opening, name, closings), found, where)
                if found:
                    shown = told.witness(opening, name)
                    ran = [frozenset(shown[:n]) for n in range(len(shown))]
                    possible = sorted(shown) == sorted(names) and all(waits[n] <= ran[k] for k, n in enumerate(shown))
                    _same("the order shown is one", possible, True, (where, shown))
                    _same(
                        "it has it between",
                        _inside(ran[shown.index(name)], name, opening, closings),
                        True,
                        (where, shown),
                    )


def _inside(done: Collection[str], name: str, opening: str | None, closings: tuple[str, ...]) -> bool:
    """Whether an instruction that runs next, when these are done, runs between."""
    return (opening is None or opening in done) and (not closings or any(end not in (*done, name) for end in closings))
