"""The benchmark of the simplifier: `python tests/benchmarks/simplifier.py [--fusions N] [--seconds S] [--json FILE]`.

Two tables. How many maps of the corpus's fusions are simplified in a second, each from an empty memory, all of them and
the typical ones (at most three dims and ten operations). And, on the results of upstream's own cases, milliseconds per
expression and divisions left, beside sympy, tinygrad and apache-tvm where they are installed. Times are of the
processor.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

from hloproof.models.expressions.expr import Binary, Const, Expr, Var, postorder, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap
from hloproof.models.maps.text import parse_map
from hloproof.models.simplifier import simplify as simplifier

SHARED = Path(__file__).resolve().parents[3] / "shared"
Intervals = dict[str, Interval]
Simplify = Callable[[Expr, Intervals], str]


@dataclass
class Speed:
    """`maps` maps in `seconds`, cold."""

    which: str
    maps: int
    seconds: float


@dataclass
class Peer:
    """On `expressions` expressions: milliseconds each, divisions left in all of them, and how many it could not do."""

    name: str
    expressions: int
    milliseconds: float
    divisions: int
    failed: int


def operations(m: IndexingMap) -> int:
    roots = (*m.results, *(c.expr for c in m.constraints))
    return sum(isinstance(e, Binary) for r in roots for e in postorder(r))


def fusion_maps(fusions: int) -> list[IndexingMap]:
    """The maps that are simplified on the way through the corpus's fusions."""
    from hloproof.models.hlo.parser import parse_modules
    from hloproof.models.indexing.composition.module_maps import followed_maps, plain_composer

    seen: dict[IndexingMap, None] = {}

    def noted(m: IndexingMap) -> IndexingMap:
        seen[m] = None
        return simplifier.simplify(m).map

    for path in sorted((SHARED / "corpus").glob("jax-*/*/after.hlo")):
        for module in parse_modules(path.read_text(encoding="utf-8"), path.name):
            composer = plain_composer(module, 1, 1, noted)
            for computation in module.computations:
                for i in computation.instructions:
                    if i.opcode == "fusion" and fusions > 0:
                        fusions -= 1
                        followed_maps(composer, computation, i, "output-to-input", 0)
    return list(seen)


def speed(which: str, maps: list[IndexingMap]) -> Speed:
    total = 0.0
    for m in maps:
        simplifier._done.clear()
        simplifier._rewriters.clear()
        start = process_time()
        simplifier.simplify(m)
        total += process_time() - start
    return Speed(which, len(maps), total)


# --- peers -------------------------------------------------------------------------------------------------------


def ours(e: Expr, intervals: Intervals) -> str:
    return to_text(simplifier.simplify_expr(e, intervals))


def built(e: Expr, variable: Callable[[str], Any], number: Callable[[int], Any], operators: dict[str, Any]) -> Any:
    done: dict[Expr, Any] = {}
    for node in postorder(e):
        match node:
            case Const(v):
                done[node] = number(v)
            case Var(name):
                done[node] = variable(name)
            case Binary(op, lhs, rhs):
                done[node] = operators[op](done[lhs], done[rhs])
    return done[e]


def sympy_simplify() -> Simplify:
    import sympy  # type: ignore[import-not-found,unused-ignore]

    operators = {
        "+": lambda x, y: x + y,
        "*": lambda x, y: x * y,
        "floordiv": lambda x, y: sympy.floor(x / y),
        "ceildiv": lambda x, y: sympy.ceiling(x / y),
        "mod": sympy.Mod,
        "min": sympy.Min,
        "max": sympy.Max,
    }

    def run(e: Expr, intervals: Intervals) -> str:
        variables = {n: sympy.Symbol(n, integer=True, nonnegative=i.lower >= 0) for n, i in intervals.items()}
        return str(sympy.simplify(built(e, variables.__getitem__, sympy.Integer, operators)))

    return run


def tinygrad_simplify() -> Simplify:
    from tinygrad.uop.ops import UOp  # type: ignore[import-not-found,unused-ignore]

    operators = {
        "+": lambda x, y: x + y,
        "*": lambda x, y: x * y,
        "floordiv": lambda x, y: x // y,
        "ceildiv": lambda x, y: -((-x) // y),
        "mod": lambda x, y: x % y,
        "min": lambda x, y: x.minimum(y),
        "max": lambda x, y: x.maximum(y),
    }

    def run(e: Expr, intervals: Intervals) -> str:
        variables = {n: UOp.variable(n, i.lower, i.upper) for n, i in intervals.items()}
        first = next(iter(variables.values()))
        made = built(e, variables.__getitem__, first.const_like, operators)
        return str(made.simplify().render())

    return run


def tvm_simplify() -> Simplify:
    import tvm  # type: ignore[import-not-found,unused-ignore]
    from tvm import sym, tirx  # type: ignore[import-not-found,unused-ignore]

    operators = {
        "+": lambda x, y: x + y,
        "*": lambda x, y: x * y,
        "floordiv": tirx.floordiv,
        "mod": tirx.floormod,
        "ceildiv": lambda x, y: -tirx.floordiv(-x, y),
        "min": tirx.min,
        "max": tirx.max,
    }

    def run(e: Expr, intervals: Intervals) -> str:
        analyzer = sym.Analyzer()
        variables = {}
        for n, i in intervals.items():
            variables[n] = tirx.Var(n, "int64")
            analyzer.bind(variables[n], tvm.ir.Range(i.lower, i.upper + 1))
        made = built(e, variables.__getitem__, lambda v: tirx.IntImm("int64", v), operators)
        return str(analyzer.simplify(made))

    return run


def divisions(text: str) -> int:
    return len(re.findall(r"//|(?<!/)/(?!/)|%|\bmod\b|Mod|floor|ceil", text))


def cases() -> Iterator[tuple[Expr, Intervals]]:
    for line in (SHARED / "cases" / "simplify.jsonl").read_text(encoding="utf-8").splitlines():
        m = parse_map(json.loads(line)["input"])
        for e in m.results:
            if e.free:
                yield e, dict(m.intervals())


def compared(name: str, make: Callable[[], Simplify], seconds: int) -> Peer | None:
    try:
        run = make()
    except ImportError:
        return None
    expressions = list(cases())
    failed = left = 0
    total = 0.0

    def late(signum: int, frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    for e, intervals in expressions:
        start = process_time()
        signal.alarm(seconds)
        try:
            left += divisions(run(e, intervals))
        except Exception:  # Whatever a peer raises, it has not simplified this.
            failed += 1
            left += divisions(to_text(e))
        finally:
            signal.alarm(0)
        total += process_time() - start
    return Peer(name, len(expressions), total / len(expressions) * 1e3, left, failed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fusions", type=int, default=150)
    parser.add_argument("--seconds", type=int, default=10, help="limit for a peer on one expression")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not SHARED.exists():
        sys.exit("the corpus and the cases are not beside the project")
    maps = fusion_maps(options.fusions)
    typical = [m for m in maps if len(m.dims) <= 3 and 0 < operations(m) <= 10]
    speeds = [speed("all", maps), speed("typical", typical)]
    for s in speeds:
        print(f"{s.which:10s} {s.maps:6d} maps, {s.maps / max(s.seconds, 1e-9):8.0f} per second")
    makers: dict[str, Callable[[], Simplify]] = {
        "hloproof": lambda: ours,
        "sympy": sympy_simplify,
        "tinygrad": tinygrad_simplify,
        "apache-tvm": tvm_simplify,
    }
    peers: list[Peer] = []
    for name, make in makers.items():
        found = compared(name, make, options.seconds)
        if found is None:
            print(f"{name:10s} not installed")
            continue
        peers.append(found)
        print(
            f"{name:10s} {found.milliseconds:8.2f} ms per expression, {found.divisions:3d} divisions left, "
            f"{found.failed} of {found.expressions} not done"
        )
    if options.json:
        options.json.write_text(json.dumps({"speed": [asdict(s) for s in speeds], "peers": [asdict(p) for p in peers]}))


if __name__ == "__main__":
    main()
