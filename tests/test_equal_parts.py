"""Which parts of a computation's parameters always hold one value: by every way in, and by induction over turns."""

from __future__ import annotations

from typing import Final

import pytest

from hloproof.models.dataflow.alias_classes import Buffers
from hloproof.models.dataflow.equal_parts import equal_parts
from hloproof.models.hlo.parser import parse_module

_PAIR: Final = "(f32[4], f32[4])"
_FIRST: Final = f"t = {_PAIR} parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n"
_SECOND: Final = " b = f32[4] get-tuple-element(t), index=1\n"
_TWO: Final = "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
_ENTRY: Final = (
    "x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n k = pred[] parameter(2)\n"
    f" xx = {_PAIR} tuple(x, x)\n xy = {_PAIR} tuple(x, y)\n"
)


def module(entry: str, **functions: str) -> str:
    """Callees first; the entry has x, y, the pairs xx and xy, and a pred k."""
    written = "".join(f"{name} {{\n {body}\n}}\n" for name, body in functions.items())
    return f"HloModule m\n{written}ENTRY e {{\n {_ENTRY} {entry}\n}}\n"


def same(text: str, computation: str) -> bool:
    """Whether the first two parts of the computation's parameters are one."""
    parsed = parse_module(text)
    names = tuple(c.name for c in parsed.computations)
    found = equal_parts(Buffers(parsed), names)
    parameters = {p.parameter_number or 0: p for p in parsed.by_name[computation].parameters}
    both = ((0, (0,)), (0, (1,))) if len(parameters) == 1 else ((0, ()), (1, ()))
    return found.same(computation, *both)


_SUM: Final = _FIRST + _SECOND + " ROOT r = f32[4] add(a, b)"
_PLUS: Final = _TWO + " ROOT r = f32[4] add(p, q)"
_IDENTITY: Final = f"ROOT t = {_PAIR} parameter(0)"
_CHOOSE: Final = "conditional(k, {}, {}), true_computation=f, false_computation=g"


def chosen(one: str, two: str, second: str = "g") -> str:
    choice = _CHOOSE.format(one, two).replace("computation=g", f"computation={second}")
    return module(f"ROOT r = f32[4] {choice}", f=_SUM, g=_SUM)


def handed_through(f: str, g: str, one: str = "xx", two: str = "xx") -> str:
    """What a conditional gives is handed to a call."""
    return module(f"c = {_PAIR} {_CHOOSE.format(one, two)}\n ROOT r = f32[4] call(c), to_apply=h", f=f, g=g, h=_SUM)


def called(*operands: str) -> str:
    calls = [f"c{n} = f32[4] call({given}), to_apply=f" for n, given in enumerate(operands)]
    return module("\n ".join(calls) + "\n ROOT r = f32[4] negate(c0)", f=_PLUS)


def started(given: str) -> str:
    state = "((f32[4], f32[4]), f32[4], u32[])"
    return module(f"s = {state} async-start({given}), calls=f\n ROOT r = f32[4] async-done(s)", f=_PLUS)


def started_with_less(given: str) -> str:
    """The second operand is bound later; a call hands over one value twice."""
    state = "((f32[4]), f32[4], u32[])"
    flies = f"s = {state} async-start({given}), calls=f\n v = {state} async-update(s, y)"
    return module(f"c = f32[4] call(x, x), to_apply=f\n {flies}\n ROOT r = f32[4] async-done(v)", f=_PLUS)


_SWAPPED: Final = _FIRST + _SECOND + f" ROOT r = {_PAIR} tuple(b, a)"
_MOVED: Final = _FIRST + _SECOND + f" ROOT r = {_PAIR} tuple(b, b)"
_MADE: Final = _FIRST + _SECOND + f" c = f32[4] add(a, b)\n ROOT r = {_PAIR} tuple(c, c)"
_MADE_APART: Final = _FIRST + _SECOND + f" c = f32[4] add(a, b)\n d = f32[4] add(a, b)\n ROOT r = {_PAIR} tuple(c, d)"
_TEST: Final = _FIRST + " ROOT l = pred[] constant(true)"


def looped(body: str, first: str = "xx") -> str:
    return module(f"ROOT w = {_PAIR} while({first}), condition=c, body=b", c=_TEST, b=body)


def looped_twice(one: str, two: str) -> str:
    loops = "".join(f"w{n} = {_PAIR} while({first}), condition=c, body=b\n " for n, first in enumerate((one, two)))
    return module(f"{loops}ROOT r = ({_PAIR}, {_PAIR}) tuple(w0, w1)", c=_TEST, b=_SWAPPED)


_THREE: Final = "(f32[4], f32[4], f32[4])"
_DRAWN: Final = (
    f"t = {_THREE} parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n"
    " b = f32[4] get-tuple-element(t), index=1\n c = f32[4] get-tuple-element(t), index=2\n"
)


def shifted(last: str) -> str:
    """Each turn the parts of the state move up by one; two of them are handed to a call. After two turns the last one
    has come to the front."""
    body = _DRAWN + f" v = f32[4] call(a, b), to_apply=f\n ROOT r = {_THREE} tuple(b, c, c)"
    test = f"t = {_THREE} parameter(0)\n ROOT l = pred[] constant(true)"
    start = f"s = {_THREE} tuple(x, x, {last})\n ROOT w = {_THREE} while(s), condition=c, body=b"
    return module(start, f=_PLUS, c=test, b=body)


def of_three(made: str, last: str, **functions: str) -> str:
    """Each turn leaves in front what is made of the parts, and the others as they were."""
    body = _DRAWN + f' k = pred[] custom-call(), custom_call_target="which"\n {made}\n ROOT r = {_THREE} tuple(v, a, c)'
    test = f"t = {_THREE} parameter(0)\n ROOT l = pred[] constant(true)"
    start = f"s = {_THREE} tuple(x, x, {last})\n ROOT w = {_THREE} while(s), condition=more, body=b"
    return module(start, **functions, more=test, b=body)


def picked(one: str, two: str, last: str, f: str = "ROOT p = f32[4] parameter(0)") -> str:
    made = f"v = f32[4] conditional(k, {one}, {two}), true_computation=f, false_computation=g"
    return of_three(made, last, f=f, g="ROOT p = f32[4] parameter(0)")


def turned(one: str, two: str, last: str, body: str = "") -> str:
    made = f"i = {_PAIR} tuple({one}, {two})\n u = {_PAIR} while(i), condition=c, body=d\n"
    made += " v = f32[4] get-tuple-element(u), index=0"
    return of_three(made, last, c=_TEST, d=body or _SWAPPED)


CASES: Final = {
    "a choice among parts that are one": (picked("a", "b", "y"), "b", True),
    "a choice among one part and itself": (picked("a", "a", "y"), "b", True),
    "a choice among parts that are two": (picked("a", "c", "y"), "b", False),
    "a choice among two, the other way round": (picked("c", "a", "y"), "b", False),
    "a choice among parts that are all one": (picked("c", "a", "x"), "b", True),
    "a choice of what is made anew": (
        picked("a", "b", "x", "p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p)"),
        "b",
        False,
    ),
    "a choice of the third alone": (picked("c", "c", "y"), "b", False),
    "exchanged in a loop inside": (turned("a", "b", "y"), "b", True),
    "exchanged in a loop inside, with another": (turned("a", "c", "y"), "b", False),
    "exchanged in a loop inside, another first": (turned("c", "a", "y"), "b", False),
    "exchanged in a loop inside, all of them one": (turned("c", "a", "x"), "b", True),
    "moved up in a loop inside that may not turn": (turned("c", "a", "y", _MOVED), "b", False),
    "moved up in a loop inside, of one value": (turned("a", "b", "y", _MOVED), "b", True),
    "made anew in a loop inside": (turned("a", "b", "y", _MADE), "b", False),
    "a branch is given one value twice": (chosen("xx", "xy"), "f", True),
    "the other is given two": (chosen("xx", "xy"), "g", False),
    "the other way round": (chosen("xy", "xx"), "f", False),
    "the other way round, beside it": (chosen("xy", "xx"), "g", True),
    "a branch named twice, given one value": (chosen("xx", "xx", "f"), "f", True),
    "a branch named twice, given two values at one of its places": (chosen("xx", "xy", "f"), "f", False),
    "at the other of its places": (chosen("xy", "xx", "f"), "f", False),
    "a call with one value": (called("x, x"), "f", True),
    "a call with two": (called("x, y"), "f", False),
    "two calls with one value each": (called("x, x", "y, y"), "f", True),
    "two calls, one of them with two": (called("x, x", "x, y"), "f", False),
    "what starts with one value": (started("x, x"), "f", True),
    "what starts with two": (started("x, y"), "f", False),
    "what starts with one of two": (started_with_less("x"), "f", False),
    "a state that stays": (looped(_IDENTITY), "b", True),
    "a state that is exchanged": (looped(_SWAPPED), "b", True),
    "a state that is exchanged, of two values": (looped(_SWAPPED, "xy"), "b", False),
    "a state of two loops": (looped_twice("xx", "xx"), "b", True),
    "a state of two loops, of two values in the first": (looped_twice("xy", "xx"), "b", False),
    "a state of two loops, of two values in the second": (looped_twice("xx", "xy"), "b", False),
    "a state that is made anew": (looped(_MADE), "b", True),
    "a state that is made anew, seen by the condition": (looped(_MADE), "c", True),
    "a state of two values made one": (looped(_MADE, "xy"), "b", False),
    "a state made of two instructions": (looped(_MADE_APART), "b", False),
    "parts that move up": (shifted("x"), "b", True),
    "parts that move up, another behind them": (shifted("y"), "b", False),
    "what they are handed to": (shifted("x"), "f", True),
    "what they are handed to, after two turns": (shifted("y"), "f", False),
    "a state that is exchanged is not the other one": (
        module(
            f"w = {_PAIR} while(xy), condition=c, body=b\n v = f32[4] get-tuple-element(w), index=0\n"
            " ROOT r = f32[4] call(v, y), to_apply=f",
            f=_PLUS,
            c=_TEST,
            b=_SWAPPED,
        ),
        "f",
        False,
    ),
    "a state that stays is what it was": (
        module(
            f"w = {_PAIR} while(xy), condition=c, body=b\n v = f32[4] get-tuple-element(w), index=1\n"
            " ROOT r = f32[4] call(v, y), to_apply=f",
            f=_PLUS,
            c=_TEST,
            b=_IDENTITY,
        ),
        "f",
        True,
    ),
    "through branches": (handed_through(_IDENTITY, _IDENTITY), "h", True),
    "through branches that exchange": (handed_through(_SWAPPED, _IDENTITY), "h", True),
    "through branches of two values": (handed_through(_IDENTITY, _IDENTITY, "xy", "xy"), "h", False),
    "through one branch of two values": (handed_through(_IDENTITY, _IDENTITY, "xx", "xy"), "h", False),
    "through a branch that makes two": (handed_through(_MADE_APART, _IDENTITY), "h", False),
}


@pytest.mark.parametrize(("text", "computation", "one"), CASES.values(), ids=CASES)
def test_parts_are_one_where_every_way_in_says_so(text: str, computation: str, one: bool) -> None:
    assert same(text, computation) is one


@pytest.mark.parametrize(("second", "one"), [("x", True), ("y", False)])
def test_choices_among_choices_are_followed_once(second: str, one: bool) -> None:
    """Each was followed for each branch: of 20 behind each other it took half a minute."""
    given = "k, {}, {}), true_computation=i, false_computation=i"
    steps = [f"c0 = f32[4] copy(x)\n d0 = f32[4] copy({second})" if second == "y" else "c0 = f32[4] copy(x)"]
    last = "d" if second == "y" else "c"
    for n in range(400):
        steps.append(f"c{n + 1} = f32[4] conditional({given.format(f'c{n}', f'{last}{n}')}")
        steps += [f"d{n + 1} = f32[4] conditional({given.format(f'd{n}', f'c{n}')}"] if second == "y" else []
    text = "\n ".join([*steps, f"ROOT r = f32[4] call(c400, {last}400), to_apply=f"])
    assert same(module(text, i="ROOT p = f32[4] parameter(0)", f=_PLUS), "f") is one


@pytest.mark.parametrize(("given", "one"), [("xx", True), ("xy", False)])
@pytest.mark.parametrize("calls", [3, 90, 120])
def test_what_is_not_told_apart_in_time_is_not_taken_for_one(calls: int, given: str, one: bool) -> None:
    """Each round tells parts apart one call deeper."""
    inner = {f"f{n}": f"t = {_PAIR} parameter(0)\n ROOT r = f32[4] call(t), to_apply=f{n + 1}" for n in range(calls)}
    functions = {f"f{calls}": _SUM, **dict(reversed(inner.items()))}
    assert same(module(f"ROOT r = f32[4] call({given}), to_apply=f0", **functions), f"f{calls}") is one
