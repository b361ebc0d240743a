"""What the simplifier is to see beyond single rules, as a table: results under constraints, and what they become.

Letters a to w stand for constants, drawn from the values listed; each list and each bound may name those before it.
x, y and z are variables of the map, and those that the box lists besides, in the intervals listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.fuzz.letters import filled, number_of
from hloproof.fuzz.maps.rule_instances import Owed
from hloproof.fuzz.maps.spellings import Bounds, all_respelled, map_over, respelled
from hloproof.models.expressions.expr import Expr, Var
from hloproof.models.expressions.interval import Interval


@dataclass(frozen=True, slots=True)
class Law:
    """Parts of a text are separated by semicolons. `given` are constraints; `left` is what becomes of them, the same
    if it is empty."""

    name: str
    constants: str
    box: str
    before: str
    after: str
    given: str = ""
    left: str = ""


_VARIABLES: Final = ("d0", "d1", "s0", "d2", "s1", "s2")
_SUM: Final = "p * x + q * y + r"
_DIGIT: Final = "(1 - t) / 2 * (g - 1) + t * (z - l)"
_WHOLE: Final = f"g * ({_SUM}) + {_DIGIT}"
_OF_DIGITS: Final = "g: 2, 3, 4, 6; m: 2, 3, 5; l: 0, 1, 5, -4; t: 1, -1; p: 1, 2, 3, 5, 7; q: 0, 1, 3, -5; r: 0, 4, -2"
_DIGITS_BOX: Final = "x: 0, 4; y: -1, 2; z: l, l + g - 1"

_SIX: Final = "; ".join(f"{name}: 0, 1" for name in "xyzuvw")
_PAIRS: Final = "; ".join(f"{one} + {other} in [0, 1]" for one, other in islice(combinations("xyzuvw", 2), 11))
"""Eleven constraints, of which those on x, y and z imply one on their sum."""


def _quotients(count: int, after: str = "") -> str:
    """A sum of so many terms, which are rewritten one after the other, each by a rule within the one before."""
    return " + ".join(f"(x * {k}) / 1009{after}" for k in range(200, 200 + count))


LAWS: Final = (
    Law("digits", _OF_DIGITS, _DIGITS_BOX, f"({_WHOLE}) / (g * m)", f"({_SUM}) / m"),
    Law("digits", _OF_DIGITS, _DIGITS_BOX, f"({_WHOLE}) mod (g * m)", f"g * (({_SUM}) mod m) + {_DIGIT}"),
    Law(
        "bounded digits",
        _OF_DIGITS + "; u: 0, 1, 2; v: u, u + 1, u + 4",
        _DIGITS_BOX,
        "z",
        "z",
        f"{_WHOLE} in [g * u, g * v + g - 1]",
        f"{_SUM} in [u, v]",
    ),
    Law(
        "known sum",
        "a: 1, 2; s: 1, -1; k: 1, 2, 3; q: 1, 2, -1, 3",
        "x: 0, 5; y: 0, 4; z: 0, 5",
        "(a * x + s * y + 1) * (z + 2); q * (a * x + s * y) + 3; (2 * (a * x + s * y) + 3 * z) / 3",
        "(z + 2) * (k + 1); 3 + q * k; (3 * z + 2 * k) / 3",
        "a * x + s * y in [k, k]",
    ),
    Law(
        "known remainder",
        "b: 2, 3, 4; k: 0, 1, b - 1; q: 1, 2, -1, 3",
        "x: 0, 7; z: 0, 5",
        "q * b * (x / b) + z; q * (x mod b) + 2 * z",
        "q * x - q * k + z; q * k + 2 * z",
        "x mod b in [k, k]",
    ),
    Law(
        "product",
        "f: 2, 3, -1, -2, 1; h: 2, 1, -1, 4; a: 0, 1, 2, -3; b: 0, 1, 2",
        "x: -1, 2; y: -1, 2",
        "(f * (x + a)) * (h * (y + b * x + 1))",
        "(f * h) * ((y + b * x + 1) * (x + a))",
    ),
    Law("nothing", "", "x: -2, 2", "0 * (x mod 3); (0 * x) mod 3; max(0 * x, 0)", "0; 0; 0"),
    Law(
        "delinearised",
        "a: 2, 3, 4; b: 2, 3, 4; c: 2, 3, 4; q: 1, 2, -1, 3; t: 0, 1, 2",
        "x: 0, 40; y: 0, 2",
        "q * ((x / a) mod b) + q * b * (x / (a * b)) + t * y; q * ((x / a) mod b) + q * b * ((x / (a * b)) mod c);"
        "q * (x / a) - q * b * (x / (a * b)) + t * y",
        "q * (x / a) + t * y; q * ((x / a) mod (b * c)); q * ((x / a) mod b) + t * y",
    ),
    Law(
        "implied",
        "a: 1, 2; b: 1, 2; l: 1, 2; h: l, l + 1; t: 1, 2; c: 1, 2, 3; e: 0, 1",
        "x: 0, 3; y: 0, 3; z: 0, 3",
        "x; z",
        "x; z",
        "a * x + b * y in [l, h]; t * (a * x + b * y) + c * z in [t * l - e, t * h + 3 * c]",
        "a * x + b * y in [l, h]",
    ),
    Law(
        "one bound",
        "b: 4, 5, 7; k: 1, 2, 3",
        "x: 0, 5; y: 0, 3",
        "x; y",
        "x; y",
        "b * x + y in [-20, b * k + 3]",
        "x in [0, k]",
    ),
    Law(
        "three residues",
        "a: 2, 4, 6; b: 3, 5, 9; c: 4, 6, 10; k: 0, 1, 2, 7, 11, 17",
        "x: 0, 20; y: 0, 2",
        "x",
        "x",
        "(x + y) mod a in [k mod a, k mod a]; (x + y) mod b in [k mod b, k mod b]; (x + y) mod c in [k mod c, k mod c]",
    ),
    Law("constant", "k: -2, -1, 0, 1, 2, 3, 4", "", "3", "3", "k in [0, 2]"),
    Law("crowded", "", _SIX, "x", "x", f"x + y + z in [0, 2]; {_PAIRS}", _PAIRS),
    *(
        Law("deep", "b: 2, 3", "x: 0, 20", f"({_quotients(n, ' mod b')}) mod b", f"({_quotients(n)}) mod b")
        for n in (3, 11)
    ),
)


def law_case(w: Writer) -> Owed:
    law: Law = w.one_of(LAWS)
    at: dict[str, Expr] = {}
    for name, values in _listed(law.constants):
        at[name] = filled(w.one_of(values), at)
    box, variables = dict[str, Interval](), _listed(law.box)
    for (name, (low, high)), own in zip(variables, w.shuffled(_VARIABLES[: max(3, len(variables))]), strict=False):
        box[own] = Interval(number_of(low, at), number_of(high, at))
        at[name] = Var(own)
    before, after = ([filled(e, at) for e in side.split(";")] for side in (law.before, law.after))
    given, left = (_bounds(side, at) for side in (law.given, law.left or law.given))
    one = map_over(box, [respelled(w, e) for e in before], all_respelled(w, given))
    return f"becomes {law.name}", (one, map_over(box, after, left))


def _listed(text: str) -> list[tuple[str, list[str]]]:
    entries = [entry.split(":") for entry in text.split(";") if entry]
    return [(name.strip(), values.split(",")) for name, values in entries]


def _bounds(text: str, at: Mapping[str, Expr]) -> Bounds:
    found: Bounds = []
    for e, ends in (part.split(" in ") for part in text.split(";") if part):
        low, high = ends.strip("[] ").split(",")
        found.append((filled(e, at), Interval(number_of(low, at), number_of(high, at))))
    return found
