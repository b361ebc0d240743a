"""How fast layouts are proved one to one: step by step, with two engines, and by isl's own question on the whole map.

Run as `python -m tests.benchmarks.layout_speed [FOLDER]`; with a folder, every different layout in its HLO files too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

from hloproof.claims.layouts.claims import ClaimedLayout, one_to_one
from hloproof.claims.layouts.steps import chain
from hloproof.engines.portfolio import prove
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.hlo.text.shapes import parse_shape, print_shape
from hloproof.models.layouts.tiling import position_expression

NAMED = (
    "f32[2047,50257]{1,0:T(8,128)(4,1)}",
    "bf16[16,1023,1025]{2,1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)(2,1)}",
)
REPEATED = 3
_SHAPE = re.compile(r"[a-z][a-z0-9]*\[[0-9,]*\]\{[0-9,]*(?::[^{}]*)?\}")


def structural_ms(shape: ArrayShape, cross: bool = False) -> float:
    """Milliseconds of processor time until every sub-goal of one-to-one is proved, the best of some runs. Raises
    AssertionError where one is not."""
    claimed = ClaimedLayout.by_formula(shape)
    goals = one_to_one(claimed, chain(shape)).steps
    times: list[float] = []
    for _ in range(REPEATED):
        started = process_time()
        for goal in goals:
            outcome = prove(goal, cross=cross)
            assert outcome.verdict == "proved", (print_shape(shape), goal.label, outcome)
        times.append((process_time() - started) * 1e3)
    return min(times)


def plain_isl_ms(shape: ArrayShape) -> float:
    """Milliseconds of processor time of `is_injective` on the whole map from index to position."""
    import islpy as isl

    names = [f"d{i}" for i in range(shape.rank)]
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=names)
    domain = isl.BasicSet.universe(space)
    local = isl.LocalSpace.from_space(space)
    for i, n in enumerate(shape.dimensions):
        at = isl.Aff.var_on_domain(local, isl.dim_type.set, i)
        domain &= at.ge_basic_set(isl.Aff.zero_on_domain(local))
        domain &= at.lt_set(isl.Aff.val_on_domain(local, isl.Val(n))).get_basic_sets()[0]
    affine = _affine(position_expression(shape), local)
    times: list[float] = []
    for _ in range(REPEATED):
        started = process_time()
        relation = isl.Map.from_aff(affine).intersect_domain(isl.Set.from_basic_set(domain))
        assert relation.is_injective()
        times.append((process_time() - started) * 1e3)
    return min(times)


def _affine(root: Expr, local: Any) -> Any:
    import islpy as isl

    done: dict[Expr, Any] = {}
    for e in postorder(root):
        match e:
            case Const(value):
                done[e] = isl.Aff.val_on_domain(local, isl.Val(value))
            case Var(name):
                done[e] = isl.Aff.var_on_domain(local, isl.dim_type.set, int(name[1:]))
            case Binary("+", lhs, rhs):
                done[e] = done[lhs] + done[rhs]
            case Binary("*", lhs, rhs):
                done[e] = done[lhs] * done[rhs]
            case Binary("floordiv", lhs, Const(by)):
                done[e] = done[lhs].scale_down_val(isl.Val(by)).floor()
            case Binary("mod", lhs, Const(by)):
                done[e] = done[lhs].mod_val(isl.Val(by))
    return done[root]


def corpus_layouts(folder: Path) -> Iterator[ArrayShape]:
    """Every different layout in the files below a folder, by sizes, order and tiles."""
    texts: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".hlo", ".txt") and path.is_file():
            texts.update(_SHAPE.findall(path.read_text(encoding="utf-8", errors="replace")))
    seen: set[object] = set()
    for text in sorted(texts):
        try:
            shape = parse_shape(text)
        except InputError:
            continue
        if isinstance(shape, ArrayShape) and shape.layout is not None:
            key = (shape.dimensions, shape.layout.minor_to_major, shape.layout.tiles)
            if key not in seen:
                seen.add(key)
                yield replace(shape, dynamic=())


def main() -> None:
    for text in NAMED:  # the first proof pays for loading the engines
        shape = parse_shape(text)
        assert isinstance(shape, ArrayShape)
        structural_ms(shape), structural_ms(shape, cross=True)
    print(f"{'layout':<50}{'steps':>9}{'two engines':>13}{'plain isl':>12}{'ratio':>8}")
    for text in NAMED:
        shape = parse_shape(text)
        assert isinstance(shape, ArrayShape)
        steps, cross, plain = structural_ms(shape), structural_ms(shape, cross=True), plain_isl_ms(shape)
        print(f"{text:<50}{steps:>6.1f} ms{cross:>10.1f} ms{plain:>9.0f} ms{plain / steps:>8.0f}")
    for folder in sys.argv[1:]:
        times: list[tuple[float, str]] = []
        for shape in corpus_layouts(Path(folder)):
            try:
                times.append((structural_ms(shape), print_shape(shape)))
            except NotModelled as error:
                print(f"not modelled: {print_shape(shape)}: {error}")
        times.sort()
        print(f"{folder}: {len(times)} layouts, median {times[len(times) // 2][0]:.1f} ms, slowest:")
        for ms, text in times[-5:]:
            print(f"  {ms:6.1f} ms  {text}")


if __name__ == "__main__":
    main()
