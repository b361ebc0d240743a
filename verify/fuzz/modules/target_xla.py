"""Target `xla`: random modules through the real compiler: its output against the interpreter, its optimised module
under `check`. Needs jax, in this Python or in the one that HLOPROOF_XLA_PYTHON names."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.modules.reference import Xla, compare, python_with_jax
from hloproof.fuzz.operations.generators.operations import operations
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.parser import parse_module
from hloproof.models.interpreter.semantics.element_type import INTEGERS, lowest

if python_with_jax() is None:
    raise ModuleNotFoundError("jax is not installed (extra hloproof[xla])", name="jax")


@cache
def reference() -> Xla:
    return Xla()


LEFT_OUT: Final = (
    "replica_count",
    "num_partitions",
    " all-",
    " reduce-scatter(",
    " collective-",
    " ragged-all-",
    "%flip (",
    "%pair_sum (",
    "%crossed (",
    " cholesky(",
    "scatter_dims_to_operand_dims={}",
)
"""Several devices; folds whose result depends on an order that is not specified; matrices that may have no root; a
scatter whose index vectors are empty, of whose updates the CPU compiler (jax 0.10.2) carries out only one."""


def cases() -> st.SearchStrategy[str]:
    """Modules for one device."""
    single = operations().filter(lambda text: not any(words in text for words in LEFT_OUT))
    return st.one_of(movement_modules(), single)


def neutral(text: str) -> str:
    """The module with a neutral initial value of its fold: how often another one is used is not specified. A fusion
    becomes a call: the compiler refuses fusions with instructions that nothing uses."""
    text = text.replace("kind=kLoop, calls=fused", "to_apply=fused").replace(" fusion(", " call(")
    opcode = parse_module(text).entry.root.opcode
    number = {"reduce": 1, "reduce-window": 1, "select-and-scatter": 2}.get(opcode)
    given = re.search(rf"  %?p{number} = (\w+)\[\] parameter\({number}\)", text)
    if given is None:
        return text
    kind, value = given[1], "false" if given[1] == "pred" else "0"
    if re.search(r"to_apply=%?most\b", text):
        value = str(lowest(kind)) if kind in INTEGERS else "false" if kind == "pred" else "-inf"
    text = re.sub(rf"(?m)^(ENTRY .*), p{number}: \w+\[\]\)", r"\1)", text)
    return text.replace(given[0], f"  %p{number} = {kind}[] constant({value})")


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
        raise Failure(f"xla: another result of {opcode if opcode not in ('negate', 'call') else 'a module'}", found)
    return ("agrees", *_optimized(optimized))


def _optimized(text: str) -> tuple[str, ...]:
    from hloproof.pipeline.driver import check_hlo
    from hloproof.pipeline.options import Options

    try:
        report = check_hlo(text, Options(jobs=1))
    except InputError as error:
        raise Failure("xla: the optimised module does not parse", str(error)) from error
    for record in report.records(undecided_only=True):
        if record.verdict != "unknown":
            said = record.counterexample or record.reason
            raise Failure(
                f"xla: {record.claim} of an optimised module is {record.verdict}", f"{record.instruction}: {said}"
            )
    return ("optimised module checked",)


TARGET = Target("xla", "random modules against the real compiler", cases, examine, ".hlo")
