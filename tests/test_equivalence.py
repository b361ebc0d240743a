"""Two modules are proved to compute the same, or they are not: pairs, and their wrong neighbours."""

from __future__ import annotations

from importlib import import_module

import pytest

from hloproof.equivalence import Certificate, decide, recheck
from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.results.verdict import Verdict

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"


def module(body: str, functions: str = "") -> Module:
    return parse_module(f"HloModule m\n{functions}ENTRY e {{\n{body}\n}}\n")


SAME = {
    "names": (
        "p = f32[2] parameter(0)\n ROOT r = f32[2] negate(p)",
        "q = f32[2] parameter(0)\n ROOT t = f32[2] negate(q)",
    ),
    "commuted": (
        "p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n ROOT r = f32[2] add(p, q)",
        "p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n ROOT r = f32[2] add(q, p)",
    ),
    "reshapes meet": (
        "p = f32[4,6] parameter(0)\n a = f32[24] reshape(p)\n b = f32[3,8] reshape(a)\n ROOT r = f32[3,8] negate(b)",
        "p = f32[4,6] parameter(0)\n n = f32[4,6] negate(p)\n ROOT b = f32[3,8] reshape(n)",
    ),
    "transposed product": (
        "p = f32[4,6] parameter(0)\n q = f32[6,5] parameter(1)\n"
        " ROOT r = f32[4,5] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "p = f32[4,6] parameter(0)\n q = f32[6,5] parameter(1)\n t = f32[6,4] transpose(p), dimensions={1,0}\n"
        " d = f32[5,4] dot(q, t), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
        " ROOT r = f32[4,5] transpose(d), dimensions={1,0}",
    ),
    "slice of concatenate": (
        "p = f32[4] parameter(0)\n q = f32[6] parameter(1)\n c = f32[10] concatenate(p, q), dimensions={0}\n"
        " ROOT s = f32[6] slice(c), slice={[4:10]}",
        "p = f32[4] parameter(0)\n q = f32[6] parameter(1)\n ROOT s = f32[6] copy(q)",
    ),
    "pad as concatenate": (
        "p = f32[4] parameter(0)\n z = f32[] constant(0)\n ROOT s = f32[6] pad(p, z), padding=2_0",
        "p = f32[4] parameter(0)\n z = f32[] constant(0)\n b = f32[2] broadcast(z), dimensions={}\n"
        " ROOT s = f32[6] concatenate(b, p), dimensions={0}",
    ),
    "select by iota": (
        "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n i = s32[4] iota(), iota_dimension=0\n"
        " two = s32[] constant(2)\n b = s32[4] broadcast(two), dimensions={}\n"
        " c = pred[4] compare(i, b), direction=LT\n"
        " ROOT s = f32[4] select(c, p, q)",
        "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n x = f32[2] slice(p), slice={[0:2]}\n"
        " y = f32[2] slice(q), slice={[2:4]}\n ROOT s = f32[4] concatenate(x, y), dimensions={0}",
    ),
    "start clamped": (
        "p = f32[8] parameter(0)\n i = s32[] constant(7)\n"
        " ROOT s = f32[3] dynamic-slice(p, i), dynamic_slice_sizes={3}",
        "p = f32[8] parameter(0)\n ROOT s = f32[3] slice(p), slice={[5:8]}",
    ),
    "layouts meet in a bitcast": (
        "p = f32[2,3]{1,0} parameter(0)\n ROOT t = f32[3,2]{0,1} transpose(p), dimensions={1,0}",
        "p = f32[2,3]{1,0} parameter(0)\n ROOT t = f32[3,2]{0,1} bitcast(p)",
    ),
}
DIFFERENT = {
    "subtract does not commute": (
        "p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n ROOT r = f32[2] subtract(p, q)",
        "p = f32[2] parameter(0)\n q = f32[2] parameter(1)\n ROOT r = f32[2] subtract(q, p)",
    ),
    "a slice that starts one too far": (
        "p = f32[8] parameter(0)\n ROOT s = f32[3] slice(p), slice={[2:5]}",
        "p = f32[8] parameter(0)\n ROOT s = f32[3] slice(p), slice={[3:6]}",
    ),
    "start not clamped": (
        "p = f32[8] parameter(0)\n i = s32[] constant(4)\n"
        " ROOT s = f32[3] dynamic-slice(p, i), dynamic_slice_sizes={3}",
        "p = f32[8] parameter(0)\n ROOT s = f32[3] slice(p), slice={[5:8]}",
    ),
    "bitcast without the layout": (
        "p = f32[2,3]{1,0} parameter(0)\n ROOT t = f32[3,2]{1,0} transpose(p), dimensions={1,0}",
        "p = f32[2,3]{1,0} parameter(0)\n ROOT t = f32[3,2]{1,0} bitcast(p)",
    ),
    "a constant left out": (
        "p = f32[2] parameter(0)\n c = f32[2] constant({...})\n ROOT r = f32[2] add(p, c)",
        "p = f32[2] parameter(0)\n c = f32[2] constant({...})\n ROOT r = f32[2] add(p, c)",
    ),
    "one of two random numbers": (
        "a = f32[] constant(0)\n b = f32[] constant(1)\n x = f32[2] rng(a, b), distribution=rng_uniform\n"
        " y = f32[2] rng(a, b), distribution=rng_uniform\n ROOT r = f32[2] subtract(x, y)",
        "a = f32[] constant(0)\n b = f32[] constant(1)\n x = f32[2] rng(a, b), distribution=rng_uniform\n"
        " ROOT r = f32[2] subtract(x, x)",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_pairs_that_compute_the_same_are_proved_and_the_certificate_is_accepted_again(name: str) -> None:
    before, after = (module(text) for text in SAME[name])
    result = decide(before, after, "exact")
    assert result.verdict is Verdict.PROVED, result
    assert result.certificate is not None
    assert recheck(before, after, result.certificate).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", DIFFERENT)
def test_pairs_that_differ_are_not_proved_in_any_tier(name: str) -> None:
    before, after = (module(text) for text in DIFFERENT[name])
    assert decide(before, after).verdict is Verdict.UNKNOWN


def test_a_search_that_takes_long_looks_aside_once_and_is_ended_or_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is learned aside can end a search, never prove anything."""
    sums = [[f" a{n + 1} = f32[6] add({order.format(n)})\n" for n in range(40)] for order in ("p, a{}", "a{}, p")]
    first, last = "p = f32[6] parameter(0)\n a0 = f32[6] exponential(p)\n", " ROOT r = f32[6] negate(a40)"
    before, after = (module(first + "".join(lines) + last) for lines in sums)
    asked: list[bool] = []

    def look(answer: bool) -> bool:
        asked.append(answer)
        return answer

    door = import_module("hloproof.equivalence.decide")
    monkeypatch.setattr(door, "_SHORT", 1e6)
    assert decide(before, after, look_aside=lambda: look(True)).verdict is Verdict.PROVED and not asked  # it was short
    monkeypatch.setattr(door, "_SHORT", -1.0)
    assert decide(before, after, look_aside=lambda: look(True)).verdict is Verdict.UNKNOWN
    assert decide(before, after, look_aside=lambda: look(False)).verdict is Verdict.PROVED
    assert asked == [True, False]


def test_the_certificate_of_one_pair_proves_no_other() -> None:
    certificates = {}
    for name, texts in SAME.items():
        before, after = (module(text) for text in texts)
        result = decide(before, after, "exact")
        certificates[name] = result.certificate
    for name, texts in DIFFERENT.items():
        for other in certificates.values():
            assert other is not None
            before, after = (module(text) for text in texts)
            assert recheck(before, after, other).verdict is Verdict.UNKNOWN, name


@pytest.mark.parametrize("name", SAME)
def test_a_certificate_that_is_cut_short_or_runs_on_is_not_accepted(name: str) -> None:
    before, after = (module(text) for text in SAME[name])
    certificate = decide(before, after, "exact").certificate
    assert certificate is not None
    steps = certificate.proof
    changed = [steps[:-1]] if steps else []
    changed.append([*steps, ["same"]])
    for proof in changed:
        assert recheck(before, after, Certificate("exact", proof)).verdict is Verdict.UNKNOWN


SUBTRACT = "p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n ROOT r = f32[8] subtract(p, q)"
FORGED = {
    "the left side in place of the right one": [
        ["identity", -2, "subtraction"],
        ["identity", 0, "subtraction"],
        ["same"],
    ],
    "a side that is no number": [["identity", None, "subtraction"], ["same"]],
    "a step without a name": [[["same"]]],
    "a step that is no list": [{"0": "same"}],
    "a dimension from the end": [["cut", 0, -1, 1], ["same"], ["same"]],
    "a number that is not whole": [["identity", 0.0, "subtraction"], ["same"]],
}


@pytest.mark.parametrize("steps", FORGED.values(), ids=FORGED)
def test_a_forged_certificate_is_not_accepted(steps: list[object]) -> None:
    before, after = module(SUBTRACT), module(SUBTRACT.replace("subtract", "multiply"))
    assert recheck(before, after, Certificate("exact", steps)).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("side", "verdict"), [(0, Verdict.PROVED), (-2, Verdict.UNKNOWN)])
def test_a_side_is_counted_from_the_left(side: int, verdict: Verdict) -> None:
    added = "n = f32[8] negate(q)\n ROOT r = f32[8] add(p, n)"
    after = module(SUBTRACT.replace("ROOT r = f32[8] subtract(p, q)", added))
    proof = [["identity", side, "subtraction"], ["arguments"], ["same"], ["arguments"], ["same"]]
    assert recheck(module(SUBTRACT), after, Certificate("exact", proof)).verdict is verdict


def test_a_reduction_is_matched_over_reshaped_coordinates() -> None:
    before = module(
        "p = f32[4,6] parameter(0)\n z = f32[] constant(0)\n"
        " ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=add",
        ADD,
    )
    after = module(
        "p = f32[4,6] parameter(0)\n z = f32[] constant(0)\n f = f32[24] reshape(p)\n"
        " ROOT r = f32[] reduce(f, z), dimensions={0}, to_apply=add",
        ADD,
    )
    assert decide(before, after, "exact").verdict is Verdict.PROVED


def test_other_parameters_are_an_error() -> None:
    one = module("p = f32[2] parameter(0)\n ROOT r = f32[2] negate(p)")
    other = module("p = f32[3] parameter(0)\n s = f32[2] slice(p), slice={[0:2]}\n ROOT r = f32[2] negate(s)")
    with pytest.raises(InputError, match=r"parameter 0 is f32\[3\]"):
        decide(one, other)


@pytest.mark.parametrize("error", [AssertionError, KeyError, TypeError, ZeroDivisionError])
def test_a_slip_of_the_matcher_is_an_error_of_this_tool(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def slips(search: object, goal: object) -> None:
        raise error("planted")

    monkeypatch.setattr(import_module("hloproof.equivalence.matcher"), "strategy", slips)
    before, after = (module(text) for text in SAME["commuted"])
    found = decide(before, after)
    assert found.verdict is Verdict.INTERNAL and f"{error.__name__}: " in found.reason
