"""Scatter expanded to a loop: proved, held against the interpreter, and not for loops that do otherwise."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hloproof.equivalence import decide, endings
from hloproof.equivalence.graph import Graph
from hloproof.equivalence.reading import GraphReader
from hloproof.equivalence.scatter_loop import as_loop
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.run import run_module

COMBINERS = """add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}

last {
  a = s32[] parameter(0)
  ROOT b = s32[] parameter(1)
}

less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] subtract(a, b)
}
"""
PARAMETERS = """  p = s32[5,4] parameter(0)
  i = s32[3,2] parameter(1)
  u = s32[3,2] parameter(2)
"""


def scatter(combiner: str = "add", to_operand: str = "0,1", inserted: str = "0") -> str:
    return (
        f"HloModule m\n\n{COMBINERS}\nENTRY e {{\n{PARAMETERS}"
        f"  ROOT r = s32[5,4] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{{inserted}}}, "
        f"scatter_dims_to_operand_dims={{{to_operand}}}, index_vector_dim=1, to_apply={combiner}\n}}\n"
    )


def loop(
    combiner: str = "add",
    turns: int = 3,
    first: int = 0,
    last_row: int = 4,
    last_column: int = 2,
    rows: int = 0,
    kept: str = "old",
    row: str = "n",
    upward: bool = True,
    swapped: bool = False,
) -> str:
    """What the expander writes, with one thing or another changed."""
    turn = "t" if upward else "back"
    operands = "upd, old" if swapped else "old, upd"
    return f"""HloModule m

{COMBINERS}
condition {{
  s = (s32[], s32[5,4], s32[3,2], s32[3,2]) parameter(0)
  t = s32[] get-tuple-element(s), index=0
  c = s32[] constant({turns})
  ROOT r = pred[] compare(t, c), direction=LT
}}

body {{
  s = (s32[], s32[5,4], s32[3,2], s32[3,2]) parameter(0)
  t = s32[] get-tuple-element(s), index=0
  x = s32[5,4] get-tuple-element(s), index=1
  i = s32[3,2] get-tuple-element(s), index=2
  u = s32[3,2] get-tuple-element(s), index=3
  one = s32[] constant(1)
  n = s32[] add(t, one)
  end = s32[] constant(2)
  back = s32[] subtract(end, t)
  z = s32[] constant(0)
  v = s32[1,2] dynamic-slice(i, {turn}, z), dynamic_slice_sizes={{1,2}}
  w = s32[2] reshape(v)
  low = s32[2] constant({{0, {rows}}})
  high = s32[2] constant({{{last_row}, {last_column}}})
  ge = pred[2] compare(w, low), direction=GE
  le = pred[2] compare(high, w), direction=GE
  in = pred[2] and(ge, le)
  ws = s32[1] slice(w), slice={{[0:1]}}
  wt = s32[1] slice(w), slice={{[1:2]}}
  r = s32[] reshape(ws)
  c = s32[] reshape(wt)
  old = s32[1,2] dynamic-slice(x, r, c), dynamic_slice_sizes={{1,2}}
  upd = s32[1,2] dynamic-slice(u, {turn}, z), dynamic_slice_sizes={{1,2}}
  new = s32[1,2] map({operands}), dimensions={{0,1}}, to_apply={combiner}
  is = pred[1] slice(in), slice={{[0:1]}}
  it = pred[1] slice(in), slice={{[1:2]}}
  f = pred[] reshape(is)
  g = pred[] reshape(it)
  b = pred[] and(f, g)
  all = pred[1,2] broadcast(b), dimensions={{}}
  sel = s32[1,2] select(all, new, {kept})
  y = s32[5,4] dynamic-update-slice(x, sel, r, c)
  ROOT q = (s32[], s32[5,4], s32[3,2], s32[3,2]) tuple({row}, y, i, u)
}}

ENTRY e {{
{PARAMETERS}  z = s32[] constant({first})
  s = (s32[], s32[5,4], s32[3,2], s32[3,2]) tuple(z, p, i, u)
  l = (s32[], s32[5,4], s32[3,2], s32[3,2]) while(s), condition=condition, body=body
  ROOT r = s32[5,4] get-tuple-element(l), index=1
}}
"""


def verdict(before: str, after: str) -> str:
    return decide(parse_module(before), parse_module(after)).verdict.value


def drawn(source: random.Random) -> list[Any]:
    """Inputs whose index vectors meet, lie on the edges, and outside."""
    rows = [[source.randint(0, 9) for _ in range(4)] for _ in range(5)]
    indices = [[source.choice([-1, 0, 0, 1, 4, 5]), source.choice([-1, 0, 0, 2, 3, 4])] for _ in range(3)]
    return [rows, indices, [[source.randint(0, 99) for _ in range(2)] for _ in range(3)]]


@pytest.mark.parametrize(("combiner", "back"), [("add", "proved"), ("last", "unknown"), ("less", "unknown")])
def test_a_scatter_is_its_loop(combiner: str, back: str) -> None:
    """A loop has one order of updates, and a scatter that it becomes has any: that must not show."""
    before, after = scatter(combiner), loop(combiner)
    found = decide(parse_module(before), parse_module(after))
    assert found.verdict.value == "proved"
    assert ("scatter as a loop", "exact") in found.axioms
    assert verdict(after, before) == back
    source = random.Random(7)
    for _ in range(20):
        inputs = drawn(source)
        assert run_module(parse_module(before), inputs) == run_module(parse_module(after), inputs)


def test_a_loop_that_is_a_scatter_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody follows its turns."""
    monkeypatch.setattr(endings, "_TURNS", 0)
    found = decide(parse_module(scatter()), parse_module(loop()))
    assert "scatter as a loop" in dict(found.axioms)
    assert "assumed: a loop ends" not in dict(found.axioms)


def test_floats_that_are_added_in_any_order_afterwards_are_real_arithmetic() -> None:
    def of_floats(text: str) -> str:
        text = text.replace(COMBINERS, COMBINERS.replace("s32", "f32")).replace("s32[5,4]", "f32[5,4]")
        text = text.replace("s32[3,2], s32[3,2])", "s32[3,2], f32[3,2])")
        for name in ("u", "old", "upd", "new", "sel"):
            text = text.replace(f"  {name} = s32", f"  {name} = f32")
        return text

    one, other = (parse_module(of_floats(text)) for text in (scatter(), loop()))
    assert decide(one, other, "exact").verdict == "proved"
    assert decide(other, one, "exact").verdict == "unknown"
    assert decide(other, one, "real").verdict == "proved"


@pytest.mark.parametrize(
    "other",
    [
        loop("last", upward=False),  # of two updates of one element the first stays
        loop("less", swapped=True),
        loop("last", turns=2),
        loop("last", turns=4),  # the last update once more: the same here, but nothing says so
        loop("last", first=1),
        loop("last", last_row=5),
        loop("last", last_column=3),  # a window that does not fit is moved
        loop("last", rows=1),
        loop("last", kept="new"),  # carried out where it does not fit
        loop("last", row="t"),
    ],
)
def test_other_loops_are_not(other: str) -> None:
    combiner = "less" if "to_apply=less" in other else "last"
    assert verdict(scatter(combiner), other) == "unknown"


def test_other_scatters_are_not() -> None:
    assert verdict(scatter("add"), loop("last")) == "unknown"
    assert verdict(scatter("last", to_operand="1,0"), loop("last")) == "unknown"
    assert verdict(scatter("last", to_operand="0,1", inserted="1"), loop("last")) == "unknown"


@pytest.mark.parametrize(
    ("more", "is_loop"),
    [
        ("inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}", True),
        (
            "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, "
            "input_batching_dims={0}, scatter_indices_batching_dims={0}",
            False,
        ),
    ],
)
def test_a_scatter_of_batches_is_no_loop_that_is_known(more: str, is_loop: bool) -> None:
    vectors = 2 if is_loop else 1
    (node,) = (
        GraphReader()
        .read(
            parse_module(
                f"HloModule m\n\n{COMBINERS}\nENTRY e {{\n  p = s32[3,4] parameter(0)\n"
                f"  i = s32[3,{vectors}] parameter(1)\n"
                f"  u = s32[3] parameter(2)\n  ROOT r = s32[3,4] scatter(p, i, u), update_window_dims={{}}, {more}, "
                "index_vector_dim=1, to_apply=add\n}\n"
            ),
            0,
        )
        .results
    )
    assert (as_loop(Graph(), node) is not None) is is_loop


def module(types: str, *lines: str) -> str:
    names = [f"  {n} = {t} parameter({k})\n" for k, (n, t) in enumerate(zip("xyz", types.split(), strict=False))]
    return "HloModule m\n\nENTRY e {\n" + "".join(names) + "".join(f"  {line}\n" for line in lines) + "}\n"


INTEGERS, FLOATS, TRUTHS = "s32[] s32[] s32[]", "f32[] f32[] f32[]", "pred[] pred[] pred[]"
PREDICATES = [
    (
        module(INTEGERS, "a = pred[] compare(x, y), direction=LT", "ROOT r = pred[] not(a)"),
        module(INTEGERS, "ROOT r = pred[] compare(x, y), direction=GE"),
        True,
    ),
    (
        module(FLOATS, "a = pred[] compare(x, y), direction=LT", "ROOT r = pred[] not(a)"),
        module(FLOATS, "ROOT r = pred[] compare(x, y), direction=GE"),
        False,  # of NaN
    ),
    (
        module(FLOATS, "a = pred[] compare(x, y), direction=EQ", "ROOT r = pred[] not(a)"),
        module(FLOATS, "ROOT r = pred[] compare(y, x), direction=NE"),
        True,
    ),
    (
        module(FLOATS, "ROOT r = pred[] compare(x, x), direction=EQ"),
        module(FLOATS, "ROOT r = pred[] constant(true)"),
        False,
    ),
    (
        module(TRUTHS, "a = pred[] and(x, y)", "b = pred[] and(z, x)", "ROOT r = pred[] or(a, b)"),
        module(TRUTHS, "a = pred[] or(y, z)", "ROOT r = pred[] and(x, a)"),
        True,
    ),
    (
        module(TRUTHS, "a = pred[] and(x, y)", "ROOT r = pred[] or(a, z)"),
        module(TRUTHS, "a = pred[] or(y, z)", "ROOT r = pred[] and(x, a)"),
        False,
    ),
    (
        module(TRUTHS, "ROOT r = pred[] select(x, y, z)"),
        module(
            TRUTHS, "n = pred[] not(x)", "a = pred[] and(x, y)", "b = pred[] and(n, z)", "ROOT r = pred[] xor(a, b)"
        ),
        True,
    ),
    (
        module(TRUTHS, "ROOT r = pred[] compare(x, y), direction=LE"),
        module(TRUTHS, "n = pred[] not(x)", "ROOT r = pred[] or(n, y)"),
        True,
    ),
    (
        module(TRUTHS, "ROOT r = pred[] compare(x, y), direction=GE"),
        module(TRUTHS, "n = pred[] not(x)", "ROOT r = pred[] or(n, y)"),
        False,
    ),
    (
        module(INTEGERS, "c = s32[] constant(-1)", "ROOT r = pred[] compare(c, x), direction=LT"),
        module(INTEGERS, "c = s32[] constant(0)", "a = pred[] compare(x, c), direction=LT", "ROOT r = pred[] not(a)"),
        True,
    ),
    (
        module(INTEGERS, "c = s32[] constant(-2147483648)", "ROOT r = pred[] compare(c, x), direction=LT"),
        module(
            INTEGERS,
            "c = s32[] constant(2147483647)",
            "a = pred[] compare(x, c), direction=GT",
            "ROOT r = pred[] not(a)",
        ),
        False,  # not for the lowest number
    ),
    (
        module("u8[]", "c = u8[] constant(0)", "ROOT r = pred[] compare(x, c), direction=GE"),
        module("u8[]", "ROOT r = pred[] constant(true)"),
        True,
    ),
]


@pytest.mark.parametrize(("before", "after", "equal"), PREDICATES)
def test_predicates_as_functions_of_atoms(before: str, after: str, equal: bool) -> None:
    assert verdict(before, after) == ("proved" if equal else "unknown")


def test_two_updates_may_meet() -> None:
    """Which of two is the last is left open, and a loop has it."""

    def of_two(text: str) -> str:
        return text.replace("s32[3,2]", "s32[2,2]")

    after = parse_module(of_two(loop("last", turns=2)))
    assert decide(parse_module(of_two(scatter("last"))), after).verdict == "proved"
    assert decide(after, parse_module(of_two(scatter("last")))).verdict == "unknown"


BATCHED = {
    "gather": "ROOT r = s32[3,3] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, "
    "operand_batching_dims={{0}}, start_indices_batching_dims={{{}}}, index_vector_dim=0, slice_sizes={{1,1}}",
    "scatter": "ROOT r = s32[3,5] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{1}}, "
    "scatter_dims_to_operand_dims={{1}}, input_batching_dims={{0}}, scatter_indices_batching_dims={{{}}}, "
    "index_vector_dim=0, to_apply=add",
}


@pytest.mark.parametrize("last", BATCHED.values(), ids=BATCHED)
def test_batches_are_counted_behind_the_index_vector(last: str) -> None:
    """The index vector comes first, and both dimensions behind it may be the batch."""

    def made(batch: int, turned: bool = False) -> str:
        turn = f"{{0,{'2,1' if turned else '1,2'}}}"
        return (
            f"HloModule m\n\n{COMBINERS}\nENTRY e {{\n  x = s32[3,5] parameter(0)\n  g = s32[1,3,3] parameter(1)\n"
            f"  w = s32[3,3] parameter(2)\n  i = s32[1,3,3] transpose(g), dimensions={turn}\n"
            f"  u = s32[3,3] transpose(w), dimensions={'{1,0}' if turned else '{0,1}'}\n  {last.format(batch)}\n}}\n"
        )

    one, other = parse_module(made(1)), parse_module(made(2))
    assert decide(one, other).verdict == "unknown"
    if "scatter(" in last:
        assert decide(one, parse_module(made(2, turned=True))).verdict == "proved"
    else:
        turned = made(2, turned=True).replace("ROOT r", "g2").removesuffix("\n}\n")
        turned += "\n  ROOT r = s32[3,3] transpose(g2), dimensions={1,0}\n}\n"
        assert decide(one, parse_module(turned)).verdict == "proved"
