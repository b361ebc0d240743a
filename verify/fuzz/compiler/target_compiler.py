"""Target `compiler`: random modules compiled and run by the installed compiler, in a process that may end.

Oracles: crashes, hangs and errors on valid modules; results against the interpreter; one input element changed at a
time against the maps; every pass and the whole compilation by `equiv`; the memory plan by `memory`. What the ledger
names already is counted as `upstream:`.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from atexit import register
from collections import Counter
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from hypothesis import strategies as st

from hloproof.fuzz.compiler.dumps import FLAGS, Refuted, empty, judge_dumps
from hloproof.fuzz.compiler.finding import files
from hloproof.fuzz.compiler.known import known
from hloproof.fuzz.compiler.perturbation import changes, differences, exact_inputs, judged, plain, requests
from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.modules.reference import DIED, HANGS, Xla, arrays, python_with_jax
from hloproof.fuzz.modules.target_xla import LEFT_OUT, neutral
from hloproof.fuzz.operations.generators.operations import operations
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.operations.collective import Devices
from hloproof.models.interpreter.run import Machine
from hloproof.models.interpreter.semantics.real import Real
from hloproof.models.interpreter.value import Array, Value

if python_with_jax() is None:
    raise ModuleNotFoundError("jax is not installed (extra hloproof[xla])", name="jax")

TYPES: Final = ("s32", "s8", "u8", "s4", "u4", "s16", "u64", "f64", "bf16", "f16", "pred", "u2", "s2")
"""In place of f32, now and then."""
_INEXACT: Final = re.compile(
    r"\b(divide|power|sqrt|rsqrt|cbrt|exponential\S*|log\S*|tanh?|sine|cosine|sinh|cosh|a?tanh?|atan2|erf|fft|batch-norm\S*|"
    r"triangular-solve|cholesky|rng\S*|stochastic-convert|logistic|asinh?|acosh?)\("
)
_OWN_ERRORS: Final = ("RET_CHECK", "INTERNAL:", "Check failed")
_SMALL: Final = "HloModule m\n\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n"
_NOT_FOR_PROGRAMS: Final = ("seen during layout assignment", "xla/layout.h")
"""Bitcasts and tiles, which a program may not have before layouts are assigned."""
DUMPED_ONE_IN: Final = 8
"""Modules whose passes and plan are judged."""
_LEFT_OUT: Final = (*LEFT_OUT, "set-dimension-size(", " bitcast(")
"""A size beyond its bound is written over the heap: what ends then is another module's run. Bitcasts mean layouts,
which programs do not have before the compiler assigns them."""


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="hloproof-dumps-"))
    register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _plain() -> Xla:
    return _closed_in_the_end(Xla(seconds=25))


@cache
def _dumping() -> Xla:
    return _closed_in_the_end(Xla(FLAGS.format(folder=_folder()), seconds=25))


def _closed_in_the_end(xla: Xla) -> Xla:
    register(xla.close)
    return xla


def cases() -> st.SearchStrategy[str]:
    """Modules for one device, some of them with another element type in place of f32."""
    for xla in (_plain(), _dumping()):
        xla.ask({"hlo": _SMALL, "inputs": []})  # what takes long at first is no example's time
    single = operations().filter(lambda text: not any(words in text for words in _LEFT_OUT))
    some = st.one_of(movement_modules(), single)
    return st.tuples(some, st.one_of(st.just("f32"), st.just("f32"), st.sampled_from(TYPES))).map(_typed)


def _typed(drawn: tuple[str, str]) -> str:
    text, kind = drawn
    if kind == "f32":
        return text
    text = re.sub(r"\bf32\b", kind, text)
    if kind == "pred":
        text = re.sub(r"\b(add|subtract|negate)\(", lambda m: "not(" if m[1] == "negate" else "xor(", text)
        text = text.replace("constant(0)", "constant(false)")
    return text


def examine(text: str) -> tuple[str, ...]:
    try:
        text = neutral(text)
        module = parse_module(text)
    except InputError:
        return ("not a module with this element type",)
    if not plain(module):
        return ("parameters are no plain arrays",)
    told: Counter[str] = Counter(_neighbours(module))
    try:
        told.update(_judged(text, module))
    except NotModelled as reason:
        return (*told, f"not modelled: {reason}")
    except Failure as failure:
        upstream = known(failure.cause, failure.message, text)
        if upstream is None:
            raise
        return (*told, f"upstream: {upstream}")
    return tuple(told.elements())


def _judged(text: str, module: Module) -> Counter[str]:
    told: Counter[str] = Counter()
    seed = crc32(text.encode())
    inputs = exact_inputs(module, seed)
    dumped = seed % DUMPED_ONE_IN == 0
    if dumped:
        empty(_folder())
    all_changes = list(changes(module, inputs, seed))
    answer = (_dumping() if dumped else _plain()).ask({"hlo": text, "runs": requests(inputs, all_changes)})
    if "error" in answer:
        return Counter([_refused(answer["error"])])
    runs = [[output["data"] for output in run] for run in answer["runs"]]
    _same_results(module, inputs, runs[0], exact=_INEXACT.search(text) is None)
    for change, run in zip(all_changes, runs[1:], strict=True):
        wrong, where, more = judged(change, differences(runs[0], run))
        if wrong:
            raise Failure(f"compiler: {wrong}", where)
        told.update(more.keys())
    told["perturbed"] += 1
    if dumped:
        told.update(judged_dumps().keys())
    return told


def judged_dumps() -> Counter[str]:
    try:
        return judge_dumps(_folder())
    except Refuted as found:
        what = found.name if found.name.startswith("plan-") else f"pass {found.name}"
        raise Failure(f"compiler: {what} is refuted", found.said) from found


def dossier(case: str, cause: str, message: str) -> dict[str, str]:
    """The finding as files. A case that is no module of plain arrays has its verdict only."""
    try:
        text = neutral(case)
        module = parse_module(text)
    except InputError:
        return {"verdict.txt": f"{cause}\n{message}\n"}
    if not plain(module):
        return {"verdict.txt": f"{cause}\n{message}\n"}
    return files(text, module, exact_inputs(module, crc32(text.encode())), cause, message)


def _refused(error: str) -> str:
    """What a refusal counts as. Raises Failure where a valid module ends the compiler, or breaks inside of it."""
    if error in (DIED, HANGS):
        raise Failure("compiler: the process ends" if error == DIED else "compiler: it does not answer", error)
    if "during context [hlo verifier]" in error and "Failed after" in error:
        raise Failure("compiler: it refuses its own module", error[:400])
    if not any(w in error for w in _NOT_FOR_PROGRAMS) and any(words in error for words in _OWN_ERRORS):
        raise Failure("compiler: internal error", error[:400])
    return f"refused: {error[:60]}"


def _same_results(module: Module, inputs: tuple[Value, ...], theirs: list[list[Any]], exact: bool) -> None:
    """Raises Failure. Where nothing rounds on these inputs, equal means equal."""
    own = list(arrays(Machine(module, Real(), Devices(), 0).run([inputs])[0]))
    for n, (a, b) in enumerate(zip(own, theirs, strict=True)):
        bound = 0.0 if exact and not _rounds(a) else _bound(a)
        for k, (x, y) in enumerate(zip(a.data, b, strict=True)):
            value = complex(*y) if isinstance(y, list) else y
            if x != value and not (x != x and value != value) and not _near(x, value, bound):
                raise Failure(
                    "compiler: another result than the interpreter's", f"output {n}, element {k}: {value}, not {x}"
                )


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


def _neighbours(module: Module) -> set[str]:
    """Pairs of opcodes, producer first."""
    return {
        f"{c.by_name[o].opcode} > {i.opcode}"
        for c in module.computations
        for i in c.instructions
        for o in i.operands
        if c.by_name[o].opcode not in ("parameter", "constant")
    } | {i.opcode for i in module.entry.instructions}


TARGET = Target(
    "compiler", "random modules through every pass of the installed compiler", cases, examine, ".hlo", dossier=dossier
)
