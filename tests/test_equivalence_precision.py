"""Where an instruction takes or gives numbers of one precision for those of another, nothing is proved of its module:
the numbers are rounded there, and nothing says so. The same holds for values that are of another shape than who is
given them says. Beside each stands the same in one precision, or shape, which is read."""

from __future__ import annotations

import pytest
from red_pairs import entry

from hloproof.equivalence import decide
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.precision import mixed

# KIND is f32 in what is right, bf16 in what is wrong; other operands are called by their types.
GIVEN = """f32 = f32[4] parameter(1)
bf16 = bf16[4] parameter(2)
f32z = f32[] constant(0)
bf16z = bf16[] constant(0)
true = pred[] constant(true)
number = s32[] constant(0)
index = s32[1] constant({0})
update = f32[1] constant({1})
"""


def negation(given: str = "f32[4]", result: str = "f32[4]", name: str = "f") -> str:
    own = f"x = {given} parameter(0)\n a = f32[4] convert(x)\n b = f32[4] negate(a)"
    return f"{name} {{ {own}\n ROOT y = {result} convert(b)\n}}\n"


def addition(left: str = "f32", right: str = "f32", result: str = "f32") -> str:
    given = f"x = {left}[] parameter(0)\n y = {right}[] parameter(1)\n a = f32[] convert(x)\n b = f32[] convert(y)"
    return f"f {{ {given}\n c = f32[] add(a, b)\n ROOT z = {result}[] convert(c)\n}}\n"


def order(left: str) -> str:
    given = f"x = {left}[] parameter(0)\n y = {left}[] parameter(1)"
    return f"g {{ {given}\n ROOT z = pred[] compare(x, y), direction=GE\n}}\n"


def turns(condition: str, result: str) -> str:
    last = f"c {{ x = {condition}[4] parameter(0)\n ROOT y = pred[] constant(false)\n}}\n"
    return last + f"b {{ x = f32[4] parameter(0)\n ROOT y = {result}[4] convert(x)\n}}\n"


SCATTERED = (
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f"
)
SELECTED = "window={size=1}, select=g, scatter=f"
REDUCED = "reduce(p, f32z), dimensions={0}, to_apply=f"

ROWS = {
    "a copy": ("a = KIND[4] copy(p)", ""),
    "a barrier": ("a = KIND[4] opt-barrier(p)", ""),
    "a reshape": ("a = KIND[4] reshape(p)", ""),
    "a sign": ("a = KIND[4] negate(p)", ""),
    "a tuple": ("a = (KIND[4]) tuple(p)", ""),
    "a part of a tuple": ("t = (f32[4]) tuple(p)\n a = KIND[4] get-tuple-element(t), index=0", ""),
    "one side of a sum": ("a = f32[4] add(p, KIND)", ""),
    "one side of a comparison": ("a = pred[4] compare(p, KIND), direction=EQ", ""),
    "one side of a choice": ("a = f32[4] select(true, p, KIND)", ""),
    "a bound": ("a = f32[4] clamp(KIND, p, p)", ""),
    "one of several parts": ("a = f32[8] concatenate(p, KIND), dimensions={0}", ""),
    "what stands around": ("a = f32[6] pad(p, KINDz), padding=1_1", ""),
    "what is written over it": ("a = f32[4] dynamic-update-slice(p, KIND, number)", ""),
    "what a reduction begins with": (
        "a = KIND[] reduce(p, KINDz), dimensions={0}, to_apply=f",
        addition(left="KIND", result="KIND"),
    ),
    "what a reduction gathers": (f"a = f32[] {REDUCED}", addition(left="KIND")),
    "what a reduction takes": (f"a = f32[] {REDUCED}", addition(right="KIND")),
    "what a reduction makes": (f"a = KIND[] {REDUCED}", addition(result="KIND")),
    "what a reduction gives": (f"a = KIND[] {REDUCED}", addition()),
    "a window": ("a = KIND[4] reduce-window(p, f32z), window={size=1}, to_apply=f", addition()),
    "what is scattered": (f"u = KIND[1] constant({{1}})\n a = f32[4] scatter(p, index, u), {SCATTERED}", addition()),
    "what a scatter takes": (f"a = f32[4] scatter(p, index, update), {SCATTERED}", addition(left="KIND")),
    "what a scatter makes": (f"a = f32[4] scatter(p, index, update), {SCATTERED}", addition(result="KIND")),
    "what is put at a maximum": (
        f"a = f32[4] select-and-scatter(p, KIND, f32z), {SELECTED}",
        order("f32") + addition(),
    ),
    "what stands elsewhere": (f"a = f32[4] select-and-scatter(p, p, KINDz), {SELECTED}", order("f32") + addition()),
    "what is selected by": (f"a = f32[4] select-and-scatter(p, p, f32z), {SELECTED}", order("KIND") + addition()),
    "what is added there": (
        f"a = f32[4] select-and-scatter(p, p, f32z), {SELECTED}",
        order("f32") + addition(result="KIND"),
    ),
    "what is sorted by": ("a = f32[4] sort(p), dimensions={0}, to_apply=g", order("KIND")),
    "what is applied to each": ("a = f32[4] map(p, p), dimensions={0}, to_apply=f", addition(left="KIND")),
    "what a call of a library is given": (
        'a = f32[4] custom-call(p), custom_call_target="f", operand_layout_constraints={KIND[4]{0}}',
        "",
    ),
    "a triangle": (
        "t = KIND[2,2] constant({{1,0},{0,1}})\n q = f32[2,2] reshape(p)\n a = f32[2,2] triangular-solve(t, q)",
        "",
    ),
    "what a call takes": ("a = f32[4] call(p), to_apply=f", negation(given="KIND[4]")),
    "what a call makes": ("a = f32[4] call(p), to_apply=f", negation(result="KIND[4]")),
    "what a call gives": ("a = KIND[4] call(p), to_apply=f", negation()),
    "a fusion": ("a = KIND[4] fusion(p), kind=kLoop, calls=f", negation()),
    "a condition": ("a = f32[4] while(p), condition=c, body=b", turns("KIND", "f32")),
    "a turn": ("a = f32[4] while(p), condition=c, body=b", turns("f32", "KIND")),
    "a loop": ("a = KIND[4] while(p), condition=c, body=b", turns("f32", "f32")),
    "a branch": (
        "a = f32[4] conditional(true, p, p), true_computation=f, false_computation=g",
        negation() + negation(result="KIND[4]", name="g"),
    ),
    "what devices exchange": ("a = KIND[4] all-reduce(p), to_apply=f, replica_groups={}", addition()),
}


def module(lines: str, before: str, kind: str) -> str:
    text = entry("p = f32[4] parameter(0)", *GIVEN.splitlines(), *lines.splitlines(), before=before)
    return text.replace("KIND", kind)


@pytest.mark.parametrize("what", ROWS)
def test_numbers_of_another_precision_are_not_taken_for_one_another(what: str) -> None:
    right, wrong = (parse_module(module(*ROWS[what], kind)) for kind in ("f32", "bf16"))
    assert decide(right, right, "exact").verdict == "proved"
    assert decide(wrong, wrong, "exact").reason.endswith("where numbers change their precision")
    assert [*mixed(right)] == []


@pytest.mark.parametrize(
    "line",
    [
        "convert(p)",
        "dot(p, p), lhs_contracting_dims={}, rhs_contracting_dims={}",
        'custom-call(p), custom_call_target="f"',
    ],
)
def test_operations_that_change_the_precision_are_read(line: str) -> None:
    sizes = "4,4" if line.startswith("dot") else "4"
    rounded = parse_module(entry("p = f32[4] parameter(0)", f"ROOT r = bf16[{sizes}] {line}"))
    assert [*mixed(rounded)] == []
    assert decide(rounded, rounded, "exact").verdict == "proved"


def in_flight(state: str, start: str, done: str, result: str, body: str) -> str:
    """A start of f and its done, whose result is handed on where it is a tuple."""
    lines = [f"s = ({state}, u32[]) async-start({start}), calls=f", f"d = {result} async-done({done})"]
    if result.startswith("("):
        lines.append('ROOT r = f32[4] custom-call(d), custom_call_target="g"')
    return entry("p = f32[4] parameter(0)", *lines, before=body)


REARRANGED = "f { x = f32[2,2] parameter(0)\n ROOT y = f32[4] reshape(x)\n}\n"
IN_TUPLE = "f {{ x = f32[4] parameter(0)\n y = {0}[4] convert(x)\n ROOT z = ({0}[4]) tuple(y)\n}}\n"
OTHERS = {
    "bound by the done": ("(), f32[4]", "", "s, p", "f32[4]", negation()),
    "of another type": ("(f32[4]), f32[4]", "p", "s", "f32[4]", negation("s32[4]")),
    "of other sizes": ("(f32[4]), f32[4]", "p", "s", "f32[4]", REARRANGED),
    "with another result": ("(f32[4]), s32[4]", "p", "s", "s32[4]", negation()),
    "with a tuple for a result": ("(f32[4]), (f32[4])", "p", "s", "(f32[4])", negation()),
    "with a longer tuple": ("(f32[4]), (f32[4], f32[4])", "p", "s", "(f32[4], f32[4])", IN_TUPLE.format("f32")),
    "with a token for a result": ("(f32[4]), token[]", "p", "s", "token[]", negation()),
    "of a size known at run time": ("(f32[<=4]), f32[4]", "p", "s", "f32[4]", negation("f32[<=4]")),
    "with such a result": ("(f32[4]), f32[<=4]", "p", "s", "f32[<=4]", negation()),
    "with a tuple of another type": ("(f32[4]), (s32[4])", "p", "s", "(s32[4])", IN_TUPLE.format("f32")),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_start_that_is_given_something_else_than_it_runs_is_not_modelled(what: str) -> None:
    wrong = parse_module(in_flight(*OTHERS[what]))
    assert decide(wrong, wrong, "exact").reason.startswith("not modelled: ")
    right = parse_module(in_flight("(f32[4]), f32[4]", "p", "s", "f32[4]", negation()))
    in_tuple = parse_module(in_flight("(f32[4]), (f32[4])", "p", "s", "(f32[4])", IN_TUPLE.format("f32")))
    assert decide(in_tuple, in_tuple, "exact").verdict == "proved"
    plain = parse_module(entry("p = f32[4] parameter(0)", "ROOT r = f32[4] negate(p)"))
    assert decide(plain, right, "exact").verdict == "proved"


def reduced(state: str) -> str:
    lines = f"s = {state} all-reduce-start(p), to_apply=f, replica_groups={{}}", "ROOT r = f32[4] all-reduce-done(s)"
    return entry("p = f32[4] parameter(0)", *lines, before=addition())


def test_an_exchange_whose_state_is_not_its_result_is_not_modelled() -> None:
    wrong, right = parse_module(reduced("(f32[4], f32[4])")), parse_module(reduced("f32[4]"))
    assert decide(wrong, wrong, "exact").reason.startswith("not modelled: all-reduce-done")
    assert decide(right, right, "exact").verdict == "proved"


def test_a_size_known_at_run_time_does_not_stand_for_two() -> None:
    def through(size: int) -> str:
        lines = "a = f32[?] copy(p)", f"b = f32[{size}] copy(a)", "ROOT r = f32[4] slice(b), slice={[0:4]}"
        return entry("p = f32[4] parameter(0)", *lines)

    for size in (4, 5):
        wrong = parse_module(through(size))
        assert decide(wrong, wrong, "exact").reason.startswith("not modelled: copy a")
    right = parse_module(through(4).replace("?", "4"))
    assert decide(right, right, "exact").verdict == "proved"
