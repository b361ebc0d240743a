"""Modules of a few operations that round: sums, products and functions in a row, on numbers with all digits."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw

_ROWS: Final = 4
_COLUMNS: Final = 6
_TYPES: Final = ("f32", "f32", "f64", "bf16", "f16")
_BINARY: Final = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "atan2")
_UNARY: Final = (
    "exponential exponential-minus-one log log-plus-one logistic sqrt rsqrt cbrt sine cosine tan tanh erf negate abs "
    "floor sign"
).split()
_SUM: Final = """sum {{
  x = {kind}[] parameter(0)
  y = {kind}[] parameter(1)
  ROOT z = {kind}[] {fold}(x, y)
}}

"""


@st.composite
def rounding_modules(draw: Draw) -> str:
    """One to five operations, each on values that came before; at the end a fold, now and then, or a conversion."""
    kind = draw(st.sampled_from(_TYPES))
    whole = f"{kind}[{_ROWS},{_COLUMNS}]"
    lines = [f"p{k} = {whole} parameter({k})" for k in range(2)]
    names = ["p0", "p1"]

    def some() -> str:
        return str(draw(st.sampled_from((*names[-2:], *names))))

    def put(shape: str, text: str) -> str:
        name = f"v{len(lines)}"
        lines.append(f"{name} = {shape} {text}")
        return name

    for _ in range(draw(st.integers(1, 5))):
        match draw(st.integers(0, 6)):
            case 0 | 1 | 2:
                names.append(put(whole, f"{draw(st.sampled_from(_BINARY))}({some()}, {some()})"))
            case 3:  # of a positive number
                size = put(whole, f"abs({some()})")
                names.append(put(whole, f"{draw(st.sampled_from(_UNARY))}({size})"))
            case 4:
                number = draw(st.sampled_from((0.1, 3.0, -0.7, 1.5, 1e-3)))
                spread = put(whole, f"broadcast({put(f'{kind}[]', f'constant({number})')}), dimensions={{}}")
                names.append(put(whole, f"{draw(st.sampled_from(_BINARY[:4]))}({some()}, {spread})"))
            case 5:
                square = put(
                    f"{kind}[{_ROWS},{_ROWS}]",
                    f"dot({some()}, {some()}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}",
                )
                how = f"dot({square}, {some()}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"
                names.append(put(whole, how))
            case _:
                names.append(put(whole, f"{draw(st.sampled_from(_UNARY))}({some()})"))
    fold = draw(st.sampled_from(("", "add", "multiply", "maximum", "convert")))
    head = "HloModule rounding\n\n"
    if fold == "convert":
        other = draw(st.sampled_from(("f32", "bf16", "f16", "f64", "s32", "pred")))
        put(f"{other}[{_ROWS},{_COLUMNS}]", f"convert({names[-1]})")
    elif fold:
        start = {"add": "0", "multiply": "1", "maximum": "-inf"}[fold]
        initial = put(f"{kind}[]", f"constant({start})")
        axes, left = draw(st.sampled_from((("0,1", ""), ("0", f"{_COLUMNS}"), ("1", f"{_ROWS}"))))
        put(f"{kind}[{left}]", f"reduce({names[-1]}, {initial}), dimensions={{{axes}}}, to_apply=sum")
        head += _SUM.format(kind=kind, fold=fold)
    lines[-1] = f"ROOT {lines[-1]}"
    return head + "ENTRY e {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
