"""A module whose parameters are constants: what the compiler folds is what it computes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from hloproof.models.interpreter.value import Array, Value

MOST: Final = 64
"""Elements of all parameters; constants that are larger are not folded."""
_PARAMETER: Final = re.compile(r"(?m)^(\s*(?:ROOT )?\S+ = )(\w+\[[\d,]*\])(?:\{[^}]*\})? parameter\((\d+)\).*$")


def folded(text: str, inputs: Sequence[Value]) -> str | None:
    """The text with these numbers in the place of the entry's parameters; None where they are too many, or complex."""
    arrays = [v for v in inputs if isinstance(v, Array) and not any(isinstance(e, complex) for e in v.data)]
    if len(arrays) != len(inputs) or sum(len(a.data) for a in arrays) > MOST or not arrays:
        return None
    called, entry = text[: text.index("ENTRY")], text[text.index("ENTRY") :]
    body = called.split("\n", 1)[1]

    def constant(m: re.Match[str]) -> str:
        return f"{m[1]}{m[2]} constant({literal_text(arrays[int(m[3])])})"

    return "HloModule folded\n" + body + _PARAMETER.sub(constant, entry)


def literal_text(a: Array) -> str:
    words = [_word(e) for e in a.data]
    for size in reversed(a.sizes):
        count = math.prod(a.sizes) // size if size and words else 0
        if not count and a.sizes:
            return "{" * len(a.sizes) + "}" * len(a.sizes) if len(a.sizes) == 1 else _empty(a.sizes)
        words = ["{" + ", ".join(words[k : k + size]) + "}" for k in range(0, len(words), size)]
    return words[0]


def _empty(sizes: Sequence[int]) -> str:
    """The braces of an array without elements."""
    if not sizes:
        return ""
    inner = _empty(sizes[1:]) if sizes[0] else ""
    return "{" + ", ".join([inner] * sizes[0]) + "}"


def _word(e: Any) -> str:
    if isinstance(e, bool):
        return str(e).lower()
    if isinstance(e, float) and not math.isfinite(e):
        return "nan" if math.isnan(e) else "inf" if e > 0 else "-inf"
    return repr(e)
