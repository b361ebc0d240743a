"""Small modules, one per operation and corner, for the comparison with the real compiler and between semantics."""

from __future__ import annotations

from collections.abc import Iterator

INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f32", "f64", "f16", "bf16")

_BINARY = {
    "add": (*INTEGERS, *FLOATS, "c64"),
    "subtract": (*INTEGERS, *FLOATS, "c64"),
    "multiply": (*INTEGERS, *FLOATS, "c64"),
    "divide": (*INTEGERS, *FLOATS, "c64"),
    "remainder": (*INTEGERS, "f32", "f64"),
    "maximum": (*INTEGERS, *FLOATS),
    "minimum": (*INTEGERS, *FLOATS),
    "power": ("f32", "f64", "s32", "u32"),
    "and": (*INTEGERS, "pred"),
    "or": (*INTEGERS, "pred"),
    "xor": (*INTEGERS, "pred"),
    "shift-left": INTEGERS,
    "shift-right-logical": INTEGERS,
    "shift-right-arithmetic": INTEGERS,
    "atan2": ("f32", "f64"),
}
_UNARY = {
    "abs": ("s8", "s32", "s64", *FLOATS),
    "negate": (*INTEGERS, *FLOATS, "c64"),
    "sign": ("s8", "s32", *FLOATS),
    "not": (*INTEGERS, "pred"),
    "popcnt": INTEGERS,
    "count-leading-zeros": INTEGERS,
    **dict.fromkeys(
        (
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "logistic",
            "tanh",
            "cosine",
            "sine",
            "sqrt",
            "rsqrt",
            "tan",
        ),
        ("f32", "f64", "c64"),
    ),
    **dict.fromkeys(("cbrt", "floor", "ceil", "round-nearest-even", "round-nearest-afz"), FLOATS),
    "erf": ("f32", "f64"),
}
_CONVERTED = ("pred", "s8", "u8", "s32", "u32", "s64", "f16", "bf16", "f32", "f64", "f8e4m3fn", "f8e5m2", "s4", "u4")


def module(body: str, before: str = "") -> str:
    return f"HloModule case\n\n{before}\nENTRY e {{\n{body}\n}}\n"


def elementwise() -> Iterator[tuple[str, str]]:
    """Name and text of each case."""
    for opcode, kinds in _BINARY.items():
        for kind in kinds:
            yield (
                f"{opcode}-{kind}",
                module(
                    f"  a = {kind}[7,9] parameter(0)\n  b = {kind}[7,9] parameter(1)\n"
                    f"  ROOT r = {kind}[7,9] {opcode}(a, b)"
                ),
            )
    for opcode, kinds in _UNARY.items():
        for kind in kinds:
            yield f"{opcode}-{kind}", module(f"  a = {kind}[63] parameter(0)\n  ROOT r = {kind}[63] {opcode}(a)")
    for source in _CONVERTED:
        for target in _CONVERTED:
            yield (
                f"convert-{source}-{target}",
                module(f"  a = {source}[40] parameter(0)\n  ROOT r = {target}[40] convert(a)"),
            )
    for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        for kind in ("pred", "s8", "u8", "f32"):
            yield (
                f"compare-{direction}-{kind}",
                module(
                    f"  a = {kind}[64] parameter(0)\n  b = {kind}[64] parameter(1)\n"
                    f"  ROOT r = pred[64] compare(a, b), direction={direction}"
                ),
            )


_ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
_MAX = "max {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] maximum(x, y)\n}\n"
_ADD_S32 = "add {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] add(x, y)\n}\n"
_MINUS = "minus {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] subtract(x, y)\n}\n"
_SECOND = "second {\n  x = f32[] parameter(0)\n  ROOT y = f32[] parameter(1)\n}\n"
_GE = "ge {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = pred[] compare(x, y), direction=GE\n}\n"
_LESS = (
    "less {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = f32[] parameter(2)\n  d = f32[] parameter(3)\n"
    "  ROOT z = pred[] compare(a, b), direction=LT\n}\n"
)
_ARGMAX = (
    "argmax {\n  a = f32[] parameter(0)\n  i = s32[] parameter(1)\n  b = f32[] parameter(2)\n  j = s32[] parameter(3)\n"
    "  g = pred[] compare(a, b), direction=GE\n  v = f32[] select(g, a, b)\n  k = s32[] select(g, i, j)\n"
    "  ROOT t = (f32[], s32[]) tuple(v, k)\n}\n"
)


def structural() -> Iterator[tuple[str, str]]:
    """Operations with a shape of their own."""
    p = "  p = f32[4,6] parameter(0)\n"
    z = "  z = f32[] constant(0)\n"
    yield "broadcast", module(p + "  ROOT r = f32[4,3,6] broadcast(p), dimensions={0,2}")
    yield (
        "broadcast-twisted",
        module(
            p + "  t = f32[6,4] transpose(p), dimensions={1,0}\n  ROOT r = f32[6,2,4] broadcast(t), dimensions={0,2}"
        ),
    )
    yield "reshape", module(p + "  ROOT r = f32[3,8] reshape(p)")
    yield "reshape-to-ones", module(p + "  ROOT r = f32[1,24,1] reshape(p)")
    yield "transpose", module("  p = f32[2,3,4] parameter(0)\n  ROOT r = f32[4,2,3] transpose(p), dimensions={2,0,1}")
    yield "reverse", module(p + "  ROOT r = f32[4,6] reverse(p), dimensions={1}")
    yield "slice", module(p + "  ROOT r = f32[2,2] slice(p), slice={[1:4:2], [0:5:3]}")
    yield "pad", module(p + z + "  ROOT r = f32[6,13] pad(p, z), padding=1_1x2_0_1")
    yield "pad-negative", module(p + z + "  ROOT r = f32[2,9] pad(p, z), padding=-1_-1x-1_-1_1")
    yield "pad-crops-a-hole", module("  p = f32[3] parameter(0)\n" + z + "  ROOT r = f32[4] pad(p, z), padding=-2_-1_2")
    yield (
        "concatenate",
        module(p + "  q = f32[4,1] parameter(1)\n  ROOT r = f32[4,13] concatenate(p, q, p), dimensions={1}"),
    )
    for kind in ("s32", "u8", "f32", "bf16", "c64"):
        yield f"iota-{kind}", module(f"  ROOT r = {kind}[3,4,2] iota(), iota_dimension=1")
    yield "zero-size", module("  p = f32[0,6] parameter(0)\n  ROOT r = f32[3,0] reshape(p)")
    yield "zero-size-pad", module("  p = f32[0] parameter(0)\n" + z + "  ROOT r = f32[3] pad(p, z), padding=1_2_5")
    for kind in ("s32", "u32", "s8", "u8", "s64"):
        yield (
            f"dynamic-slice-{kind}",
            module(
                p + f"  i = {kind}[] parameter(1)\n  j = {kind}[] parameter(2)\n"
                "  ROOT r = f32[2,3] dynamic-slice(p, i, j), dynamic_slice_sizes={2,3}"
            ),
        )
        yield (
            f"dynamic-update-slice-{kind}",
            module(
                p + f"  u = f32[2,3] parameter(1)\n  i = {kind}[] parameter(2)\n  j = {kind}[] parameter(3)\n"
                "  ROOT r = f32[4,6] dynamic-update-slice(p, u, i, j)"
            ),
        )
    yield (
        "clamp-scalar-bounds",
        module(p + "  l = f32[] constant(-0.5)\n  h = f32[] constant(0.5)\n  ROOT r = f32[4,6] clamp(l, p, h)"),
    )
    yield "bitcast-convert-narrow", module("  p = f32[5] parameter(0)\n  ROOT r = u8[5,4] bitcast-convert(p)")
    yield "bitcast-convert-wide", module("  p = s8[5,2] parameter(0)\n  ROOT r = s16[5] bitcast-convert(p)")
    yield "bitcast-convert", module("  p = f32[5] parameter(0)\n  ROOT r = s32[5] bitcast-convert(p)")
    yield "is-finite", module("  p = f32[5] parameter(0)\n  l = f32[5] log(p)\n  ROOT r = pred[5] is-finite(l)")
    yield (
        "complex-parts",
        module(
            "  p = f32[5] parameter(0)\n  q = f32[5] parameter(1)\n  c = c64[5] complex(p, q)\n"
            "  d = c64[5] multiply(c, c)\n"
            "  r = f32[5] real(d)\n  i = f32[5] imag(d)\n  a = f32[5] abs(d)\n"
            "  ROOT t = (c64[5], f32[5], f32[5], f32[5]) tuple(d, r, i, a)"
        ),
    )
    yield (
        "reduce-precision",
        module("  p = f32[50] parameter(0)\n  ROOT r = f32[50] reduce-precision(p), exponent_bits=4, mantissa_bits=3"),
    )


def folding() -> Iterator[tuple[str, str]]:
    """Reductions, windows, contractions, sorts, gather and scatter."""
    z = "  z = f32[] constant(0)\n"
    low = "  z = f32[] constant(-inf)\n"
    yield (
        "reduce",
        module(
            "  p = f32[4,6,2] parameter(0)\n" + z + "  ROOT r = f32[6] reduce(p, z), dimensions={0,2}, to_apply=add",
            _ADD,
        ),
    )
    yield (
        "reduce-variadic",
        module(
            "  p = f32[4,6] parameter(0)\n  i = s32[4,6] iota(), iota_dimension=1\n" + low + "  m = s32[] constant(0)\n"
            "  ROOT r = (f32[4], s32[4]) reduce(p, i, z, m), dimensions={1}, to_apply=argmax",
            _ARGMAX,
        ),
    )
    windows = {
        "plain": ("5", "size=2", "4"),
        "stride": ("7", "size=3 stride=2", "3"),
        "padding": ("5", "size=3 pad=1_2", "6"),
        "dilated-window": ("8", "size=3 rhs_dilate=2", "4"),
        "dilated-base": ("4", "size=2 lhs_dilate=3", "9"),
        "everything": ("5", "size=3 stride=2 pad=2_1 lhs_dilate=2 rhs_dilate=2", "4"),
    }
    for name, (size, window, out) in windows.items():
        yield (
            f"reduce-window-{name}",
            module(
                f"  p = f32[{size}] parameter(0)\n" + z + f"  ROOT r = f32[{out}] reduce-window(p, z), "
                f"window={{{window}}}, "
                "to_apply=add",
                _ADD,
            ),
        )
        yield (
            f"reduce-window-max-{name}",
            module(
                f"  p = f32[{size}] parameter(0)\n" + low + f"  ROOT r = f32[{out}] reduce-window(p, z), "
                f"window={{{window}}}, to_apply=max",
                _MAX,
            ),
        )
        for labels, kernel in (("b0f_0io->b0f", "3"), ("bf0_oi0->bf0", "3")):
            features = f"[2,{size},4]" if labels[1] == "0" else f"[2,4,{size}]"
            n = next(int(w.split("=")[1]) for w in window.split() if w.startswith("size="))
            taps = f"[{n},4,{kernel}]" if labels[1] == "0" else f"[{kernel},4,{n}]"
            result = f"[2,{out},{kernel}]" if labels[1] == "0" else f"[2,{kernel},{out}]"
            yield (
                f"convolution-{name}-{labels}",
                module(
                    f"  p = f32{features} parameter(0)\n  k = f32{taps} parameter(1)\n"
                    f"  ROOT r = f32{result} convolution(p, k), window={{{window}}}, dim_labels={labels}"
                ),
            )
    yield (
        "convolution-reversal",
        module(
            "  p = f32[1,5,2] parameter(0)\n  k = f32[3,2,2] parameter(1)\n"
            "  ROOT r = f32[1,3,2] convolution(p, k), window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f"
        ),
    )
    yield (
        "convolution-negative-padding",
        module(
            "  p = f32[1,7,2] parameter(0)\n  k = f32[3,2,2] parameter(1)\n"
            "  ROOT r = f32[1,3,2] convolution(p, k), window={size=3 pad=-1_-1}, dim_labels=b0f_0io->b0f"
        ),
    )
    yield (
        "convolution-groups",
        module(
            "  p = f32[2,5,5,6] parameter(0)\n  k = f32[3,3,2,9] parameter(1)\n"
            "  ROOT r = f32[2,3,3,9] convolution(p, k), window={size=3x3}, dim_labels=b01f_01io->b01f, "
            "feature_group_count=3"
        ),
    )
    yield (
        "convolution-batch-groups",
        module(
            "  p = f32[6,5,2] parameter(0)\n  k = f32[3,2,4] parameter(1)\n"
            "  ROOT r = f32[3,3,4] convolution(p, k), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2"
        ),
    )
    yield (
        "dot",
        module(
            "  p = f32[2,3,4,5] parameter(0)\n  q = f32[5,2,4,6] parameter(1)\n"
            "  ROOT r = f32[2,3,6] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2,3}, "
            "rhs_contracting_dims={2,0}"
        ),
    )
    for a, b, c in (
        ("s8", "s8", "s32"),
        ("u8", "u8", "u8"),
        ("bf16", "bf16", "f32"),
        ("bf16", "bf16", "bf16"),
        ("f16", "f16", "f16"),
        ("c64", "c64", "c64"),
        ("s32", "s32", "s32"),
    ):
        yield (
            f"dot-{a}-{c}",
            module(
                f"  p = {a}[3,4] parameter(0)\n  q = {b}[4,2] parameter(1)\n"
                f"  ROOT r = {c}[3,2] dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            ),
        )
    yield (
        "select-and-scatter",
        module(
            "  p = f32[5,6] parameter(0)\n  s = f32[3,3] parameter(1)\n" + z + "  ROOT r = f32[5,6] "
            "select-and-scatter(p, s, "
            "z), window={size=3x2 stride=2x2 pad=1_1x0_0}, select=ge, scatter=add",
            _GE + _ADD,
        ),
    )
    yield (
        "sort",
        module(
            "  k = s32[3,20] parameter(0)\n  v = f32[3,20] parameter(1)\n"
            "  ROOT r = (s32[3,20], f32[3,20]) sort(k, v), dimensions={1}, is_stable=true, to_apply=less",
            _LESS,
        ),
    )
    yield (
        "sort-first-dimension",
        module(
            "  k = s32[9,3] parameter(0)\n  v = f32[9,3] parameter(1)\n"
            "  ROOT r = (s32[9,3], f32[9,3]) sort(k, v), dimensions={0}, is_stable=true, to_apply=less",
            _LESS,
        ),
    )
    yield "topk", module("  p = f32[3,20] parameter(0)\n  ROOT r = (f32[3,4], s32[3,4]) topk(p), k=4, largest=true")
    yield (
        "map",
        module(
            "  p = f32[3,2] parameter(0)\n  q = f32[3,2] parameter(1)\n"
            "  ROOT r = f32[3,2] map(p, q), dimensions={0,1}, to_apply=minus",
            _MINUS,
        ),
    )
    for kind in ("s32", "u32", "s8", "s64"):
        yield (
            f"gather-{kind}",
            module(
                f"  p = f32[8,6,5] parameter(0)\n  i = {kind}[4,2,3] parameter(1)\n"
                "  ROOT r = f32[4,3,5,2] gather(p, i), offset_dims={2,3}, collapsed_slice_dims={0}, "
                "start_index_map={2,0}, "
                "index_vector_dim=1, slice_sizes={1,5,2}"
            ),
        )
    yield (
        "gather-batching",
        module(
            "  p = f32[3,8,5] parameter(0)\n  i = s32[3,4,1] parameter(1)\n"
            "  ROOT r = f32[3,4,2] gather(p, i), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
            "operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,2}"
        ),
    )
    yield (
        "gather-scalar-vector",
        module(
            "  p = f32[8,6] parameter(0)\n  i = s32[4] parameter(1)\n"
            "  ROOT r = f32[6,4] gather(p, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,6}"
        ),
    )
    for body, text in (("add", _ADD), ("second", _SECOND), ("minus", _MINUS)):
        unique = body == "second"
        yield (
            f"scatter-{body}",
            module(
                "  p = f32[8,6] parameter(0)\n"
                + ("  i = s32[5,1] constant({{1},{-3},{6},{8},{0}})\n" if unique else "  i = s32[5,1] parameter(1)\n")
                + f"  u = f32[5,2,3] parameter({1 if unique else 2})\n"
                "  ROOT r = f32[8,6] scatter(p, i, u), update_window_dims={1,2}, inserted_window_dims={}, "
                f"scatter_dims_to_operand_dims={{1}}, index_vector_dim=1, to_apply={body}",
                text,
            ),
        )
    yield (
        "scatter-inserted",
        module(
            "  p = f32[8,6] parameter(0)\n  i = s32[2,5] parameter(1)\n  u = f32[5] parameter(2)\n"
            "  ROOT r = f32[8,6] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0,1}, "
            "scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=add",
            _ADD,
        ),
    )
    yield (
        "scatter-batching",
        module(
            "  p = s32[3,8] parameter(0)\n  i = s32[3,5,1] parameter(1)\n  u = s32[3,5] parameter(2)\n"
            "  ROOT r = s32[3,8] scatter(p, i, u), update_window_dims={}, inserted_window_dims={1}, "
            "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, "
            "index_vector_dim=2, to_apply=add",
            _ADD_S32,
        ),
    )


def numerical() -> Iterator[tuple[str, str]]:
    """fft, linear algebra, normalisation, control flow."""
    yield "fft", module("  p = c64[3,4,6] parameter(0)\n  ROOT r = c64[3,4,6] fft(p), fft_type=FFT, fft_length={4,6}")
    yield "ifft", module("  p = c64[3,5] parameter(0)\n  ROOT r = c64[3,5] fft(p), fft_type=IFFT, fft_length={5}")
    yield "rfft", module("  p = f32[2,3,8] parameter(0)\n  ROOT r = c64[2,3,5] fft(p), fft_type=RFFT, fft_length={3,8}")
    yield "rfft-odd", module("  p = f32[2,7] parameter(0)\n  ROOT r = c64[2,4] fft(p), fft_type=RFFT, fft_length={7}")
    yield (
        "irfft",
        module("  p = c64[2,3,5] parameter(0)\n  ROOT r = f32[2,3,8] fft(p), fft_type=IRFFT, fft_length={3,8}"),
    )
    yield "irfft-odd", module("  p = c64[2,4] parameter(0)\n  ROOT r = f32[2,7] fft(p), fft_type=IRFFT, fft_length={7}")
    for lower in ("true", "false"):
        yield (
            f"cholesky-{lower}",
            module(
                "  p = f32[2,4,4] parameter(0)\n  q = f32[2,4,4] dot(p, p), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"
                "  i = s32[4,4] iota(), iota_dimension=0\n  j = s32[4,4] iota(), iota_dimension=1\n"
                "  e = pred[4,4] compare(i, j), direction=EQ\n  f = f32[4,4] convert(e)\n"
                "  b = f32[2,4,4] broadcast(f), dimensions={1,2}\n  m = f32[2,4,4] add(q, b)\n"
                f"  ROOT r = f32[2,4,4] cholesky(m), lower={lower}"
            ),
        )
    for left in ("true", "false"):
        for lower in ("true", "false"):
            for unit in ("true", "false"):
                for op in ("NO_TRANSPOSE", "TRANSPOSE"):
                    size = "[3,4,2]" if left == "true" else "[3,2,4]"
                    yield (
                        f"triangular-solve-{left}-{lower}-{unit}-{op}",
                        module(
                            f"  a = f32[3,4,4] parameter(0)\n  b = f32{size} parameter(1)\n"
                            "  c = f32[] constant(3)\n  d = f32[3,4,4] broadcast(c), dimensions={}\n"
                            "  m = f32[3,4,4] add(a, d)\n"
                            f"  ROOT r = f32{size} triangular-solve(m, b), left_side={left}, lower={lower}, "
                            f"unit_diagonal={unit}, transpose_a={op}"
                        ),
                    )
    s = "  s = f32[3] parameter(1)\n  o = f32[3] parameter(2)\n"
    yield (
        "batch-norm-training",
        module(
            "  p = f32[2,3,4] parameter(0)\n"
            + s
            + "  ROOT r = (f32[2,3,4], f32[3], f32[3]) batch-norm-training(p, s, o), "
            "epsilon=0.001, feature_index=1"
        ),
    )
    yield (
        "batch-norm-inference",
        module(
            "  p = f32[2,3,4] parameter(0)\n" + s + "  m = f32[3] parameter(3)\n  w = f32[3] parameter(4)\n"
            "  v = f32[3] abs(w)\n"
            "  ROOT r = f32[2,3,4] batch-norm-inference(p, s, o, m, v), epsilon=0.001, feature_index=1"
        ),
    )
    yield (
        "batch-norm-grad",
        module(
            "  p = f32[2,3,4] parameter(0)\n" + s + "  w = f32[3] parameter(3)\n  v = f32[3] abs(w)\n"
            "  g = f32[2,3,4] parameter(4)\n"
            "  ROOT r = (f32[2,3,4], f32[3], f32[3]) batch-norm-grad(p, s, o, v, g), epsilon=0.1, feature_index=1"
        ),
    )
    yield (
        "while",
        module(
            "  i = s32[] constant(0)\n  p = f32[3] parameter(0)\n  t = (s32[], f32[3]) tuple(i, p)\n"
            "  ROOT r = (s32[], f32[3]) while(t), condition=small, body=step",
            "small {\n  t = (s32[], f32[3]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
            "  n = s32[] constant(5)\n  ROOT z = pred[] compare(i, n), direction=LT\n}\n"
            "step {\n  t = (s32[], f32[3]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
            "  x = f32[3] get-tuple-element(t), index=1\n  n = s32[] constant(1)\n  j = s32[] add(i, n)\n"
            "  y = f32[3] reverse(x), dimensions={0}\n  w = f32[3] add(x, y)\n  ROOT z = (s32[], f32[3]) tuple(j, w)\n"
            "}\n",
        ),
    )
    branches = "".join(
        f"{name} {{\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] {op}(x)\n}}\n"
        for name, op in (("one", "negate"), ("two", "cosine"), ("three", "abs"))
    )
    for k in (-1, 0, 1, 2, 7):
        yield (
            f"conditional-{k}",
            module(
                f"  k = s32[] constant({k})\n  p = f32[3] parameter(0)\n"
                "  ROOT r = f32[3] conditional(k, p, p, p), branch_computations={one, two, three}",
                branches,
            ),
        )
    for chosen in ("true", "false"):
        yield (
            f"conditional-{chosen}",
            module(
                f"  k = pred[] constant({chosen})\n  p = f32[3] parameter(0)\n"
                "  ROOT r = f32[3] conditional(k, p, p), true_computation=one, false_computation=two",
                branches,
            ),
        )


def random_bits() -> Iterator[tuple[str, str]]:
    """rng-bit-generator over shapes with and without even dimensions, and from states of any 64 bits."""
    for algorithm, words in (("rng_three_fry", 2), ("rng_philox", 2), ("rng_philox", 3), ("rng_default", 2)):
        for kind, sizes in (
            ("u32", ""),
            ("u32", "7"),
            ("u32", "8"),
            ("u32", "3,4"),
            ("u32", "4,6"),
            ("u32", "3,5"),
            ("u32", "5,3"),
            ("u32", "1,5,2"),
            ("u32", "3,0"),
            ("u64", ""),
            ("u64", "5"),
            ("u64", "2,3"),
            ("u16", "5"),
            ("u8", "3,2"),
            ("s32", "6"),
        ):
            result = f"(u64[{words}], {kind}[{sizes}])"
            yield (
                f"rng-bit-generator-{algorithm}-{words}-{kind}[{sizes}]",
                module(
                    f"  p = u64[{words}] parameter(0)\n  c = u64[] constant(11400714819323198485)\n"
                    f"  m = u64[{words}] broadcast(c), dimensions={{}}\n  s = u64[{words}] multiply(p, m)\n"
                    f"  ROOT r = {result} rng-bit-generator(s), algorithm={algorithm}"
                ),
            )
    for carry in (18446744073709551615, 18446744073709551614):
        yield (
            f"rng-bit-generator-carry-{carry}",
            module(
                f"  s = u64[3] constant({{7, {carry}, 3}})\n"
                "  ROOT r = (u64[3], u32[12]) rng-bit-generator(s), algorithm=rng_philox"
            ),
        )


def all_cases() -> Iterator[tuple[str, str]]:
    for group in (elementwise, structural, folding, numerical, random_bits):
        yield from group()
