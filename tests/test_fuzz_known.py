"""What a campaign takes for a defect that the ledger has: that defect, and no neighbour of it."""

from __future__ import annotations

import pytest

from hloproof.fuzz.compiler.known import KNOWN, known

RESULT = "compiler: another result than the interpreter's"
FOLDED = "compiler: constants are folded to something else"
DIES = "compiler: the process ends"
REFUSES = "compiler: it refuses its own module"
BREAKS = "compiler: internal error"
ADD = "add {\n  x = KIND[] parameter(0)\n  y = KIND[] parameter(1)\n  ROOT z = KIND[] add(x, y)\n}\n"
LESS = (
    "less {\n  x = KIND[] parameter(0)\n  y = KIND[] parameter(1)\n  ROOT z = pred[] compare(x, y), direction=LT\n}\n"
)
TWO = (
    "less {\n  a = KIND[] parameter(0)\n  b = KIND[] parameter(1)\n  c = s8[] parameter(2)\n  d = s8[] parameter(3)\n"
    "  ROOT z = pred[] compare(a, b), direction=LT\n}\n"
)
STEP = "step {\n  x = f32[] parameter(0)\n  ROOT t = (f32[]) tuple(x)\n}\n"

# name, cause, what is said, the lines of the entry; what is put in place of what makes a neighbour of it
CASES: list[tuple[str, str, str, str, str, str]] = [
    (
        "size-beyond-the-bound",
        DIES,
        "",
        "p = f32[4] parameter(0); n = s32[] parameter(1); ROOT r = f32[<=4] set-dimension-size(p, n), dimensions={0}",
        "s32[] parameter(1)",
        "s32[] constant(3)",
    ),
    (
        "concatenate-of-two-bits",
        DIES,
        "",
        "p = u2[3] parameter(0); ROOT r = u2[6] concatenate(p, p), dimensions={0}",
        "u2",
        "u4",
    ),
    (
        "sort-of-two-bits",
        RESULT,
        "",
        "p = s2[3] parameter(0); ROOT r = s2[3] sort(p), dimensions={0}, to_apply=less",
        "s2",
        "s8",
    ),
    ("popcnt-of-four-bits", RESULT, "", "p = s4[3] parameter(0); ROOT r = s4[3] popcnt(p)", "s4", "u4"),
    (
        "power-of-large-exponents",
        RESULT,
        "",
        "p = s32[] parameter(0); c = s32[] constant(64); ROOT r = s32[] power(p, c)",
        "constant(64)",
        "constant(63)",
    ),
    (
        "nested-dynamic-slices",
        "compiler: pass algsimp is refuted",
        "",
        "p = f32[8] parameter(0); i = s32[] parameter(1); a = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}; "
        "ROOT r = f32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}",
        "f32[2] dynamic-slice(a, i)",
        "f32[2] dynamic-slice(p, i)",
    ),
    (
        "update-in-place-through-a-bitcast",
        RESULT,
        "",
        "p = f32[2,4] parameter(0); i = s32[] parameter(1); a = f32[8] reshape(p); b = f32[2] slice(a), slice={[0:2]}; "
        "ROOT r = f32[8] dynamic-update-slice(a, b, i)",
        "slice(a), slice={[0:2]}",
        "constant({1,2})",
    ),
    (
        "scatter-of-two-into-one",
        BREAKS,
        "Expected instruction to have shape equal",
        "p = f32[] parameter(0); i = s32[2,0] parameter(1); u = f32[2] parameter(2); ROOT r = f32[] scatter(p, i, u), "
        "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
        "index_vector_dim=1, to_apply=add",
        "f32[] parameter(0)",
        "",
    ),
    (
        "dot-of-four-bits",
        REFUSES,
        "custom element sizes",
        "p = s4[3] parameter(0); ROOT r = s32[] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "s4",
        "s8",
    ),
    (
        "top-k-of-four-bits",
        REFUSES,
        "custom element sizes",
        "p = s4[6] parameter(0); ROOT r = (s4[2], s32[2]) topk(p), k=2, largest=true",
        "s4",
        "s8",
    ),
    (
        "scan-of-nothing",
        REFUSES,
        "after scan_expander",
        "p = f32[0] parameter(0); ROOT r = (f32[0]) scan(p), dimensions={0}, num_carries=0, to_apply=step",
        "f32[0]",
        "f32[1]",
    ),
    (
        "sort-of-two-element-sizes",
        BREAKS,
        "must have the same shape",
        "p = s4[3] parameter(0); q = s8[3] parameter(1); "
        "ROOT r = (s4[3], s8[3]) sort(p, q), dimensions={0}, to_apply=less",
        "s4",
        "s16",
    ),
    (
        "pad-on-devices",
        f"{DIES}, on several devices",
        "",
        "p = f32[2] parameter(0); z = f32[] constant(0); ROOT r = f32[5] pad(p, z), padding=-1_2_2",
        "f32[5] pad(p, z), padding=-1_2_2",
        "f32[7] pad(p, z), padding=1_2_2",
    ),
    ("integer-of-a-four-bit-float", RESULT, "", "p = f4e2m1fn[2] parameter(0); ROOT r = s8[2] convert(p)", "s8", "f32"),
    (
        "round-of-folded-f8e3m4",
        FOLDED,
        "",
        "p = f8e3m4[2] parameter(0); ROOT r = f8e3m4[2] round-nearest-even(p)",
        "f8e3m4",
        "f8e4m3",
    ),
    (
        "reduce-precision-of-a-folded-nan",
        FOLDED,
        "inf, not nan",
        "p = f32[2] parameter(0); ROOT r = f32[2] reduce-precision(p), exponent_bits=8, mantissa_bits=0",
        "reduce-precision(p), exponent_bits=8, mantissa_bits=0",
        "negate(p)",
    ),
    (
        "subnormal-halves-of-reduced-precision",
        FOLDED,
        "",
        "p = f16[2] parameter(0); ROOT r = f16[2] reduce-precision(p), exponent_bits=5, mantissa_bits=10",
        "f16",
        "f32",
    ),
    (
        "folded-exponents-have-no-sign",
        FOLDED,
        "",
        "p = f32[2] parameter(0); ROOT r = f8e8m0fnu[2] convert(p)",
        "f8e8m0fnu",
        "f8e5m2",
    ),
    (
        "folded-infinity-as-a-four-bit-float",
        FOLDED,
        "",
        "p = f32[2] parameter(0); ROOT r = f4e2m1fn[2] convert(p)",
        "f4e2m1fn",
        "f8e5m2",
    ),
    (
        "folded-nan-of-exponents",
        FOLDED,
        "inf, not nan",
        "p = f8e8m0fnu[2] parameter(0); ROOT r = f32[2] convert(p)",
        "f8e8m0fnu",
        "f16",
    ),
    (
        "folded-total-order",
        FOLDED,
        "",
        "p = f32[2] parameter(0); ROOT r = pred[2] compare(p, p), direction=LT, type=TOTALORDER",
        ", type=TOTALORDER",
        "",
    ),
    (
        "leading-zeros-of-folded-negatives",
        FOLDED,
        "",
        "p = s32[2] parameter(0); ROOT r = s32[2] count-leading-zeros(p)",
        "s32",
        "u32",
    ),
    ("popcnt-of-folded-two-bits", FOLDED, "", "p = s2[2] parameter(0); ROOT r = s2[2] popcnt(p)", "s2", "u2"),
    (
        "power-of-folded-negative-exponents",
        FOLDED,
        "",
        "p = s32[2] parameter(0); ROOT r = s32[2] power(p, p)",
        "s32",
        "u32",
    ),
    (
        "clamp-of-folded-predicates",
        FOLDED,
        "",
        "p = pred[2] parameter(0); ROOT r = pred[2] clamp(p, p, p)",
        "pred",
        "s32",
    ),
    (
        "division-of-constants-by-zero",
        f"{DIES}, of constants",
        "",
        "p = s32[2] parameter(0); ROOT r = s32[2] divide(p, p)",
        "s32",
        "f32",
    ),
    (
        "argmax-of-two-bits",
        BREAKS,
        "reduce_decomposer.cc",
        "p = s2[4] parameter(0); q = s8[4] parameter(1); a = s2[] constant(0); b = s8[] constant(0); "
        "ROOT r = (s2[], s8[]) reduce(p, q, a, b), dimensions={0}, to_apply=both",
        "s2",
        "s32",
    ),
    (
        "update-beyond-the-end-on-devices",
        f"{RESULT}, on several devices",
        "",
        "p = f32[4] parameter(0); q = f32[1] parameter(1); i = s32[] parameter(2); "
        "ROOT r = f32[4] dynamic-update-slice(p, q, i)",
        "s32[] parameter(2)",
        "s32[] constant(3)",
    ),
    (
        "set-of-a-concatenation-on-devices",
        f"{RESULT}, on several devices",
        "",
        "p = f32[4] parameter(0); c = f32[8] concatenate(p, p), dimensions={0}; i = s32[1] parameter(1); "
        "u = f32[] parameter(2); ROOT r = f32[8] scatter(c, i, u), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add",
        "concatenate(p, p), dimensions={0}",
        "parameter(3)",
    ),
    (
        "gradient-of-max-pool-on-devices",
        f"{RESULT}, on several devices",
        "",
        "p = f32[4] parameter(0); q = f32[3] parameter(1); z = f32[] constant(0); "
        "ROOT r = f32[4] select-and-scatter(p, q, z), window={size=2 stride=1}, select=less, scatter=add",
        "window={size=2 stride=1}",
        "window={size=2 stride=2}",
    ),
]


def _module(lines: str, kind: str) -> str:
    """The entry, with the computations that it may call, their elements of the first parameter's type."""
    both = (
        "both {\n  a = KIND[] parameter(0)\n  b = s8[] parameter(1)\n  c = KIND[] parameter(2)\n"
        "  d = s8[] parameter(3)\n  ROOT t = (KIND[], s8[]) tuple(a, b)\n}\n"
    )
    less = TWO if "sort(p, q)" in lines else LESS
    called = {"add": ADD, "less": less, "both": both, "step": STEP}
    bodies = "".join(text for name, text in called.items() if f"={name}" in lines)
    body = "".join(f"  {line}\n" for line in lines.split("; "))
    return f"HloModule m\n\n{bodies.replace('KIND', kind)}ENTRY e {{\n{body}}}\n"


@pytest.mark.parametrize(("name", "cause", "said", "lines", "wrong", "right"), CASES, ids=[c[0] for c in CASES])
def test_a_defect_is_known_and_its_neighbour_is_not(
    name: str, cause: str, said: str, lines: str, wrong: str, right: str
) -> None:
    kind = lines.split("= ", 1)[1].split("[", 1)[0]
    assert known(cause, said, _module(lines, kind)) == name
    assert known("compiler: something else", said, _module(lines, kind)) is None
    if right or wrong.startswith(","):
        other = lines.replace(wrong, right)
        found = known(cause, said, _module(other, other.split("= ", 1)[1].split("[", 1)[0]))
        assert found is None, found


def test_every_known_defect_has_a_case() -> None:
    assert {c[0] for c in CASES} == {k.name for k in KNOWN}


def test_what_is_no_module_is_not_known() -> None:
    assert known(RESULT, "", "p = s2[3] sort(") is None
