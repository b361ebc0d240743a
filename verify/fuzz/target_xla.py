"""Target `xla`: random modules through the real compiler: its output against the interpreter, its optimised module
under `check`. Needs jax, in this Python or in the one that HLOPROOF_XLA_PYTHON names."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from models.errors import InputError, NotModelled
from models.hlo.parser import parse_module
from verify.fuzz.generate_modules import movement_modules
from verify.fuzz.generate_operations import operations
from verify.fuzz.reference import Xla, compare, python_with_jax
from verify.fuzz.target import Failure, Target

if python_with_jax() is None:
    raise ModuleNotFoundError("jax is not installed (extra hloproof[xla])", name="jax")


@cache
def reference() -> Xla:
    return Xla()


def cases() -> st.SearchStrategy[str]:
    """Modules for one device."""
    return st.one_of(movement_modules(), operations().filter(lambda text: "replica_count" not in text))


def neutral(text: str) -> str:
    """The module with zero for the initial value of its fold: how often another one is used is not specified."""
    opcode = parse_module(text).entry.root.opcode
    number = {"reduce": 1, "reduce-window": 1, "select-and-scatter": 2}.get(opcode)
    return text.replace(f"  p{number} = f32[] parameter({number})", f"  p{number} = f32[] constant(0)")


def examine(text: str) -> tuple[str, ...]:
    text = neutral(text)
    module = parse_module(text)
    try:
        found, optimized = compare(text, module, reference(), seed=len(text))
    except NotModelled as reason:
        return (f"not modelled: {reason}",)
    if found is not None and found.startswith("reference: "):
        return (f"refused by the compiler: {found[11:80]}",)
    if found is not None:
        opcode = module.entry.root.opcode
        raise Failure(f"xla: another result of {opcode if opcode not in ('negate', 'fusion') else 'a module'}", found)
    return ("agrees", *_optimized(optimized))


def _optimized(text: str) -> tuple[str, ...]:
    from verify.driver import check_hlo
    from verify.options import Options

    try:
        report = check_hlo(text, Options(jobs=1))
    except InputError as error:
        raise Failure("xla: the optimised module does not parse", str(error)) from error
    for record in report.records(undecided_only=True):
        if record.verdict != "unknown":
            said = record.counterexample or record.reason
            raise Failure(f"xla: {record.claim} of an optimised module is {record.verdict}",
                f"{record.instruction}: {said}")
    return ("optimised module checked",)


TARGET = Target("xla", "random modules against the real compiler", cases, examine, ".hlo")
