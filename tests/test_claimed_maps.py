"""What a map spec says of one operation is judged by what its bodies use, and where only a bound is known not at all.
Each claim that was judged wrongly stands beside its twin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from claimed_in_modules import ADD, EACH, OWN, checked
from spec_texts import check_maps_text

from hloproof.claims.operations import definition
from hloproof.claims.statements import elimination, relation
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Expr
from hloproof.models.expressions.interval import Interval

# --- what is composed --------------------------------------------------------------------------------------------

PARTS = (
    "t = (f32[2]{}) parameter(0)\na = f32[2] get-tuple-element(t), index=0\n"
    "b = f32[2] get-tuple-element(t), index={}\nROOT r = f32[2] add(a, b)"
)
GROUPED = (
    "x = f32[2] parameter(0)\na = f32[2] all-reduce(x), replica_groups={{{{0,1}},{{2,3}}}}, to_apply=add\n"
    "b = f32[2] all-reduce(x), replica_groups={}, to_apply=add\nROOT r = f32[2] add(a, b)"
)
BY_LIBRARY = 'x = f32[2] parameter(0)\na = f32[2] custom-call(x), custom_call_target="f"\nROOT r = f32[2] {}(a)'
ALL = "output-to-input 0 (d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1]"
COMPOSED = [
    (PARTS.format("", 0), OWN, "proved", ""),
    (PARTS.format(", f32[2]", 1), OWN, "unknown", "several arrays of one tuple"),
    (GROUPED.format("{{0,1},{2,3}}"), EACH, "proved", ""),
    (GROUPED.format("{{0,2},{1,3}}"), EACH, "unknown", "group the devices differently"),
    (BY_LIBRARY.format("negate"), ALL, "unknown", "only a bound"),
    # From other numbers of coordinates, or to others.
    ("x = f32[2] parameter(0)\nROOT r = f32[2] all-reduce(x), to_apply=add",
     OWN.replace("(d0) ->", "(d0, d1) ->").replace("[0, 1]", "[0, 1], d1 in [0, 1]"), "refuted", "from 2 to 1"),
    ("x = f32[2] parameter(0)\nROOT r = f32[2] negate(x)", OWN.replace("-> (d0)", "-> (d0, d0)"), "refuted",
     "from 1 to"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "verdict", "why"), COMPOSED)
def test_what_is_composed_is_compared_where_it_is_one_thing(text: str, said: str, verdict: str, why: str) -> None:
    found = checked(text, "follow", said, header="HloModule m, replica_count=4", bodies=ADD).found
    assert found.verdict.value == verdict and why in str(found.reason or found.counterexample), found


def test_two_bounds_are_not_compared() -> None:
    """What the calls read of their operand nobody knows, though of both the same is told."""
    modules = [f"HloModule m\nENTRY e {{\n{BY_LIBRARY.format(op)}\n}}" for op in ("negate", "copy")]
    one, two = ("".join(f"    {line}\n" for line in m.split("\n")) for m in modules)
    (found,) = check_maps_text(f"map a\n  hlo\n{one}  hlo-after\n{two}", "x.map")
    assert found.verdict.value == "unknown" and "only a bound" in str(found.found.reason)


# --- bodies ------------------------------------------------------------------------------------------------------

KEYS = (
    "by {{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
    " ROOT c = pred[] compare({}), direction=GT }}"
)
SORT = (
    "x = f32[3] parameter(0)\ny = s32[3] parameter(1)\n"
    "ROOT r = (f32[3], s32[3]) sort(x, y), dimensions={0}, to_apply=by"
)
LINE = "(d0)[s0] -> (s0), domain: d0 in [0, 2], s0 in [0, 2]"
BODIES = [
    ("a, b", "nothing", "proved"),  # the second array is carried along, and decides nothing
    ("a, b", LINE, "refuted"),
    ("i, j", LINE, "proved"),
    ("i, j", "nothing", "refuted"),
]


@pytest.mark.parametrize(("compared", "said", "verdict"), BODIES)
def test_a_sort_reads_what_its_comparator_uses(compared: str, said: str, verdict: str) -> None:
    found = checked(SORT, f"output-to-input 1 {said}", "output 0", bodies=KEYS.format(compared))
    assert found.verdict.value == verdict


FOLD = (
    "x = f32[3,5] parameter(0)\ny = f32[3,5] parameter(1)\nz = f32[] constant(0)\n"
    "ROOT r = (f32[3], f32[3]) reduce(x, y, z, z), dimensions={1}, to_apply=by"
)
PAIR = (
    "by { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] parameter(2)\n d = f32[] parameter(3)\n"
    " e = f32[] add(a, c)\n f = f32[] add(%s)\n ROOT t = (f32[], f32[]) tuple(e, f) }"
)
ROW = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 2], s0 in [0, 4]"
FOLDS = [
    # The first result is not computed from the second array: that it reads nothing of it is not refuted.
    ("b, d", "nothing", "unknown"),
    ("b, d", ROW, "proved"),
    ("b, d", ROW.replace("-> (d0", "-> (2 - d0"), "refuted"),
    ("b, d", ROW.replace("(d0)[s0] -> (d0, s0)", "(d0)[s0] -> (d0, s0 + 1)"), "refuted"),
    ("b, d", ROW.replace("s0 in [0, 4]", "s0 in [0, 3]"), "refuted"),  # none of it, or all
    ("b, e", "nothing", "unknown"),
]


@pytest.mark.parametrize(("second", "said", "verdict"), FOLDS)
def test_what_a_body_ignores_may_be_left_out(second: str, said: str, verdict: str) -> None:
    assert checked(FOLD, f"output-to-input 1 {said}", bodies=PAIR % second).verdict.value == verdict


def test_what_a_body_uses_is_not_left_out() -> None:
    body = PAIR.replace("e = f32[] add(a, c)", "g = f32[] add(a, c)\n e = f32[] add(g, b)\n h = f32[] add(e, d)")
    body = (body % "h, a").replace("tuple(e, f)", "tuple(h, f)")
    assert checked(FOLD, "output-to-input 1 nothing", bodies=body).verdict.value == "refuted"


# --- bounds ------------------------------------------------------------------------------------------------------

CALL = 'x = f32[4] parameter(0)\nROOT r = f32[4] custom-call(x), custom_call_target="q"'
FACTOR = "x = f32[2,2] parameter(0)\nROOT r = f32[2,2] cholesky(x), lower=true"
BOUNDS = [
    # Which elements an opaque call reads is not known: all of them is not proved, and less is not refuted.
    (CALL, "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 3]", "unknown"),
    (CALL, "(d0) -> (d0), domain: d0 in [0, 3]", "unknown"),
    (CALL, "nothing", "unknown"),
    # There is nothing to read outside of an array, though, and no output element outside of the result.
    (CALL, "(d0) -> (d0 + 1), domain: d0 in [0, 3]", "refuted"),
    (CALL, "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 3]", "refuted"),
    (CALL, "(d0) -> (d0, 0), domain: d0 in [0, 3]", "refuted"),
    (FACTOR, "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 1], d1 in [0, 1], s0 in [0, 1], s1 in [0, 1]", "unknown"),
]


@pytest.mark.parametrize(("instructions", "said", "verdict"), BOUNDS)
def test_of_what_only_a_bound_is_known_no_maps_are_proved(instructions: str, said: str, verdict: str) -> None:
    found = checked(instructions, f"output-to-input 0 {said}")
    assert found.verdict.value == verdict
    assert verdict != "unknown" or "only a bound" in (found.reason or "")


# --- what is not there -------------------------------------------------------------------------------------------

ONE = "x = f32[4] parameter(0)\nROOT r = f32[4] negate(x)"
FUSED = "x = f32[4] parameter(0)\nROOT r = f32[4] fusion(x), kind=kLoop, calls=f"
BODY = "f { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }"
BESIDE = "x = f32[4] parameter(0)\nk = token[] after-all()\nROOT r = (token[], f32[4]) tuple(k, x)"
ABSENT = [
    (ONE, ("follow", "output-to-input 7 nothing"), "no parameter 7"),
    (ONE, ("follow", "output 3", "input-to-output 0 nothing"), "no output 3"),
    (ONE, ("output 3", "output-to-input 0 nothing"), "no output 3"),
    (FUSED, ("output-to-input 3 nothing",), "no operand 3"),
    (FUSED, ("output 5", "input-to-output 0 nothing"), "no output 5"),
    (BESIDE, ("output-to-input 1 nothing",), "no output 0 of r that is an array"),
    (BESIDE, ("follow", "output-to-input 0 nothing"), "no output 0 of r that is an array"),
]


@pytest.mark.parametrize(("instructions", "clauses", "reason"), ABSENT)
def test_nothing_is_not_said_of_what_is_not_there(instructions: str, clauses: tuple[str, ...], reason: str) -> None:
    found = checked(instructions, *clauses, bodies=BODY)
    assert (found.verdict.value, reason in (found.reason or "")) == ("unknown", True)


NUMBERED = "ROOT r = s32[4] fusion(), kind=kLoop, calls=f"
EMPTY = "x = f32[4] parameter(0)\nROOT r = () tuple()"


@pytest.mark.parametrize(
    ("instructions", "clauses", "reason"),
    [
        (NUMBERED, ("input-to-output 0 nothing",), "no operand 0"),
        (NUMBERED, ("output-to-input 0 nothing",), "no operand 0"),
        (EMPTY, ("input-to-output 0 nothing",), "no operand 0"),
        (EMPTY, ("output-to-input 0 nothing",), "no operand 0"),
        (EMPTY, ("follow", "output-to-input 0 nothing"), "no output 0"),
        (EMPTY, ("follow", "input-to-output 0 nothing"), "no output 0"),
    ],
)
def test_nor_where_there_is_nothing_at_all(instructions: str, clauses: tuple[str, ...], reason: str) -> None:
    found = checked(instructions, *clauses, bodies="f { ROOT i = s32[4] iota(), iota_dimension=0 }").found
    assert found.verdict.value == "unknown" and reason in str(found.reason), found


@pytest.mark.parametrize("clauses", [("output-to-input 1",), ("follow", "output-to-input 0")])
def test_an_output_beside_a_token_has_one_number(clauses: tuple[str, ...]) -> None:
    """Alone and followed: outputs count the leaves of the tuple, tokens among them."""
    same = "(d0) -> (d0), domain: d0 in [0, 3]"
    assert checked(BESIDE, "output 1", *clauses[:-1], f"{clauses[-1]} {same}").verdict.value == "proved"
    assert checked(BESIDE, "output 1", *clauses[:-1], f"{clauses[-1]} nothing").verdict.value == "refuted"


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        (("instruction", "output-to-input 0 nothing"), "the name of an instruction"),
        (("follow r", "output-to-input 0 nothing"), "`follow` stands alone"),
    ],
)
def test_a_clause_says_all_that_it_has_to_and_no_more(clauses: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as raised:
        checked(ONE, *clauses)
    assert message in raised.value.message


# --- witnesses ---------------------------------------------------------------------------------------------------

SLICED = "x = f32[8] parameter(0)\nROOT r = f32[3] slice(x), slice={[1:7:2]}"
SUMMED = "x = f32[3,5] parameter(0)\nz = f32[] constant(0)\nROOT r = f32[3] reduce(x, z), dimensions={1}, to_apply=add"
WINDOWS = (
    "x = f32[6] parameter(0)\nz = f32[] constant(0)\n"
    "ROOT r = f32[3] reduce-window(x, z), window={size=2 stride=2}, to_apply=add"
)
BLOCKS = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 2], s0 in [0, 1]"
WITNESSED = [
    (SUMMED, ROW, ROW.replace("[0, 4]", "[0, 3]")),
    (WINDOWS, BLOCKS, BLOCKS.replace("d0 * 2", "d0")),
    (SLICED, "(d0) -> (d0 * 2 + 1), domain: d0 in [0, 2]", "(d0) -> (d0 * 2), domain: d0 in [0, 2]"),
]


@pytest.mark.parametrize(("instructions", "right", "wrong"), WITNESSED)
@pytest.mark.parametrize("off", [0, 1])
def test_a_wrong_witness_refutes_nothing(
    instructions: str, right: str, wrong: str, off: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved(unknowns: Mapping[str, Interval], conditions: Iterable[elimination.Membership]) -> dict[str, Expr]:
        return {n: e + off for n, e in solve(unknowns, conditions).items()}

    solve = elimination.solve
    monkeypatch.setattr(definition, "solve", solved)
    monkeypatch.setattr(relation, "solve", solved)
    verdicts = [checked(instructions, f"output-to-input 0 {said}", bodies=ADD).verdict.value for said in (right, wrong)]
    assert verdicts[0] == "proved" or (off and verdicts[0] == "unknown")
    assert verdicts[1] == "refuted" or (off and verdicts[1] == "unknown")


# --- two modules -------------------------------------------------------------------------------------------------


def after(one: str, two: str) -> str:
    text = "  hlo\n" + one.replace("\n", "\n    ") + "\n  hlo-after\n" + two.replace("\n", "\n    ")
    (found,) = check_maps_text("map a\n" + text.replace("HloModule", "    HloModule") + "\n", "x.map")
    return found.verdict.value


def test_modules_on_other_numbers_of_devices_are_not_told_apart() -> None:
    def on(devices: str, said: str = "all-reduce(x), to_apply=add") -> str:
        return f"HloModule m, {devices}\n{ADD}\nENTRY e {{\nx = f32[2] parameter(0)\nROOT r = f32[2] {said}\n}}"

    assert after(on("replica_count=2"), on("replica_count=4")) == "unknown"
    assert after(on("replica_count=2"), on("replica_count=2")) == "proved"
    assert after(on("replica_count=2", "reverse(x), dimensions={0}"), on("replica_count=2", "copy(x)")) == "refuted"


def test_modules_that_differ_in_what_a_body_ignores_are_not_told_apart() -> None:
    text = f"HloModule m\n{PAIR % 'b, d'}\nENTRY e {{\n{FOLD}\n}}"
    other = text.replace("reduce(x, y,", "reduce(x, w,").replace(
        "z = f32", "w = f32[3,5] reverse(y), dimensions={0}\nz = f32"
    )
    assert after(text, text) == "proved"
    assert after(text, other) == "unknown"
    plain = f"HloModule m\n{ADD}\nENTRY e {{\n{SUMMED}\n}}"
    turned = plain.replace("reduce(x,", "reduce(w,").replace(
        "z = f32", "w = f32[3,5] reverse(x), dimensions={0}\nz = f32"
    )
    assert after(plain, turned) == "refuted"


@pytest.mark.parametrize(
    ("first", "said", "verdict"),
    [
        ("a", "(d0) -> (d0), domain: d0 in [0, 4]", "unknown"),  # each element by itself, as `hloproof indexing` has it
        ("s", "(d0) -> (d0), domain: d0 in [0, 4]", "refuted"),
        ("s", "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 4], d0 - s0 in [0, 4]", "proved"),
    ],
)
def test_a_body_may_hand_nothing_from_slice_to_slice(first: str, said: str, verdict: str) -> None:
    body = "step { a = f32[] parameter(0)\n c = f32[] parameter(1)\n s = f32[] add(a, c)\n"
    body += f" ROOT t = (f32[], f32[]) tuple({first}, {first.replace('a', 'c')}) }}"
    scan = "scan(p, q), dimensions={0}, num_carries=1, to_apply=step"
    found = checked(
        f"p = f32[5] parameter(0)\nq = f32[] parameter(1)\nROOT r = (f32[5], f32[]) {scan}",
        f"output-to-input 0 {said}",
        bodies=body,
    )
    assert found.verdict == verdict
