"""One module through the installed compiler, and what it says judged by every oracle."""

from __future__ import annotations

import re
import shutil
import tempfile
from atexit import register
from collections import Counter
from collections.abc import Callable
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from hloproof.fuzz.compiler.derived_bounds import CHOSEN, EXACTLY, LEFT_OPEN, bounds, outside, rough_inputs
from hloproof.fuzz.compiler.dumps import FLAGS, Refuted, empty, judge_dumps
from hloproof.fuzz.compiler.folded import folded
from hloproof.fuzz.compiler.generate_corners import NAME as CORNERS
from hloproof.fuzz.compiler.generate_corners import corner_inputs
from hloproof.fuzz.compiler.perturbation import changes, differences, exact_inputs, judged, requests
from hloproof.fuzz.modules.reference import DIED, HANGS, Xla, arrays
from hloproof.fuzz.target import Failure
from hloproof.models.hlo.module import Module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, Value

INEXACT: Final = re.compile(
    r"\b(divide|power|sqrt|rsqrt|cbrt|exponential\S*|log\S*|tanh?|sine|cosine|sinh|cosh|a?tanh?|atan2|erf|fft|batch-norm\S*|"
    r"triangular-solve|cholesky|rng\S*|stochastic-convert|logistic|asinh?|acosh?)\("
    r"|\bconstant\([^)]*\d\.0*[1-9]"
)
_ANOTHER: Final = "compiler: another result than the interpreter's"
_OWN_ERRORS: Final = ("RET_CHECK", "INTERNAL:", "Check failed")
_SMALL: Final = "HloModule m\n\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n"
_NOT_FOR_PROGRAMS: Final = ("seen during layout assignment", "xla/layout.h")
"""Bitcasts and tiles, which a program may not have before layouts are assigned."""
DUMPED_ONE_IN: Final = 8
"""Modules whose passes and plan are judged."""


@cache
def dump_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hloproof-dumps-"))
    register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def plain_compiler() -> Xla:
    return _closed_in_the_end(Xla(seconds=25))


@cache
def dumping_compiler() -> Xla:
    return _closed_in_the_end(Xla(FLAGS.format(folder=dump_folder()), seconds=25))


def _closed_in_the_end(xla: Xla) -> Xla:
    register(xla.close)
    return xla


def warmed() -> None:
    """What takes long at first is no example's time."""
    for xla in (plain_compiler(), dumping_compiler()):
        xla.ask({"hlo": _SMALL, "inputs": []})


def _asked(xla: Xla, request: dict[str, Any]) -> dict[str, Any]:
    """A process that has ended is started again, and warmed, before the next example is timed."""
    answer = xla.ask(request)
    if answer.get("error") in (DIED, HANGS):
        xla.ask({"hlo": _SMALL, "inputs": []})
    return answer


def judged_module(text: str, module: Module, of_refusal: Callable[[str], str] | None = None) -> Counter[str]:
    """`of_refusal` says what a refusal counts as, and raises Failure where it is a finding."""
    told: Counter[str] = Counter()
    seed = crc32(text.encode())
    corners = module.name == CORNERS
    inputs = corner_inputs(module, seed) if corners else exact_inputs(module, seed)
    dumped = seed % DUMPED_ONE_IN == 0
    if dumped:
        empty(dump_folder())
    all_changes = [] if corners else list(changes(module, inputs, seed))
    xla = dumping_compiler() if dumped else plain_compiler()
    rough = None if corners else rough_inputs(module, seed)
    more = [] if rough is None else requests(rough, ())
    answer = _asked(xla, {"hlo": text, "runs": requests(inputs, all_changes) + more})
    if "error" in answer:
        return Counter([(of_refusal or refused)(answer["error"])])
    runs = [[output["data"] for output in run] for run in answer["runs"]]
    exact = INEXACT.search(text) is None
    told.update(same_results(module, inputs, runs[0], exact))
    if rough is not None:
        told.update(within_bounds(module, rough, runs[-1]))
    for change, run in zip(all_changes, runs[1 : len(all_changes) + 1], strict=True):
        wrong, where, seen = judged(change, differences(runs[0], run))
        if wrong:
            raise Failure(f"compiler: {wrong}", where)
        told.update(seen.keys())
    told["corners" if corners else "perturbed"] += 1
    told.update(_as_constants(text, module, inputs))
    if dumped:
        told.update(judged_dumps().keys())
    return told


def _as_constants(text: str, module: Module, inputs: tuple[Value, ...]) -> Counter[str]:
    """Raises Failure where the module with constants in the place of its parameters gives something else."""
    given = folded(text, inputs)
    if given is None:
        return Counter()
    answer = _asked(plain_compiler(), {"hlo": given, "inputs": []})
    try:
        if "error" in answer:
            return Counter([refused(answer["error"])])
        outputs = [output["data"] for output in answer["outputs"]]
        told = same_results(module, inputs, outputs, exact=INEXACT.search(text) is None)
    except Failure as failure:
        folds = "result" in failure.cause
        cause = "compiler: constants are folded to something else" if folds else f"{failure.cause}, of constants"
        raise Failure(cause, failure.message) from failure
    return told + Counter(["folded"])


def judged_dumps() -> Counter[str]:
    try:
        return judge_dumps(dump_folder())
    except Refuted as found:
        what = found.name if found.name.startswith("plan-") else f"pass {found.name}"
        raise Failure(f"compiler: {what} is refuted", found.said) from found


def refused(error: str) -> str:
    """What a refusal counts as. Raises Failure where a valid module ends the compiler, or breaks inside of it."""
    if error in (DIED, HANGS):
        raise Failure("compiler: the process ends" if error == DIED else "compiler: it does not answer", error)
    if "during context [hlo verifier]" in error and "Failed after" in error:
        raise Failure("compiler: it refuses its own module", error[:400])
    if not any(w in error for w in _NOT_FOR_PROGRAMS) and any(words in error for words in _OWN_ERRORS):
        raise Failure("compiler: internal error", error[:400])
    return f"refused: {error[:60]}"


def same_results(module: Module, inputs: tuple[Value, ...], theirs: list[list[Any]], exact: bool) -> Counter[str]:
    """How many elements were compared in which way. Raises Failure.

    The bounds are derived where that is possible. Elsewhere they are chosen; with `exact`, equal means equal where
    nothing rounds on small whole numbers."""
    told: Counter[str] = Counter()
    allowed = bounds(module, inputs)
    if allowed:
        found = outside(allowed, theirs, told)
        if found:
            raise Failure(_ANOTHER, found)
        return told
    if allowed is not None:
        return Counter({LEFT_OPEN: sum(map(len, theirs))})
    own = list(arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0]))
    for n, (a, b) in enumerate(zip(own, theirs, strict=True)):
        bound = 0.0 if exact and not _rounds(a) else _bound(a)
        for k, (x, y) in enumerate(zip(a.data, b, strict=True)):
            value = complex(*y) if isinstance(y, list) else y
            unspecified = isinstance(x, complex) and not isfinite(abs(x))  # parts of an infinity, after a division
            if x != value and not ((x != x and value != value) or unspecified) and not _near(x, value, bound):
                raise Failure(_ANOTHER, f"output {n}, element {k}: {value}, not {x}")
        told[CHOSEN if bound else EXACTLY] += len(b)
    return told


def within_bounds(module: Module, inputs: tuple[Value, ...], theirs: list[list[Any]]) -> Counter[str]:
    """On inputs that round. Raises Failure where the results are outside of the derived bounds."""
    told: Counter[str] = Counter()
    found = outside(bounds(module, inputs) or [], theirs, told)
    if found:
        raise Failure("compiler: a result beyond its rounding errors", found)
    return told


def _rounds(a: Array) -> bool:
    """A narrow type may round sums of a few small integers."""
    return a.element_type in ("bf16", "f16") or a.element_type.startswith(("f8", "f4", "c"))


def _bound(a: Array) -> float:
    """So many units in the last place of the largest number: the error of short sums and of library functions."""
    numbers = [abs(v) for v in a.data if isinstance(v, (float, complex)) and isfinite(abs(v))]
    unit = {"f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}.get(a.element_type, 2.0**-23)
    return 64 * unit * max([1.0, *numbers]) if a.element_type[:1] in "fcb" else 0.0


def _near(x: Any, y: Any, bound: float) -> bool:
    return not isinstance(x, (bool, int)) and isfinite(abs(x)) and isfinite(abs(y)) and abs(x - y) <= bound


def neighbours(module: Module) -> set[str]:
    """Pairs of opcodes, producer first."""
    return {
        f"{c.by_name[o].opcode} > {i.opcode}"
        for c in module.computations
        for i in c.instructions
        for o in i.operands
        if c.by_name[o].opcode not in ("parameter", "constant")
    } | {i.opcode for i in module.entry.instructions}
