"""Where an instruction takes or gives numbers of one precision for those of another, nothing is proved of its module:
the numbers are rounded there, and nothing says so. The same holds for values that are of another shape than who is
given them says. Beside each stands the same in one precision, or shape, which is read."""

from __future__ import annotations

from contextlib import suppress

import pytest
from red_pairs import entry

from hloproof.equivalence import decide
from hloproof.models.errors import InputError
from hloproof.models.hlo.opcodes import ELEMENTWISE, OPCODES
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


TOKEN = "t = token[] after-all()\n "
SQUARE = "q = f32[2,2] reshape(p)\n "
ONE = "replica_groups={{0}}"
NORMAL = "epsilon=0.1, feature_index=0"
ALONG = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
FURTHER = {
    "add-dependency": f"{TOKEN}a = KIND[4] add-dependency(p, t)",
    "all-gather": f"a = KIND[4] all-gather(p), dimensions={{0}}, {ONE}",
    "all-gather-start": f"a = (f32[4], KIND[4]) all-gather-start(p), dimensions={{0}}, {ONE}",
    "all-gather-done": f"s = (f32[4], f32[4]) all-gather-start(p), dimensions={{0}}, {ONE}\n"
    " a = KIND[4] all-gather-done(s)",
    "all-reduce-start": f"a = KIND[4] all-reduce-start(p), to_apply=f, {ONE}",
    "all-reduce-done": f"s = f32[4] all-reduce-start(p), to_apply=f, {ONE}\n a = KIND[4] all-reduce-done(s)",
    "all-to-all": f"a = (f32[4], KIND[4]) all-to-all(p, KIND), {ONE}",
    "batch-norm-grad": f"a = (f32[4], f32[4], f32[4]) batch-norm-grad(p, p, p, p, KIND), {NORMAL}",
    "batch-norm-inference": f"a = f32[4] batch-norm-inference(p, p, KIND, p, p), {NORMAL}",
    "batch-norm-training": f"a = (f32[4], KIND[4], f32[4]) batch-norm-training(p, p, p), {NORMAL}",
    "broadcast": "a = KIND[4,2] broadcast(p), dimensions={0}",
    "cholesky": f"{SQUARE}a = KIND[2,2] cholesky(q)",
    "collective-broadcast": f"a = KIND[4] collective-broadcast(p), {ONE}",
    "collective-permute": "a = KIND[4] collective-permute(p), source_target_pairs={{0,0}}",
    "collective-permute-start": "a = (KIND[4], f32[4]) collective-permute-start(p), source_target_pairs={{0,0}}",
    "collective-permute-done": "s = (f32[4], f32[4]) collective-permute-start(p), source_target_pairs={{0,0}}\n"
    " a = KIND[4] collective-permute-done(s)",
    "collective-reduce": f"a = KIND[4] collective-reduce(p), to_apply=f, {ONE}",
    "copy-start": "a = (KIND[4], f32[4], u32[]) copy-start(p)",
    "copy-done": "s = (f32[4], f32[4], u32[]) copy-start(p)\n a = KIND[4] copy-done(s)",
    "domain": 'a = KIND[4] domain(p), domain={kind="sharding", entry={replicated}, exit={replicated}}',
    "dynamic-reshape": "a = KIND[4] dynamic-reshape(p, number)",
    "dynamic-slice": "a = KIND[2] dynamic-slice(p, number), dynamic_slice_sizes={2}",
    "gather": f"i = s32[1,1] constant({{{{0}}}})\n a = KIND[1] gather(p, i), {ALONG}",
    "ragged-all-to-all": f"i = s64[1] constant({{0}})\n a = f32[4] ragged-all-to-all(p, KIND, i, i, i, i), {ONE}",
    "reduce-scatter": f"a = KIND[4] reduce-scatter(p), dimensions={{0}}, to_apply=f, {ONE}",
    "reverse": "a = KIND[4] reverse(p), dimensions={0}",
    "send": f"{TOKEN}a = (KIND[4], u32[], token[]) send(p, t), channel_id=1",
    "set-dimension-size": "a = KIND[<=4] set-dimension-size(p, number), dimensions={0}",
    "slice": "a = KIND[2] slice(p), slice={[0:2]}",
    "topk": "a = (KIND[2], s32[2]) topk(p), k=2, largest=true",
    "transpose": "a = KIND[4] transpose(p), dimensions={0}",
}
NOT_COMPARED = {
    **dict.fromkeys(("bitcast", "bitcast-convert", "convert"), "changes types"),
    **dict.fromkeys(("dot", "ragged-dot", "scaled-dot", "convolution"), "adds up in the type that it gives"),
    **dict.fromkeys(("rng", "rng-bit-generator", "rng-get-and-update-state"), "gives numbers of any type"),
    **dict.fromkeys(("infeed", "recv", "recv-done", "outfeed", "send-done"), "what is moved is no value of the module"),
    **dict.fromkeys(("constant", "parameter", "iota", "custom-call"), "of the type that is written"),
    **dict.fromkeys(("partition-id", "replica-id", "get-dimension-size", "after-all"), "no numbers of such types"),
    **dict.fromkeys(("shuffle", "scan"), "nothing is known of it"),
    "fft": "complex numbers of as many bits",
    **dict.fromkeys(("async-start", "async-update", "async-done"), "see below"),
}
"""What takes or gives other types on purpose, or no floating-point numbers."""


@pytest.mark.parametrize("opcode", FURTHER)
def test_further_operations_that_change_the_precision_are_found(opcode: str) -> None:
    for kind, found in (("f32", []), ("bf16", ["a"])):
        read = parse_module(module(f"{FURTHER[opcode]}\n r = f32[4] copy(p)", addition(), kind))
        assert [i.name for _, i in mixed(read)] == found


@pytest.mark.parametrize("opcode", sorted(ELEMENTWISE - {"convert", "stochastic-convert", "is-finite", "compare"}))
def test_elementwise_operations_of_two_precisions_are_found(opcode: str) -> None:
    count = OPCODES[opcode].fewest
    extra = ", exponent_bits=5, mantissa_bits=3" if opcode == "reduce-precision" else ""
    with suppress(InputError):  # of integers or predicates alone
        read = parse_module(module(f"a = KIND[4] {opcode}({', '.join(['p'] * count)}){extra}", "", "bf16"))
        assert [i.name for _, i in mixed(read)] == ["a"]


def test_every_operation_is_compared_or_named() -> None:
    text = " ".join(line for line, _ in ROWS.values())
    shown = {opcode for opcode in OPCODES if f" {opcode}(" in text}
    assert shown | FURTHER.keys() | NOT_COMPARED.keys() | ELEMENTWISE == OPCODES.keys()
    assert not FURTHER.keys() & NOT_COMPARED.keys()


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
