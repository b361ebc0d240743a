"""How often a loop turns, and where an update begins, where both follow from constants: operations on whole numbers of
a width, on predicates and on tuples, each with a claim that only its own result makes true."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from spec_texts import check_maps_text

import hloproof
from hloproof.pipeline.driver import check_hlo
from hloproof.pipeline.options import Options

TURNS: Final = """map k
  hlo
    HloModule m
    body {
      s = (KIND[], f32[8]) parameter(0)
      i = KIND[] get-tuple-element(s), index=0
      x = f32[8] get-tuple-element(s), index=1
      one = KIND[] constant(1)
      j = KIND[] STEP(i, one)
      a = f32[7] slice(x), slice={[1:8]}
      b = f32[1] slice(x), slice={[0:1]}
      r = f32[8] concatenate(a, b), dimensions={0}
      ROOT t = (KIND[], f32[8]) tuple(j, r)
    }
    cond {
      s = (KIND[], f32[8]) parameter(0)
      i = KIND[] get-tuple-element(s), index=0
      n = KIND[] constant(LAST)
      l = pred[] compare(i, n), direction=LT
      GOES
    }
    called {
      z = s32[] parameter(0)
      a = s32[] constant(1)
      b = s32[] constant(3)
      ROOT t = (s32[], s32[]) tuple(a, b)
    }
    ENTRY e {
      x = f32[8] parameter(0)
      z = s32[] constant(0)
      FIRST
      t = (KIND[], f32[8]) tuple(i, x)
      w = (KIND[], f32[8]) while(t), condition=cond, body=body
      ROOT r = f32[8] get-tuple-element(w), index=1
    }
  follow
  output-to-input 0 (d0) -> ((d0 + BY) mod 8), domain: d0 in [0, 7]
"""
PLAIN: Final = "ROOT c = pred[] copy(l)"
CALL: Final = "y = (s32[], s32[]) call(z), to_apply=called"


def turned(first: tuple[str, ...], last: int, by: int, goes: str = PLAIN, step: str = "add", kind: str = "s32") -> str:
    words = {
        "FIRST": "\n      ".join(first),
        "LAST": str(last),
        "BY": str(by),
        "GOES": goes,
        "STEP": step,
        "KIND": kind,
    }
    text = TURNS
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


TWICE = {
    "a number that is a predicate": (("i = s32[] constant(2)",), 9, "ROOT c = pred[] convert(i)", "subtract"),
    "a quotient is cut to zero": (
        ("a = s32[] constant(-3)", "b = s32[] constant(2)", "i = s32[] divide(a, b)"), 1, PLAIN, "add",
    ),
    "a remainder has the sign of the dividend": (
        ("a = s32[] constant(-7)", "b = s32[] constant(4)", "i = s32[] remainder(a, b)"), -1, PLAIN, "add",
    ),
    "of bounds that cross the upper one holds": (
        ("a = s32[] constant(5)", "c = s32[] constant(3)", "i = s32[] clamp(a, z, c)"), 5, PLAIN, "add",
    ),
    "the first part of what a call gives": ((CALL, "i = s32[] get-tuple-element(y), index=0"), 3, PLAIN, "add"),
    "the second part beside the first": (
        (CALL, "a = s32[] get-tuple-element(y), index=0", "i = s32[] get-tuple-element(y), index=1"), 5, PLAIN, "add",
    ),
    "one part less the other": (
        (CALL, "a = s32[] get-tuple-element(y), index=0", "b = s32[] get-tuple-element(y), index=1",
         "i = s32[] subtract(b, a)"), 4, PLAIN, "add",
    ),
    "all bits turned": (("i = s32[] not(z)",), 1, PLAIN, "add"),
}  # fmt: skip


@pytest.mark.parametrize("case", TWICE.values(), ids=TWICE)
def test_a_loop_of_two_turns(case: tuple[tuple[str, ...], int, str, str]) -> None:
    first, last, goes, step = case
    for by, verdict in ((2, "proved"), (1, "refuted"), (3, "refuted")):
        (found,) = check_maps_text(turned(first, last, by, goes, step), "k.map")
        assert found.verdict.value == verdict, (by, found)


@pytest.mark.parametrize(
    ("first", "last", "goes", "kind", "by"),
    [
        (("a = s32[] constant(-1)", "i = u32[] bitcast(a)"), 1, PLAIN, "u32", 2),
        (("i = s32[] constant(0)",), 2, "ROOT c = pred[] add(l, l)", "s32", 0),
    ],
    ids=["the bits of a negative one are a large one", "a sum of predicates is one of both"],
)
def test_a_loop_does_not_turn_as_often_as_other_numbers_say(
    first: tuple[str, ...], last: int, goes: str, kind: str, by: int
) -> None:
    (found,) = check_maps_text(turned(first, last, by, goes, kind=kind), "k.map")
    assert found.verdict.value in ("unknown", "refuted")


IN_FUSION = "a = s8[] constant(100)\n b = s8[] add(a, a)\n k = s32[] convert(b)"
OUTSIDE = (
    "a = s32[] constant(6)\n b = s32[] constant(0)\n t1 = (s32[], s32[]) tuple(a, b)\n"
    " t2 = (s32[], s32[]) tuple(a, a)\n t = ((s32[], s32[]), (s32[], s32[])) tuple(t1, t2)\n"
    " g = (s32[], s32[]) get-tuple-element(t), index=0\n h = s32[] get-tuple-element(g), index={}"
)


@pytest.mark.parametrize(
    ("fused", "entry", "size", "verdict"),
    [
        (IN_FUSION, "", 256, "refuted"),
        (IN_FUSION.replace("100", "50"), "", 256, "proved"),
        ("k = s32[] parameter(1)", OUTSIDE.format(1), 8, "refuted"),
        ("k = s32[] parameter(1)", OUTSIDE.format(0), 8, "proved"),
    ],
)
def test_an_update_at_the_very_beginning_meets_what_is_read_behind_it(
    fused: str, entry: str, size: int, verdict: str, tmp_path: Path
) -> None:
    """Elements 0 and 1 are written while 1 and 2 are read; further on nothing meets."""
    file = tmp_path / "m.hlo"
    file.write_text(
        f"HloModule m, is_scheduled=true\nfused {{\n p = f32[{size}] parameter(0)\n {fused}\n"
        f" s = f32[2] slice(p), slice={{[1:3]}}\n n = f32[2] negate(s)\n"
        f" ROOT u = f32[{size}] dynamic-update-slice(p, n, k)\n}}\n"
        f"ENTRY e {{\n x = f32[{size}] parameter(0)\n {entry}\n"
        f" c = f32[{size}] copy(x)\n"
        f" ROOT f = f32[{size}] fusion(c{', h' if entry else ''}), kind=kLoop, calls=fused\n}}\n"
    )
    assert hloproof.check(str(file)).verdict.value == verdict


def test_a_choice_of_tuples_is_no_number() -> None:
    """A condition that asks for a part of it."""
    text = (
        "HloModule m\na {\n s = pred[] parameter(0)\n ROOT t = (pred[]) tuple(s)\n}\n"
        "b {\n ROOT s = pred[] parameter(0)\n}\n"
        "c {\n s = pred[] parameter(0)\n k = (pred[]) conditional(s, s, s), true_computation=a, false_computation=a\n"
        " ROOT q = pred[] get-tuple-element(k), index=0\n}\n"
        "ENTRY e {\n f = pred[] constant(true)\n ROOT w = pred[] while(f), condition=c, body=b\n}\n"
    )
    assert {r.verdict for r in check_hlo(text, Options(jobs=1)).records()} <= {"proved", "unknown"}
