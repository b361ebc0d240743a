"""A module that loses a number whatever it is given is told by a run, in whatever form it does so. Beside each stands
the same one with a constant that every type in it holds."""

from __future__ import annotations

import re
from typing import Any

import pytest
from red_pairs import ADD, entry

from hloproof.equivalence import decide
from hloproof.equivalence.answer import Result
from hloproof.equivalence.refuting import lost_numbers
from hloproof.equivalence.refuting.inputs import ZEROS, Choice
from hloproof.equivalence.refuting.lost_numbers import where_constants_are_lost
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


@pytest.mark.parametrize(("size", "seconds"), [(4, -1.0), (5_000_000, 5.0)])
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
