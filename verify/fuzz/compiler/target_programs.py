"""Target `programs`: random programs written in JAX, compiled and run by the installed compiler.

What JAX hands to the compiler for one device is judged as a module of target `compiler` is, by every oracle. Then the
program is run as it was written, its arguments donated and laid over four devices, and gives what the interpreter
gives for the module.
"""

from __future__ import annotations

from atexit import register
from collections import Counter
from functools import cache
from pathlib import Path
from zlib import crc32

from hypothesis import strategies as st

from hloproof.fuzz.compiler.finding import files
from hloproof.fuzz.compiler.generate_programs import programs
from hloproof.fuzz.compiler.judging import INEXACT, judged_module, neighbours, refused, same_results, warmed
from hloproof.fuzz.compiler.known import known
from hloproof.fuzz.compiler.perturbation import exact_inputs, plain
from hloproof.fuzz.modules.reference import Xla, arrays, encoded, python_with_jax
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import NotModelled
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_module

if python_with_jax() is None:
    raise ModuleNotFoundError("jax is not installed (extra hloproof[xla])", name="jax")

SCRIPT = Path(__file__).with_name("program_reference.py")


@cache
def programmed() -> Xla:
    xla = Xla(seconds=25, script=SCRIPT)
    register(xla.close)
    return xla


def cases() -> st.SearchStrategy[str]:
    """Programs, as program_reference.py reads them."""
    warmed()
    programmed().ask({"program": "ARGUMENTS = []\ndef program():\n    return jnp.zeros(3)\n"})
    return programs()


def examine(text: str) -> tuple[str, ...]:
    answer = programmed().ask({"program": text})
    if "error" in answer:
        return (f"JAX refuses: {answer['error'][:60]}",)
    hlo = answer["hlo"]
    module = parse_module(hlo)
    if not plain(module):
        return ("parameters are no plain arrays",)
    told: Counter[str] = Counter(neighbours(module))
    try:
        told.update(judged_module(hlo, module))
        told.update(_as_written(text, module, INEXACT.search(hlo) is None))
    except NotModelled as reason:
        return (*told, f"not modelled: {reason}")
    except Failure as failure:
        upstream = known(failure.cause, failure.message, hlo)
        if upstream is None:
            raise
        return (*told, f"upstream: {upstream}")
    return tuple(told.elements())


def _as_written(text: str, module: Module, exact: bool) -> Counter[str]:
    """Raises Failure where donated or laid over several devices it gives something else."""
    laid = "SPECS = None" not in text
    if not laid and "DONATED = ()" in text:
        return Counter()
    inputs = exact_inputs(module, crc32(text.encode()))
    answer = programmed().ask({"program": text, "runs": [[encoded(a) for v in inputs for a in arrays(v)]]})
    kind = "on several devices" if laid else "donated"
    try:
        if "error" in answer:
            return Counter([f"{kind}: {refused(answer['error'])}"])
        told = same_results(module, inputs, [output["data"] for output in answer["runs"][0]], exact)
    except Failure as failure:
        raise Failure(f"{failure.cause}, {kind}", failure.message) from failure
    return told + Counter([kind])


def dossier(case: str, cause: str, message: str) -> dict[str, str]:
    """The program, and what JAX makes of it as the finding of target `compiler`."""
    answer = programmed().ask({"program": case})
    if "error" in answer:
        return {"program.py": case, "verdict.txt": f"{cause}\n{message}\n"}
    hlo = answer["hlo"]
    module = parse_module(hlo)
    inputs = exact_inputs(module, crc32(hlo.encode()))
    return {"program.py": case, **files(hlo, module, inputs, cause, message)}


TARGET = Target(
    "programs", "random JAX programs through the installed compiler", cases, examine, ".py", "#", dossier=dossier
)
