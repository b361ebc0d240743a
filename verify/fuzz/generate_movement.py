"""Strategies for operations that move elements, and elementwise ones."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from verify.fuzz.operation_text import Draw, boxes, braces, extent, one, shape, sizes


@st.composite
def elementwise(draw: Draw) -> str:
    dims = draw(sizes())
    case = draw(st.sampled_from(("negate", "add", "select", "select-scalar", "clamp", "compare", "convert")))
    s = shape(dims)
    match case:
        case "select" | "select-scalar":
            predicate = shape(dims if case == "select" else [], "pred")
            return one(s, "select", [predicate, s, s])
        case "clamp":
            bound = s if draw(st.booleans()) else shape([])
            return one(s, "clamp", [bound, s, bound])
        case "compare":
            return one(shape(dims, "pred"), "compare", [s, s], "direction=LT")
        case "convert":
            return one(shape(dims, "bf16"), "convert", [s])
        case "add":
            return one(s, "add", [s, s])
    return one(s, case, [s])


@st.composite
def copy(draw: Draw) -> str:
    s = shape(draw(sizes()))
    return one(s, "copy", [s])


@st.composite
def broadcast(draw: Draw) -> str:
    result = draw(boxes())
    chosen = draw(st.lists(st.sampled_from(range(len(result))), unique=True)) if result else []
    return one(shape(result), "broadcast", [shape([result[d] for d in chosen])], f"dimensions={braces(chosen)}")


@st.composite
def reshape(draw: Draw) -> str:
    primes = draw(st.lists(st.sampled_from((1, 2, 2, 3, 5)), max_size=5))
    if draw(st.integers(0, 9)) == 0:
        primes = [*primes, 0]
    grouped = [_grouped(draw, primes), _grouped(draw, draw(st.permutations(primes)))]
    return one(shape(grouped[0]), "reshape", [shape(grouped[1])])


def _grouped(draw: Draw, factors: Sequence[int]) -> list[int]:
    """A factorisation of the product of the factors."""
    out: list[int] = []
    for f in factors:
        if out and draw(st.booleans()):
            out[-1] *= f
        else:
            out.append(f)
    return out


@st.composite
def transpose(draw: Draw) -> str:
    dims = draw(boxes())
    order = draw(st.permutations(range(len(dims))))
    return one(shape([dims[p] for p in order]), "transpose", [shape(dims)], f"dimensions={braces(order)}")


@st.composite
def reverse(draw: Draw) -> str:
    dims = draw(boxes(minimum=1))
    chosen = draw(st.lists(st.sampled_from(range(len(dims))), unique=True))
    return one(shape(dims), "reverse", [shape(dims)], f"dimensions={braces(chosen)}")


@st.composite
def slice_(draw: Draw) -> str:
    dims, result, bounds = draw(boxes()), [], []
    for n in dims:
        start = draw(st.sampled_from((0, 0, min(1, n), min(2, n), draw(st.integers(0, n)))))
        limit = draw(st.sampled_from((n, n, max(start, n - 1), draw(st.integers(start, n)))))
        stride = draw(st.integers(1, 4))
        bounds.append(f"[{start}:{limit}:{stride}]")
        result.append(-(-(limit - start) // stride))
    return one(shape(result), "slice", [shape(dims)], f"slice={braces(bounds)}")


@st.composite
def pad(draw: Draw) -> str:
    dims, result, padding = draw(boxes(maximum=3, most=20)), [], []
    most = 4 - len(dims) if len(dims) < 3 else 1
    for n in dims:
        interior = draw(st.integers(0, most))
        full = n + max(0, n - 1) * interior
        # Low edges that crop more than there is are made good by the high one.
        low = draw(st.integers(-min(most + 1, full + 1), most))
        least = max(-most - 1, -(full + low))
        high = draw(st.integers(least, max(least, most)))
        padding.append(f"{low}_{high}_{interior}")
        result.append(full + low + high)
    return one(shape(result), "pad", [shape(dims), shape([])], f"padding={'x'.join(padding)}" if dims else "padding=")


@st.composite
def concatenate(draw: Draw) -> str:
    dims = draw(boxes(minimum=1, maximum=3, most=12))
    axis = draw(st.integers(0, len(dims) - 1))
    parts = draw(st.lists(extent, min_size=1, max_size=4))
    operands = [shape([*dims[:axis], n, *dims[axis + 1 :]]) for n in parts]
    result = shape([*dims[:axis], sum(parts), *dims[axis + 1 :]])
    return one(result, "concatenate", operands, f"dimensions={braces([axis])}")


@st.composite
def bitcast_convert(draw: Draw) -> str:
    dims = draw(sizes(maximum=3))
    match draw(st.sampled_from(("same", "narrower", "wider"))):
        case "same":
            return one(shape(dims, "s32"), "bitcast-convert", [shape(dims)])
        case "narrower":
            return one(shape([*dims, 4], "u8"), "bitcast-convert", [shape(dims)])
    return one(shape(dims), "bitcast-convert", [shape([*dims, 2], "u16")])
