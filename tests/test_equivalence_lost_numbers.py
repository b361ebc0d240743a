"""A module that loses a number whatever it is given is told by a run, in whatever form it does so. Beside each stands
the same one with a constant that every type in it holds."""

from __future__ import annotations

import re
from math import inf, nan
from typing import Any

import pytest
from red_pairs import ADD, entry

from hloproof.equivalence import decide
from hloproof.equivalence.answer import Result
from hloproof.equivalence.refuting import lost_numbers
from hloproof.equivalence.refuting.inputs import ZEROS, Choice
from hloproof.equivalence.refuting.lost_numbers import where_constants_are_lost
from hloproof.equivalence.refuting.watched_numbers import WatchedNumbers
from hloproof.models.hlo.attributes import Attributes
from hloproof.models.hlo.parser import parse_module
from hloproof.queries.certificates import certificate_text, recheck_text
from hloproof.queries.equivalence import Answer, compare

P = "p = f32[4] parameter(0)"
LAST = 'ROOT r = f32[4] custom-call(v), custom_call_target="not_known"'
HALF = (
    "half { a = f32[] parameter(0)\n b = f32[] parameter(1)\n h = f16[] convert(b)\n w = f32[] convert(h)\n"
    " ROOT r = f32[] add(a, w)\n}\n"
)
LESS = (
    "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n h = f16[] convert(a)\n k = f16[] convert(b)\n"
    " ROOT r = pred[] compare(h, k), direction=LT\n}\n"
)
FOUR = (
    "four { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f4e2m1fn[] convert(b)\n"
    " d = f4e2m1fn[] multiply(c, c)\n w = f32[] convert(d)\n ROOT r = f32[] add(a, w)\n}\n"
)
GIVES = "gives { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] constant(C)\n}\n"
SQUARE = "square { a = f32[4] parameter(0)\n ROOT b = f32[4] multiply(a, a)\n}\n"
TURN = (
    "turn { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
    " x = f32[4] get-tuple-element(s), index=1\n o = s32[] constant(1)\n n = s32[] add(i, o)\n"
    " y = f32[4] multiply(x, x)\n ROOT t = (s32[], f32[4]) tuple(n, y)\n}\n"
    "more { s = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n m = s32[] constant(3)\n"
    " ROOT q = pred[] compare(i, m), direction=LT\n}\n"
)
C = ("k0 = f32[] constant(C)", "k = f32[4] broadcast(k0), dimensions={}")
THROUGH = ("h = f16[4] convert(c)", "v = f32[4] convert(h)")
MIXED = (
    "c2 = f32[2] constant({C, 1})",
    "p2 = f32[2] slice(p), slice={[0:2]}",
    "c = f32[4] concatenate(c2, p2), dimensions={0}",
)
EXPONENTS = (
    "m2 = f32[2] constant({C, -1e9})",
    "p2 = f32[2] slice(p), slice={[0:2]}",
    "m = f32[4] concatenate(m2, p2), dimensions={0}",
    "e = f32[4] exponential(m)",
)
DOT = (
    *C,
    "d = f32[] dot(k, k), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "v = f32[4] broadcast(d), dimensions={}",
)


def by(algorithm: str) -> tuple[str, ...]:
    """The product of constants that an algorithm computes."""
    return tuple(
        line.replace("rhs_contracting_dims={0}", f"rhs_contracting_dims={{0}}, algorithm={algorithm}") for line in DOT
    )


FORMS: dict[str, tuple[str, str, str, tuple[str, ...], str]] = {
    # name: what is lost, what is not, where it is lost, instructions, functions
    "a type that holds less": ("1e-9", "2", "h of e", (*MIXED, *THROUGH), ""),
    "a type that holds no more": ("1e6", "2", "h of e", (*MIXED, *THROUGH), ""),
    "a product": ("1e-30", "2", "v of e", (*C, "v = f32[4] multiply(k, k)"), ""),
    "a quotient": (
        "1e-30",
        "2",
        "v of e",
        (*C, "b0 = f32[] constant(1e30)", "b = f32[4] broadcast(b0), dimensions={}", "v = f32[4] divide(k, b)"),
        "",
    ),
    "beside a power of e that is masked": (
        "-69",
        "-2",
        "v of e",
        (
            *EXPONENTS,
            "k0 = f32[] constant(1e-30)",
            "k = f32[4] broadcast(k0), dimensions={}",
            "v = f32[4] multiply(e, k)",
        ),
        "",
    ),
    "a divisor that is a power of e": (
        "-200",
        "-2",
        "v of e",
        (*C, "e = f32[4] exponential(k)", "v = f32[4] divide(p, e)"),
        "",
    ),
    "in a function of a fold": (
        "1e-9",
        "2",
        "s of e",
        (
            *C,
            "z = f32[] constant(0)",
            "s = f32[] reduce(k, z), dimensions={0}, to_apply=half",
            "v = f32[4] broadcast(s), dimensions={}",
        ),
        HALF,
    ),
    "in a comparator": ("1e-9", "2", "v of e", (*C, "v = f32[4] sort(k), dimensions={0}, to_apply=less"), LESS),
    "what a function gives": (
        "1e-30",
        "2",
        "v of e",
        (
            "z = f32[] constant(0)",
            "q = f32[4,4] broadcast(p), dimensions={0}",
            "k = f32[4] reduce(q, z), dimensions={1}, to_apply=gives",
            "v = f32[4] multiply(k, k)",
        ),
        GIVES,
    ),
    "a part of a complex number": (
        "1e-9",
        "2",
        "h of e",
        (*C, "j = c64[4] complex(p, k)", "c = f32[4] imag(j)", *THROUGH),
        "",
    ),
    "beyond the largest number, in a function": (
        "3",
        "2",
        "s of e",
        (
            *C,
            "z = f32[] constant(0)",
            "s = f32[] reduce(k, z), dimensions={0}, to_apply=four",
            "v = f32[4] broadcast(s), dimensions={}",
        ),
        FOUR,
    ),
    "beside what zeros make no number": (
        "1e-9",
        "2",
        "h of e",
        (*C, "a = f32[4] abs(p)", "l = f32[4] log(a)", "y = f32[4] subtract(l, l)", "c = f32[4] add(y, k)", *THROUGH),
        "",
    ),
    "beside a quotient of itself": (
        "1e-9",
        "2",
        "h of e",
        (*C, "u = f32[4] divide(p, p)", "c = f32[4] multiply(u, k)", *THROUGH),
        "",
    ),
    "a whole number beside what zeros make no number": (
        "1e20",
        "2",
        "i of e",
        (*C, "u = f32[4] divide(p, p)", "c = f32[4] multiply(u, k)", "i = s32[4] convert(c)", "v = f32[4] convert(i)"),
        "",
    ),
    "a product beside what zeros make no number": (
        "1e-30",
        "2",
        "d of e",
        (
            *C,
            "u = f32[4] divide(p, p)",
            "c = f32[4] multiply(u, k)",
            "d = f32[] dot(c, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            "v = f32[4] broadcast(d), dimensions={}",
        ),
        "",
    ),
    "the digits of a power": (
        "0.0035",
        "2",
        "w of e",
        (
            *C,
            "b = f16[4] convert(k)",
            "t = f16[4] constant({3, 3, 3, 3})",
            "w = f16[4] power(b, t)",
            "v = f32[4] convert(w)",
        ),
        "",
    ),
    "the factors of a contraction, by its algorithm": ("1e-9", "2", "d of e", by("dot_f16_f16_f32"), ""),
    "a factor of a contraction alone, by its algorithm": (
        "1e6",
        "2",
        "d of e",
        (
            *(line.replace("dot(k, k)", "dot(k, m)") for line in by("dot_f16_f16_f32")[:2]),
            "m = f32[4] constant({1e-3, 1e-3, 1e-3, 1e-3})",
            *(line.replace("dot(k, k)", "dot(k, m)") for line in by("dot_f16_f16_f32")[2:]),
        ),
        "",
    ),
    "the sum of a contraction, by its algorithm": ("200", "2", "d of e", by("dot_f16_f16_f16"), ""),
    "factors of a few bits, by an algorithm": ("1e-9", "2", "d of e", by("dot_any_f8_any_f8_f32"), ""),
    "products in f32, by an algorithm": ("1e-30", "1e-9", "d of e", by("dot_tf32_tf32_f32_x3"), ""),
    "a size": (
        "1e-9",
        "2",
        "h of e",
        (
            *C,
            "s = s32[] get-dimension-size(p), dimensions={0}",
            "f = f32[] convert(s)",
            "g = f32[4] broadcast(f), dimensions={}",
            "c = f32[4] multiply(g, k)",
            *THROUGH,
        ),
        "",
    ),
    "a constant as it is written": ("1e-40", "2", "k0 of e", (*C, "v = f32[4] multiply(p, k)"), ""),
    "a sum of products": ("1e-30", "2", "d of e", DOT, ""),
    "a sum of products that is too large": ("1e30", "2", "d of e", DOT, ""),
    "a logistic function": ("-200", "-2", "v of e", (*C, "v = f32[4] logistic(k)"), ""),
    "all but a few digits": ("1e-6", "2", "h of e", (*MIXED, *THROUGH), ""),
    "a whole number": ("1e20", "2", "i of e", (*C, "i = s32[4] convert(k)", "v = f32[4] convert(i)"), ""),
    "a type whose numbers end": (
        "11.9",
        "2",
        "h of e",
        (*C, "h = f4e2m1fn[4] convert(k)", "v = f32[4] convert(h)"),
        "",
    ),
    "a called function": ("1e-30", "2", "b of square", (*C, "v = f32[4] call(k), to_apply=square"), SQUARE),
    "in flight": (
        "1e-30",
        "2",
        "multiply of s.async",
        (*C, "s = ((f32[4], f32[4]), f32[4]) multiply-start(k, k)", "v = f32[4] multiply-done(s)"),
        "",
    ),
    "the turns of a loop": (
        "1e-12",
        "2",
        "y of turn",
        (
            *C,
            "z = s32[] constant(0)",
            "t = (s32[], f32[4]) tuple(z, k)",
            "w = (s32[], f32[4]) while(t), condition=more, body=turn",
            "v = f32[4] get-tuple-element(w), index=1",
        ),
        TURN,
    ),
    "behind what is not known": (
        "1e-30",
        "2",
        "v of e",
        (
            *C,
            'u = f32[4] custom-call(p), custom_call_target="first"',
            "w = f32[4] add(u, k)",
            "v = f32[4] multiply(k, k)",
        ),
        "",
    ),
    "where an input says": (
        "1e-9",
        "2",
        "h of e",
        (
            "n = s32[] convert(p0)",
            "c2 = f32[2] constant({C, C})",
            "c = f32[4] dynamic-update-slice(p, c2, n)",
            *THROUGH,
        ),
        "",
    ),
    "a complex number": (
        "1e-90",
        "2",
        "h of e",
        ("k = c128[4] constant({(C,1), (C,1), (C,1), (C,1)})", "h = c64[4] convert(k)", "v = f32[4] real(h)"),
        "",
    ),
}


def module(name: str, constant: str) -> str:
    _, _, _, lines, functions = FORMS[name]
    given = (P, "p1 = f32[1] slice(p), slice={[0:1]}", "p0 = f32[] reshape(p1)")
    return re.sub(r"\bC\b", constant, entry(*given, *lines, LAST, before=functions))


@pytest.mark.parametrize("kind", ["f4e2m1fn", "f8e8m0fnu", "f8e4m3fn", "f16", "f64"])
def test_what_is_given_is_no_constant(kind: str) -> None:
    """Nor is what it was chosen as, which the type may not hold."""
    text = entry(f"p = {kind}[4] parameter(0)", f"ROOT r = {kind}[4] copy(p)")
    assert where_constants_are_lost(parse_module(text), 5.0) == ""


@pytest.mark.parametrize("constant", ["1e-30", "2"])
def test_what_several_devices_gather_is_told(constant: str) -> None:
    lines = (
        *C,
        "g = f32[8] all-gather(k), replica_groups={{0,1}}, dimensions={0}",
        "v = f32[8] multiply(g, g)",
        'ROOT r = f32[8] custom-call(v), custom_call_target="not_known"',
    )
    text = re.sub(r"\bC\b", constant, entry(P, *lines)).replace("HloModule m", "HloModule m, replica_count=2", 1)
    told = where_constants_are_lost(parse_module(text), 5.0)
    assert ("multiply gives 0" in told) is (constant == "1e-30") and (told == "") is (constant == "2")


@pytest.mark.parametrize("name", FORMS)
def test_what_is_lost_whatever_is_given_is_told(name: str) -> None:
    wrong, right, where, *_ = FORMS[name]
    told = where_constants_are_lost(parse_module(module(name, wrong)), 5.0)
    assert told.endswith(f"at {where}, whatever the module is given")
    assert where_constants_are_lost(parse_module(module(name, right)), 5.0) == ""


@pytest.mark.parametrize(
    "lines",
    [
        (
            "s = f32[4] tanh(p)",
            "k0 = f32[] constant(1e-30)",
            "k = f32[4] broadcast(k0), dimensions={}",
            "l = f32[4] multiply(s, k)",
            "v = f32[4] multiply(l, k)",
        ),
        ("v = f32[4] divide(p, p)",),
        ("o = f32[4] constant({1, 1, 1, 1})", "i = f32[4] constant({inf, inf, inf, inf})", "v = f32[4] divide(o, i)"),
        ("v = f32[4] log(p)",),
        ("v = f32[4] subtract(p, p)",),
        ("k0 = f32[] constant(-1e9)", "k = f32[4] broadcast(k0), dimensions={}", "v = f32[4] exponential(k)"),
        (
            "k0 = f32[] constant(-inf)",
            "k = f32[4] broadcast(k0), dimensions={}",
            "l = f32[4] add(p, k)",
            "v = f32[4] subtract(l, k)",
        ),
        (
            "k0 = f32[] constant(1)",
            "k = f32[4] broadcast(k0), dimensions={}",
            "l = f32[4] log(k)",
            "v = f32[4] cosine(l)",
        ),
        ("k0 = f32[] constant(1e-7)", "k = f32[4] broadcast(k0), dimensions={}", "v = f32[4] floor(k)"),
    ],
)
def test_what_inputs_make_small_and_what_is_zero_over_real_numbers_is_not_lost(lines: tuple[str, ...]) -> None:
    assert where_constants_are_lost(parse_module(entry(P, *lines, LAST)), 5.0) == ""


def product(constant: str, size: int) -> str:
    given = (f"p = f32[{size}] parameter(0)", f"k0 = f32[] constant({constant})")
    lines = (f"k = f32[{size}] broadcast(k0), dimensions={{}}", f"v = f32[{size}] multiply(k, k)")
    return entry(*given, *lines, f"ROOT r = f32[{size}] multiply(p, v)")


@pytest.mark.parametrize("size", [4, 1_000_000])
def test_arrays_of_any_size_are_run(size: int) -> None:
    assert "multiply gives 0 of 1" in where_constants_are_lost(parse_module(product("1e-30", size)), 5.0)
    assert where_constants_are_lost(parse_module(product("2", size)), 5.0) == ""


def test_a_run_that_is_cut_off_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation of it may not have come to where it loses something."""
    whole = lost_numbers._problem

    def cut_off(machine: lost_numbers._Watched, choice: Choice, *rest: Any) -> str:
        if choice is ZEROS:
            return whole(machine, choice, *rest)
        machine.seen.update(("e", name) for name in ("p", "k0", "k", "v", "r"))
        return "cut off"

    monkeypatch.setattr(lost_numbers, "_problem", cut_off)
    assert "multiply gives 0 of 1" in where_constants_are_lost(parse_module(product("1e-30", 4)), 5.0)
    assert where_constants_are_lost(parse_module(product("2", 4)), 5.0) == ""


@pytest.mark.parametrize(("size", "seconds"), [(4, -1.0), (5_000_000, 1.0)])
def test_without_a_run_it_is_not_known(size: int, seconds: float) -> None:
    for constant in ("1e-30", "2"):
        told = where_constants_are_lost(parse_module(product(constant, size)), seconds)
        assert told.startswith("no run shows that it loses no constant: ")


def test_a_proof_over_real_numbers_does_not_stand_where_a_constant_is_lost() -> None:
    """Of what a function of a fold is applied to, the prover knows nothing."""
    given = (P, "z = f32[] constant(0)", "k = f32[4] constant({C, C, C, C})")
    lines = (
        *given,
        "s = f32[] reduce(k, z), dimensions={0}, to_apply=F",
        "v = f32[4] broadcast(s), dimensions={}",
        LAST,
    )
    text = entry(*lines, before=ADD + HALF)
    for constant, verdict in (("1e-9", "unknown"), ("2", "proved")):
        here = re.sub(r"\bC\b", constant, text)
        texts = [here.replace("to_apply=F", f"to_apply={name}") for name in ("add", "half")]
        before, after = map(parse_module, texts)
        result = decide(before, after, "rounding", 5.0)
        assert result.verdict == "proved" and result.certificate is not None
        rechecked = recheck_text(certificate_text(texts[0], texts[1], result.certificate), "c.json")
        answers: list[Answer | Result] = [compare(before, after), compare(after, before), rechecked]
        assert {str(a.verdict) for a in answers} == {verdict}
        if verdict == "unknown":
            where = ("after", "before", "after")
            assert all(f"of the module {m}: convert gives 0" in a.reason for m, a in zip(where, answers, strict=True))
        assert compare(before, before, "rounding").verdict == "proved"


ZERO_AT_ZERO = ("asin asinh atan atanh erf exponential-minus-one log-plus-one sine tan tanh").split()
"""And near it as small as what they are given."""
FEW = 2.0**-20
"""f16 holds it, with one digit."""
OPERATIONS: list[tuple[str, str, str, tuple[Any, ...], bool]] = [
    # opcode, types of the operands, type of the result, what is given, whether a number is lost
    *((opcode, "f32", "f32", (given,), given != 0) for opcode in ZERO_AT_ZERO for given in (1e-40, 0.0)),
    *((opcode, "f32", "f32", (0.5,), False) for opcode in ZERO_AT_ZERO),
    ("exponential", "f32", "f32", (-200.0,), False),
    ("exponential", "f32", "f32", (200.0,), True),
    ("exponential", "f32", "f32", (inf,), False),
    ("log", "f32", "f32", (1.0,), False),
    ("log", "f32", "f32", (0.0,), True),
    ("floor", "f32", "f32", (1e-7,), False),
    ("logistic", "f32", "f32", (-200.0,), True),
    ("logistic", "f32", "f32", (-20.0,), False),
    ("power", "f32 f32", "f32", (1e-30, 2.0), True),
    ("power", "f16 f16", "f16", (2.0, -100.0), True),
    ("power", "f32 f32", "f32", (1e30, 2.0), True),
    ("power", "f32 f32", "f32", (0.0, 2.0), False),
    ("power", "f32 f32", "f32", (3.0, 2.0), False),
    ("add", "f32 f32", "f32", (1e-30, -1e-30), False),
    ("add", "f32 f32", "f32", (3e38, 3e38), True),
    ("maximum", "f32 f32", "f32", (1e-40, 0.0), False),
    *(("multiply", f"{k} {k}", k, (x, x), True) for k, x in (("f64", 1e-160), ("f32", 1e-20), ("bf16", 2.0**-65))),
    *(("multiply", f"{k} {k}", k, (x, 0.0), False) for k, x in (("f64", 1e-160), ("f32", 1e-20), ("f16", 1.0))),
    ("multiply", "f32 f32", "f32", (1e20, 1e20), True),
    ("multiply", "f32 f32", "f32", (inf, 0.0), False),
    ("multiply", "f16 f16", "f16", (2.0**-10, 2.0**-10), False),
    ("multiply", "f16 f16", "f16", (1.5 * 2.0**-12, 1.25 * 2.0**-12), True),
    ("multiply", "c64 c64", "c64", (1e-30 + 0j, 1e-30 + 0j), True),
    ("multiply", "c64 c64", "c64", (1e-3 + 0j, 1e-3 + 0j), False),
    ("divide", "f32 f32", "f32", (1e-30, 1e30), True),
    ("divide", "f32 f32", "f32", (1e30, 1e-30), True),
    ("divide", "f32 f32", "f32", (1.0, 0.0), True),
    ("divide", "f32 f32", "f32", (0.0, 1e30), False),
    ("divide", "f32 f32", "f32", (1.0, inf), False),
    ("divide", "f32 f32", "f32", (1.0, 1e30), False),
    ("divide", "f16 f16", "f16", (1.5 * 2.0**-10, 1000.0), True),
    ("divide", "f16 f16", "f16", (2.0**-10, 1024.0), False),
    *((o, "f4e2m1fn f4e2m1fn", "f4e2m1fn", (4.0, x), True) for o, x in (("add", 3), ("subtract", -3), ("multiply", 2))),
    *((o, "f4e2m1fn f4e2m1fn", "f4e2m1fn", (4.0, x), False) for o, x in (("add", 2), ("subtract", -2), ("divide", 2))),
    ("divide", "f4e2m1fn f4e2m1fn", "f4e2m1fn", (4.0, 0.5), True),
    ("divide", "f4e2m1fn f4e2m1fn", "f4e2m1fn", (0.0, 0.0), True),
    ("add", "f16 f16", "f16", (1.5 * FEW / 16, 0.0), False),
    ("subtract", "f32 f32", "f32", (1e-38, 0.9e-38), False),
    ("convert", "f32", "f16", (2.0**-15 * (1 + 2.0**-10),), True),
    ("convert", "f32", "f16", (2.0**-15 * (1 + 2.0**-12),), False),
    ("power", "f16 f16", "f16", (0.0035, 3.0), True),
    ("power", "f16 f16", "f16", (2.0**-10, 2.0), False),
    ("power", "f64 f64", "f64", (1e-160, 3.0), True),
    ("exponential", "f16", "f16", (-16.4,), True),
    ("exponential", "f16", "f16", (-20.0,), False),
    ("exponential", "f32", "f32", (-88.0,), False),
    ("exponential", "c64", "c64", (complex(-200, 1),), False),
    ("logistic", "f64", "f64", (-800.0,), True),
    ("atan2", "f32 f32", "f32", (1e-40, 1.0), True),
    ("atan2", "f32 f32", "f32", (0.0, 1.0), False),
    ("cosine", "f16", "f16", (1.5703125,), False),
    ("negate", "f16", "f16", (FEW,), False),
    ("complex", "f32 f32", "c64", (1e-40, 1.0), True),
    ("complex", "f32 f32", "c64", (1.0, 0.0), False),
    ("multiply", "c64 c64", "c64", (complex(1e-30, 1), complex(1e-30, 0)), True),
    ("multiply", "c128 c128", "c128", (1e-200 + 0j, 1e-200 + 0j), True),
    ("convert", "f32", "f16", (1e-9,), True),
    ("convert", "f32", "f16", (1e6,), True),
    ("convert", "f32", "f16", (inf,), False),
    ("convert", "f32", "f16", (FEW,), False),
    ("convert", "f32", "f16", (1.5 * FEW / 16,), True),
    ("convert", "f32", "f16", (1.0 / 3.0,), False),
    ("convert", "f32", "f16", (0.0,), False),
    ("convert", "f64", "f32", (1e-40,), True),
    ("convert", "f32", "bf16", (2.0**-127,), True),
    ("convert", "f32", "f8e4m3fn", (0.003,), True),
    ("convert", "f32", "f8e4m3fn", (2.0**-9,), False),
    ("convert", "f32", "f8e4m3fn", (2.0**-7 * 1.02,), False),
    ("convert", "f32", "f8e4m3fn", (2.0**-7 * 1.1,), True),
    ("convert", "s32", "f32", (3,), False),
    ("convert", "f32", "f4e2m1fn", (6.9,), True),
    ("convert", "f32", "f4e2m1fn", (-6.9,), True),
    ("convert", "f32", "f4e2m1fn", (6.75,), True),
    ("convert", "f32", "f4e2m1fn", (6.5,), False),
    ("divide", "f64 f64", "f64", (1e-200, 1e200), True),
    ("convert", "f32", "f4e2m1fn", (-inf,), False),
    ("convert", "s32", "f4e2m1fn", (100,), True),
    ("convert", "f32", "s32", (1e20,), True),
    ("convert", "f32", "s32", (-2147483648.0,), False),
    ("convert", "f32", "s32", (2147483648.0,), True),
    ("convert", "f32", "s32", (-2147483904.0,), True),
    ("convert", "f32", "u8", (255.5,), False),
    ("convert", "f32", "u8", (256.0,), True),
    ("convert", "f32", "u8", (-0.5,), False),
    ("convert", "f32", "u8", (-1.0,), True),
    ("convert", "f32", "s32", (inf,), False),
    ("convert", "c128", "c64", (complex(1e-90, 1),), True),
    ("convert", "c128", "c64", (complex(1, 1e-90),), True),
    ("convert", "c128", "c64", (complex(0, 1),), False),
    ("convert", "f64", "c64", (1e-90,), True),
    ("convert", "f64", "c64", (0.5,), False),
]


@pytest.mark.parametrize(("opcode", "operands", "result", "given", "lost"), OPERATIONS)
def test_an_operation_loses_what_its_type_has_no_number_for(
    opcode: str, operands: str, result: str, given: tuple[Any, ...], lost: bool
) -> None:
    watching = WatchedNumbers()
    watching.function(opcode, operands.split(), result, Attributes())(*given)
    assert bool(watching.lost) is lost


@pytest.mark.parametrize(
    ("given", "lost"), [(1e-20, True), (1e10, True), (1e-7, True), (1e-4, False), (0.0, False), (0.3, False)]
)
def test_a_precision_that_is_made_less_loses_what_it_has_no_number_for(given: float, lost: bool) -> None:
    half = parse_module(entry(P, "ROOT r = f32[4] reduce-precision(p), exponent_bits=5, mantissa_bits=10")).entry.root
    watching = WatchedNumbers()
    watching.function("reduce-precision", ["f32"], "f32", half.attributes)(given)
    assert bool(watching.lost) is lost


@pytest.mark.parametrize(
    ("kind", "value", "lost"),
    [
        ("f32", 1e-40, True),
        ("bf16", 1e-40, True),
        ("f64", 1e-310, True),
        ("f16", 1e-9, True),
        ("f16", 1e6, True),
        ("f16", 1.5 * FEW / 16, True),
        ("f16", FEW, False),
        ("f16", 0.1, False),
        ("f32", 0.0, False),
        ("f32", inf, False),
        ("f32", nan, False),
        ("s32", 7, False),
        ("f4e2m1fn", 7.0, True),
        ("f4e2m1fn", 6.5, False),
        ("c64", complex(1e-90, 1), True),
        ("c64", complex(1, 1e-90), True),
        ("c64", complex(1e90, 1), True),
        ("c64", 1j, False),
        ("c64", 0.5, False),
        ("c64", 1e-90, True),
    ],
)
def test_a_constant_is_lost_that_its_type_has_no_number_for(kind: str, value: Any, lost: bool) -> None:
    watching = WatchedNumbers()
    watching.constant(kind, value)
    assert not watching.lost
    watching.site = ("e", "k")
    watching.constant(kind, value)
    assert bool(watching.lost) is lost


@pytest.mark.parametrize(
    ("kind", "left", "right", "lost"),
    [
        ("f32", [1e-30], [1e-30], True),
        ("f32", [1e-30, 1.0], [1e-30, 1.0], False),
        ("f32", [1.0, -1.0], [1.0, 1.0], False),
        ("f32", [0.0, 1e-30], [1.0, 0.0], False),
        ("f32", [0.0, 1e-30], [1.0, 1e-30], True),
        ("f16", [2.0**-10, 2.0**-11], [2.0**-16, 2.0**-16], True),
        ("f64", [1e-30], [1e-30], False),
        ("f64", [1e-200], [1e-200], True),
        ("f32", [2e-19, 2e-19], [1e-19, -0.99e-19], False),
        ("f32", [1.3e-19, 1.1e-19], [1e-19, -1e-19], False),
        ("f32", [1e-30, -1e-30], [1e-30, 1e-30], False),
        ("f32", [1e-30, -1e-30], [inf, 1e-30], False),
        ("f16", [1e-4], [1e-4], True),
        ("f16", [2.0**-10], [2.0**-10], False),
        ("f4e2m1fn", [3.0], [3.0], True),
        ("f4e2m1fn", [2.0], [3.0], False),
        ("f32", [1e30], [1e30], True),
        ("f32", [inf], [1.0], False),
        ("f32", [1.0], [inf], False),
        ("c64", [1e-30 + 0j], [1e-30 + 0j], True),
        ("c64", [1e30 + 0j], [1e30 + 0j], True),
        ("c64", [1 + 1j], [1 + 0j], False),
        ("s32", [3], [4], False),
    ],
)
def test_a_sum_of_products_is_lost_that_its_type_has_no_number_for(
    kind: str, left: list[Any], right: list[Any], lost: bool
) -> None:
    watching = WatchedNumbers()
    watching.sum_of_products(kind, left, right)
    assert bool(watching.lost) is lost


def test_what_is_made_of_no_number_tells_nothing() -> None:
    watching = WatchedNumbers()
    watching.site = ("e", "v")
    convert = watching.function("convert", ["f32"], "f16", Attributes())
    convert(1.0)
    assert not watching.blind
    convert(nan)
    assert watching.blind == {("e", "v")} and not watching.lost


@pytest.mark.parametrize("name", ["beyond the largest number, in a function", "beside what zeros make no number"])
def test_nor_does_one_stand_that_a_run_of_zeros_does_not_deny(name: str) -> None:
    wrong, right, *_ = FORMS[name]
    for constant, verdict in ((wrong, "unknown"), (right, "proved")):
        text = module(name, constant).replace(LAST, "ROOT r = f32[4] add(p, v)")
        plain = re.sub(r"(\w+) = f16\[4\] convert\(c\)", r"\1 = f32[4] copy(c)", text)
        plain = plain.replace("f4e2m1fn", "f32")
        assert plain != text
        for pair in ((text, plain), (plain, text)):
            before, after = map(parse_module, pair)
            assert str(compare(before, after, "rounding").verdict) == verdict


def grouped(positions: int, first: str, kernel: str) -> str:
    """A convolution in groups, which is run element by element only."""
    return entry(
        f"p = f32[1,{positions},64] parameter(0)",
        f"q = f32[1,{positions},64] cosine(p)",
        f"t0 = f32[] constant({first})",
        f"t = f32[1,{positions},64] broadcast(t0), dimensions={{}}",
        f"a = f32[1,{positions},64] multiply(q, t)",
        f"k0 = f32[] constant({kernel})",
        "k = f32[3,32,64] broadcast(k0), dimensions={}",
        f"ROOT d = f32[1,{positions - 2},64] convolution(a, k), window={{size=3}}, dim_labels=b0f_0io->b0f, "
        "feature_group_count=2",
    )


@pytest.mark.parametrize("positions", [4, 14])
def test_what_can_be_run_is_not_made_up(positions: int) -> None:
    """By classes of elements it cannot, and it is large."""
    told = where_constants_are_lost(parse_module(grouped(positions, "1e-20", "1e-25")), 20.0)
    assert told.endswith("at d of e, whatever the module is given") and "a sum of products is" in told
    assert where_constants_are_lost(parse_module(grouped(positions, "4", "0.5")), 20.0) == ""


GEMM = (
    '{"gemm_backend_config":{"alpha_real":1,"alpha_imag":0,"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":'
    '["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]},"precision_config":'
    '{"operand_precision":["DEFAULT","DEFAULT"]},"epilogue":"DEFAULT"}}'
)


@pytest.mark.parametrize("size", [4, 64])
def test_nor_is_a_product_of_a_library(size: int) -> None:
    shape = f"f32[{size},{size}]"
    for constant, lost in (("1e-22", True), ("2", False)):
        text = entry(
            f"p = {shape} parameter(0)",
            f"q = {shape} cosine(p)",
            f"k0 = f32[] constant({constant})",
            f"k = {shape} broadcast(k0), dimensions={{}}",
            f"a = {shape} multiply(q, k)",
            f'd = {shape} custom-call(a, k), custom_call_target="__cublas$gemm", backend_config={GEMM}',
            f"ROOT r = {shape} add(p, d)",
        )
        assert ("at d of e" in where_constants_are_lost(parse_module(text), 20.0)) is lost


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        (('ROOT r = f32[4] custom-call(p), custom_call_target="anything"',), True),
        (('ROOT r = f32[4] custom-call(p), custom_call_target="Sharding", backend_config="what"',), True),
        (
            (
                "b = s32[] constant(2)",
                "w = f32[<=4] set-dimension-size(p, b), dimensions={0}",
                "ROOT r = f32[<=4] add(v, w)",
            ),
            False,
        ),
        (
            (
                "b = s32[] constant(3)",
                "w = f32[<=4] set-dimension-size(p, b), dimensions={0}",
                "ROOT r = f32[<=4] add(v, w)",
            ),
            True,
        ),
    ],
)
def test_what_has_a_meaning_and_is_not_run_may_lose_anything(lines: tuple[str, ...], runs: bool) -> None:
    given = (P, "a = s32[] constant(3)", "v = f32[<=4] set-dimension-size(p, a), dimensions={0}")
    told = where_constants_are_lost(parse_module(entry(*given, *lines)), 5.0)
    assert (told == "") is runs and (runs or told.startswith("no run shows"))
