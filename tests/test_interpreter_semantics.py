"""Floating-point formats, the hashed and counted semantics, maps point by point, and `hloproof run`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xla_cases import all_cases

from hloproof.cli import run as command_line
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.maps import points, reader, relation
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine, run_module
from hloproof.models.interpreter.semantics import small_float
from hloproof.models.interpreter.semantics.counted import Counted, reads, tags
from hloproof.models.interpreter.semantics.hashed import PRIME, Hashed
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.semantics.semantics import Scalars
from hloproof.models.interpreter.value import Array
from hloproof.models.maps.text import parse_map

SHARED = Path(__file__).parents[1].parent / "shared" / "corpus" / "jax-cpu"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("bf16", 1.00390625, 1.0),
        ("bf16", 1.01171875, 1.015625),
        ("f16", 65520.0, math.inf),
        ("f16", 65519.0, 65504.0),
        ("f8e5m2", 61439.0, 57344.0),
        ("f8e5m2", 61440.0, math.inf),
        ("f8e4m3fn", 464.0, 448.0),
        ("f8e4m3fn", 465.0, math.nan),
        ("f8e4m3fnuz", -0.0, 0.0),
        ("f8e4m3fnuz", 1e9, math.nan),
        ("f4e2m1fn", 2.5, 2.0),
        ("f4e2m1fn", 100.0, 6.0),
        ("f8e8m0fnu", 3.1, 4.0),
        ("f32", 1e300, math.inf),
        ("f32", 0.1, 0.10000000149011612),
    ],
)
def test_rounding_to_nearest_even(kind: str, value: float, expected: float) -> None:
    found = small_float.rounding(kind)(value)
    assert (math.isnan(found) and math.isnan(expected)) or str(found) == str(expected)


@pytest.mark.parametrize("kind", sorted(small_float.FLOATS - {"f32", "f64"}))
def test_bits_and_numbers_are_inverse(kind: str) -> None:
    width = small_float.SMALL[kind].bits if kind in small_float.SMALL else 16
    for code in range(1 << width):
        value = small_float.from_bits(kind, code)
        assert math.isnan(value) or small_float.to_bits(kind, value) == code
        assert math.isnan(value) or small_float.rounding(kind)(value) == value


@given(st.sampled_from(sorted(small_float.SMALL)), st.floats(-1e6, 1e6, allow_nan=False))
def test_no_number_of_the_format_is_nearer(kind: str, value: float) -> None:
    found = small_float.rounding(kind)(value)
    codes = (small_float.from_bits(kind, c) for c in range(1 << small_float.SMALL[kind].bits))
    finite = [v for v in codes if math.isfinite(v)]
    if math.isfinite(found):
        assert all(abs(found - value) <= abs(v - value) for v in finite)


def both(first: str, second: str, semantics: Any = "hashed", seed: int = 3) -> tuple[Any, Any]:
    return tuple(run_module(parse_module(t), semantics=semantics, seed=seed) for t in (first, second))


def entry(body: str) -> str:
    return (
        f"HloModule m\nadd {{\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y)\n}}\n"
        f"ENTRY e {{\n p = f32[4,6] parameter(0)\n q = f32[4,6] parameter(1)\n z = f32[] constant(0)\n{body}\n}}\n"
    )


SAME = [
    (" ROOT r = f32[4,6] add(p, q)", " ROOT r = f32[4,6] add(q, p)"),
    (
        " ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=add",
        " a = f32[4] reduce(p, z), dimensions={1}, to_apply=add\n"
        " ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
    ),
    (
        " c = f32[] constant(9)\n b = f32[4,6] broadcast(c), dimensions={}\n ROOT r = f32[4,6] divide(p, b)",
        " c = f32[] constant(0.111111112)\n b = f32[4,6] broadcast(c), dimensions={}\n"
        " ROOT r = f32[4,6] multiply(p, b)",
    ),
    (" h = bf16[4,6] convert(p)\n ROOT r = f32[4,6] convert(h)", " ROOT r = f32[4,6] copy(p)"),
    (
        " t = f32[6,4] transpose(p), dimensions={1,0}\n ROOT r = f32[4,4] dot(p, q), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={1}",
        " t = f32[6,4] transpose(q), dimensions={1,0}\n ROOT r = f32[4,4] dot(p, t), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        " m = f32[4,6] maximum(p, q)\n ROOT r = f32[4,6] exponential(m)",
        " m = f32[4,6] maximum(q, p)\n ROOT r = f32[4,6] exponential(m)",
    ),
]
DIFFERENT = [
    (" ROOT r = f32[4,6] subtract(p, q)", " ROOT r = f32[4,6] subtract(q, p)"),
    (" ROOT r = f32[4,6] reverse(p), dimensions={0}", " ROOT r = f32[4,6] reverse(p), dimensions={1}"),
    (
        " ROOT r = f32[] reduce(p, z), dimensions={0,1}, to_apply=add",
        " s = f32[4,5] slice(p), slice={[0:4], [0:5]}\n ROOT r = f32[] reduce(s, z), dimensions={0,1}, to_apply=add",
    ),
    (" ROOT r = f32[4,6] maximum(p, q)", " ROOT r = f32[4,6] maximum(p, p)"),
    (" ROOT r = f32[4,6] sine(p)", " ROOT r = f32[4,6] cosine(p)"),
    (
        ' ROOT r = f32[4] custom-call(p), custom_call_target="f"',
        ' ROOT r = f32[4] custom-call(p), custom_call_target="g"',
    ),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_what_only_rounds_differently_hashes_alike(first: str, second: str) -> None:
    a, b = both(entry(first), entry(second))
    assert a == b


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_other_elements_or_functions_hash_differently(first: str, second: str) -> None:
    a, b = both(entry(first), entry(second))
    assert a != b


@pytest.mark.parametrize(
    "opcode", ["reshape", "transpose", "pad", "gather-s32", "sort", "convolution-everything", "fft"]
)
def test_every_operation_runs_hashed(opcode: str) -> None:
    for name, text in all_cases():
        if name.startswith(opcode):
            run_module(parse_module(text), semantics="hashed")


def test_one_moved_element_changes_the_hashes_of_a_real_program() -> None:
    if not SHARED.is_dir():
        pytest.skip("the corpus is not beside the project")
    text = (SHARED / "pixel_shuffle" / "before.hlo").read_text()
    after = (SHARED / "pixel_shuffle" / "after.hlo").read_text()
    a, b = both(text, after)
    assert a == b
    wrong = text.replace("dimensions={0,1,4,2,5,3}", "dimensions={0,1,4,3,5,2}").replace(
        "dimensions={0,3,1,4,2,5}", "dimensions={0,3,1,4,5,2}"
    )
    if wrong != text:
        with pytest.raises(Exception):  # noqa: B017 - the shapes no longer fit
            parse_module(wrong)


def test_counted_says_how_often_each_element_is_read() -> None:
    text = (
        "HloModule m\nENTRY e {\n p = f32[1,3,1] parameter(0)\n k = f32[2,1,1] parameter(1)\n"
        " ROOT r = f32[1,3,1] convolution(p, k), window={size=2 pad=0_1}, dim_labels=b0f_0io->b0f\n}\n"
    )
    machine = Machine(parse_module(text), Counted(), Devices(), 0)
    (result,) = machine.run([(Array("f32", (1, 3, 1), tags(5)[:3]), Array("f32", (2, 1, 1), tags(5)[3:]))])
    assert isinstance(result, Array)
    assert [reads(v, 5) for v in result.data] == [[1, 1, 0, 1, 1], [0, 1, 1, 1, 1], [0, 0, 1, 1, 1]]


def test_points_of_a_map() -> None:
    m = parse_map("(d0)[s0] -> (d0 + s0, s0 mod 2), domain: d0 in [0, 2], s0 in [0, 3], d0 + s0 in [1, 3]")
    assert list(points(m, (0,))) == [((1,), (1, 1), ()), ((2,), (2, 0), ()), ((3,), (3, 1), ())]
    assert list(points(m, (3,))) == []
    assert sum(relation(m).values()) == 8
    assert relation(parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 4]")) == {
        ((0,), (0,)): 5,
        ((1,), (1,)): 5,
    }


def test_division_by_zero_is_undefined_at_the_point() -> None:
    m = parse_map("(d0) -> (5 floordiv d0), domain: d0 in [0, 2]")
    assert [r for _, r, _ in points(m, (2,))] == [(2,)]
    with pytest.raises(UndefinedValue):
        list(points(m, (0,)))


def test_runtime_variables_are_read_and_clamped() -> None:
    m = parse_map(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 1], rt0 in [0, 3], "
        "runtime variables: rt0: operand(1); (d0) -> (d0), "
        "domain: d0 in [0, 1]"
    )
    read = reader(m, {"operand(1)": Array("s32", (2,), [-5, 9])})
    assert [next(points(m, (d,), read))[1] for d in (0, 1)] == [(0,), (4,)]


def test_the_command_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, inputs = tmp_path / "m.hlo", tmp_path / "in.json"
    module.write_text(
        "HloModule m\nENTRY e {\n p = c64[2] parameter(0)\n q = s32[] parameter(1)\n"
        " ROOT r = (c64[2], s32[]) tuple(p, q)\n}\n"
    )
    inputs.write_text("[[[1, 2], [3, 4]], 5]")
    assert command_line(["run", str(module), "--inputs", str(inputs)]) == 0
    assert json.loads(capsys.readouterr().out) == [[[1.0, 2.0], [3.0, 4.0]], 5]
    assert command_line(["run", str(module), "--semantics", "hashed", "--seed", "5"]) == 0
    hashed = json.loads(capsys.readouterr().out)
    assert all(0 <= part < PRIME for pair in hashed[0] for part in pair)
    inputs.write_text("[1]")
    assert command_line(["run", str(module), "--inputs", str(inputs)]) == 2


def test_the_command_answers_3_for_what_is_not_modelled(tmp_path: Path) -> None:
    module = tmp_path / "m.hlo"
    module.write_text('HloModule m\nENTRY e {\n ROOT r = f32[2] custom-call(), custom_call_target="unheard-of"\n}\n')
    assert command_line(["run", str(module)]) == 3
    assert command_line(["run", str(module), "--semantics", "hashed"]) == 0


@pytest.mark.skipif(not SHARED.is_dir(), reason="the corpus is not beside the project")
@pytest.mark.parametrize(
    "name", ["bit_pack", "embedding", "fori_cond_switch", "moe_topk", "rope_interleaved", "sort_misc"]
)
@pytest.mark.parametrize("semantics", ["real", "hashed"])
def test_a_compiled_program_computes_what_it_did(name: str, semantics: Any) -> None:
    before, after = ((SHARED / name / f"{when}.hlo").read_text() for when in ("before", "after"))
    a, b = both(before, after, semantics)
    if semantics == "real":
        assert list(numbers(a)) == pytest.approx(list(numbers(b)), rel=1e-4, abs=1e-5)
    elif name != "sort_misc":  # there a function of constants is folded with rounding
        assert a == b


def numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers(part)
    else:
        yield value


def test_a_named_mathematical_function_is_computed() -> None:
    call = 'custom-call(p), custom_call_target="xla_builder.math.Acosh"'
    text = f"HloModule m\nENTRY e {{\n p = f32[] parameter(0)\n ROOT r = f32[] {call}\n}}\n"
    assert run_module(parse_module(text), [2.0]) == pytest.approx(math.acosh(2.0))


@pytest.mark.parametrize(
    ("target", "given", "gives"),
    [
        ("Sharding", "f32[2,3]", "f32[3,2]"),
        ("Sharding", "f32[2,3]", "s32[2,3]"),
        ("Sharding", "f32[2,3]", "(f32[2,3])"),
        ("MoveToHost", "f32[2,3]", "f32[9,3]"),
        ("Sharding", "(f32[2])", "f32[2]"),
        ("Sharding", "(f32[2], f32[2])", "(f32[2])"),
        ("Sharding", "(f32[2])", "(f32[2], f32[2])"),
        ("Sharding", "f32[2]", "token[]"),
        ("Sharding", "(f32[2], token[])", "(f32[2], f32[2])"),
        ("xla_builder.math.convert", "f32[3]", "f32[3]"),
        ("xla_builder.math.real", "f32[3]", "f32[3]"),
        ("xla_builder.math.reduce-precision", "f32[3]", "f32[3]"),
        ("xla_builder.math.popcnt", "s32[3]", "s32[3]"),
        ("xla_builder.math.abs", "f32[2,3]", "s32[2,3]"),
        ("xla_builder.math.abs", "f32[2,3]", "f32[3,2]"),
        ("xla_builder.math.abs", "c64[3]", "c64[3]"),
        ("xla_builder.math.sqrt", "s32[3]", "s32[3]"),
        ("xla_builder.math.not", "f32[3]", "f32[3]"),
        ("xla_builder.math.add", "f32[3]", "f32[3]"),
        ("xla_builder.math.is-finite", "f32[3]", "pred[3]"),
        ("__cudnn$convForward", "f32[3]", "f32[3]"),
    ],
)
def test_a_call_whose_result_is_not_what_it_stands_for_is_not_run(target: str, given: str, gives: str) -> None:
    """The compiler takes any shape of a call; there were errors of Python's, and numbers of another shape."""
    text = f"HloModule m\nENTRY e {{\n p = {given} parameter(0)\n"
    text += f' ROOT r = {gives} custom-call(p), custom_call_target="{target}"\n}}\n'
    with pytest.raises(NotModelled):
        run_module(parse_module(text))


@pytest.mark.parametrize("target", ["Tan", "tan", "math.Tan", "sharding"])
def test_a_call_of_another_name_is_none_of_these(target: str) -> None:
    text = "HloModule m\nENTRY e {\n p = f32[] parameter(0)\n"
    text += f' ROOT r = f32[] custom-call(p), custom_call_target="{target}"\n}}\n'
    with pytest.raises(NotModelled, match="is not known"):
        run_module(parse_module(text), [1.0])


@pytest.mark.parametrize("target", ["Sharding", "MoveToHost", "xla_builder.math.Tan"])
def test_nor_is_one_that_is_given_more(target: str) -> None:
    text = "HloModule m\nENTRY e {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n"
    text += f' ROOT r = f32[] custom-call(p, q), custom_call_target="{target}"\n}}\n'
    with pytest.raises(NotModelled, match="is not known"):
        run_module(parse_module(text), [1.0, 2.0])


def test_a_function_by_name_beside_which_something_is_not_known_is_not_run() -> None:
    call = 'custom-call(p), custom_call_target="xla_builder.math.Tan"'
    text = f"HloModule m\nENTRY e {{\n p = f32[] parameter(0)\n ROOT r = f32[] {call}MORE\n}}\n"
    assert run_module(parse_module(text.replace("MORE", "")), [1.0]) == pytest.approx(math.tan(1.0))
    with pytest.raises(NotModelled):
        run_module(parse_module(text.replace("MORE", ', backend_config="foo"')), [1.0])


@pytest.mark.parametrize(
    ("operation", "kind", "given", "expected"),
    [
        ("ceil(p)", "f8e3m4", 15.5, math.inf),
        ("floor(p)", "f8e3m4", -15.5, -math.inf),
        ("floor(p)", "f8e3m4", -15.0, -15.0),
        ("negate(p)", "f8e4m3fnuz", 0.0, 0.0),
        ("negate(p)", "f8e4m3", 0.0, -0.0),
        ("negate(p)", "f8e8m0fnu", 2.0, math.nan),
        ("subtract(p, p)", "f8e8m0fnu", 2.0, math.nan),
        ("reduce-precision(p), exponent_bits=2, mantissa_bits=1", "f8e4m3fn", 4.0, math.nan),
        ("reduce-precision(p), exponent_bits=2, mantissa_bits=1", "f8e4m3", 4.0, math.inf),
        ("reduce-precision(p), exponent_bits=2, mantissa_bits=1", "f4e2m1fn", 4.0, 6.0),
        ("reduce-precision(p), exponent_bits=8, mantissa_bits=0", "f16", 57344.0, math.inf),
        ("reduce-precision(p), exponent_bits=8, mantissa_bits=0", "f32", 57344.0, 65536.0),
    ],
)
def test_results_of_narrow_floats_are_numbers_of_their_type(
    operation: str, kind: str, given: float, expected: float
) -> None:
    """What the real compiler gives on parameters; a type without infinities has NaN, or its largest number."""
    module = parse_module(
        f"HloModule m\n\nENTRY e {{\n  p = {kind}[1] parameter(0)\n  ROOT r = {kind}[1] {operation}\n}}\n"
    )
    (found,) = run_module(module, [[given]])
    assert (
        math.isnan(found)
        if math.isnan(expected)
        else (found, math.copysign(1, found)) == (expected, math.copysign(1, expected))
    )


def test_exponents_are_ordered_by_their_bits() -> None:
    module = parse_module(
        "HloModule m\n\nENTRY e {\n  p = f8e8m0fnu[3] parameter(0)\n  q = f8e8m0fnu[3] parameter(1)\n"
        "  ROOT r = pred[3] compare(p, q), direction=LT, type=TOTALORDER\n}\n"
    )
    assert run_module(module, [[0.5, 2.0, 4.0], [2.0**100, 0.5, math.nan]]) == [True, False, True]


@pytest.mark.parametrize(
    ("steps", "left"), [("s0 in [2, 3]", [(2,), (3,)]), ("s0 in [0, 3], s0 mod 2 in [1, 1]", [(1,), (3,)])]
)
def test_a_map_has_no_point_where_its_steps_between_devices_lead_nowhere(
    steps: str, left: list[tuple[int, ...]]
) -> None:
    replica = f"replica id: (d0)[s0] -> (s0), domain: d0 in [0, 0], {steps}"
    m = parse_map(f"(d0)[s0] -> (d0), domain: d0 in [0, 0], s0 in [0, 3]\n{replica}")
    assert [at for at, _, _ in points(m, (0,))] == left


@pytest.mark.parametrize("scalars", [Real(), Hashed()], ids=["real", "hashed"])
@pytest.mark.parametrize("operation", ["clamp(a, b, a)", "compare(a, b), direction=LT"])
def test_complex_numbers_have_no_order(operation: str, scalars: Scalars) -> None:
    kind = "pred[2]" if operation.startswith("compare") else "c64[2]"
    text = (
        f"HloModule m\nENTRY e {{\n a = c64[2] parameter(0)\n b = c64[2] parameter(1)\n ROOT r = {kind} {operation}\n}}"
    )
    machine = Machine(parse_module(text), scalars, Devices(1, 1), 0)
    given = machine.read_inputs([[[1, 2], [3, 4]], [[0, 0], [1, 1]]])
    with pytest.raises(NotModelled):
        machine.run([given])


def test_complex_numbers_are_equal_or_not() -> None:
    text = "HloModule m\nENTRY e {\n a = c64[2] parameter(0)\n ROOT r = pred[2] compare(a, a), direction=DIRECTION\n}"
    for scalars in (Real(), Hashed()):
        for direction in ("EQ", "NE"):
            machine = Machine(parse_module(text.replace("DIRECTION", direction)), scalars, Devices(1, 1), 0)
            (found,) = machine.run([machine.read_inputs([[[1, 2], [3, 4]]])])
            assert isinstance(found, Array) and found.data == [direction == "EQ"] * 2
