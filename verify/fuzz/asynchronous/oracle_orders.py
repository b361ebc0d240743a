"""Target `async`: which instruction can run when, by writing out every order of a small computation.

Data comes before its use; what a control dependency names may stand later in the text. A scheduled module has the order
of its text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from hloproof.claims.asynchronous.orders import Orders
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.attributes import Word
from hloproof.models.hlo.module import Computation, Module

NAME = "orders"
"""What these modules are called."""


@st.composite
def order_modules(draw: Any) -> str:
    """Up to six instructions besides the parameter."""
    count = draw(st.sampled_from((1, 3, 4, 5, 6)))
    turn = draw(st.permutations(range(count)))
    """When each instruction runs in one order that is possible."""
    lines = []
    for k in range(count):
        earlier = ["p", *(f"v{j}" for j in range(k) if turn[j] < turn[k])]
        operands = draw(st.lists(st.sampled_from(earlier[-3:]), min_size=1, max_size=2))
        # The one right before, often later in the text.
        before = sorted((f"v{j}" for j in range(count) if turn[j] < turn[k]), key=lambda n: -turn[int(n[1:])])[:3]
        after = draw(st.lists(st.sampled_from(before), max_size=min(2, len(before)), unique=True)) if before else []
        control = f", control-predecessors={{{', '.join(after)}}}" if after else ""
        root = "ROOT " if k == count - 1 else ""
        lines.append(f'  {root}v{k} = f32[4] custom-call({", ".join(operands)}), custom_call_target="f"{control}\n')
    return f"HloModule {NAME}\n\nENTRY e {{\n  p = f32[4] parameter(0)\n{''.join(lines)}}}\n"


def all_orders(computation: Computation) -> list[tuple[str, ...]]:
    """Every order in which all that an instruction waits for comes before it."""
    waits: dict[str, set[str]] = {}
    for i in computation.instructions:
        control = i.attributes.get("control-predecessors")
        named = {w.text for w in control if isinstance(w, Word)} if isinstance(control, tuple) else set()
        waits[i.name] = {*i.operands, *named}

    def grown(begun: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if len(begun) == len(waits):
            yield begun
        for name, needed in waits.items():
            if name not in begun and needed <= set(begun):
                yield from grown((*begun, name))

    return list(grown(()))


def check_orders(module: Module) -> tuple[str, ...]:
    """Raises Failure where what is said of the orders is not what all of them show."""
    computation = module.entry
    text = tuple(i.name for i in computation.instructions)
    _check(computation, False, all_orders(computation))
    _check(computation, True, [text])
    return ("orders",)


def _same(what: str, found: object, expected: object, where: object) -> None:
    if found != expected:
        raise Failure(f"async: orders: {what}", f"{where}: {found}, by all orders {expected}")


def _check(computation: Computation, scheduled: bool, orders: list[tuple[str, ...]]) -> None:
    told = Orders(computation, scheduled)
    names = [i.name for i in computation.instructions]
    times = [{name: n for n, name in enumerate(order)} for order in orders]
    first = {(a, b) for a in names for b in names if all(at[a] < at[b] for at in times)}
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
                found = any(_inside(at, opening, name, closings) for at in times)
                _same("what can run between", told.between(opening, name, closings), found, where)
                if found:
                    shown = told.witness(opening, name)
                    _same("the order shown is one", shown in orders, True, (where, shown))
                    at = {n: k for k, n in enumerate(shown)}
                    _same("the order shown has it between", _inside(at, opening, name, closings), True, (where, shown))


def _inside(at: dict[str, int], opening: str | None, name: str, closings: tuple[str, ...]) -> bool:
    if opening is not None and at[name] <= at[opening]:
        return False
    return not closings or any(at[name] < at[end] for end in closings)
