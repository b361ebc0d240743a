"""Target `compiler`: random modules compiled and run by the installed compiler, in a process that may end.

Oracles: crashes, hangs and errors on valid modules; results against the interpreter, of constants too; one input
element changed at a time against the maps; every pass and the whole compilation by `equiv`; the memory plan by
`memory`. What the ledger names already is counted as `upstream:`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from zlib import crc32

from hypothesis import strategies as st

from hloproof.fuzz.compiler.corpus_judging import judged_program, labels, refused_by_us
from hloproof.fuzz.compiler.corpus_mutations import mutants
from hloproof.fuzz.compiler.corpus_programs import corpus, is_corpus
from hloproof.fuzz.compiler.finding import files
from hloproof.fuzz.compiler.generate_corners import corner_modules
from hloproof.fuzz.compiler.generate_rounding import rounding_modules
from hloproof.fuzz.compiler.judging import judged_module, neighbours, warmed
from hloproof.fuzz.compiler.known import known
from hloproof.fuzz.compiler.perturbation import exact_inputs, plain
from hloproof.fuzz.modules.generate_modules import movement_modules
from hloproof.fuzz.modules.reference import python_with_jax
from hloproof.fuzz.modules.target_xla import LEFT_OUT, neutral
from hloproof.fuzz.operations.generators.operations import operations
from hloproof.fuzz.target import Failure, Target, corpus_folder
from hloproof.models.errors import InputError, NotModelled
from hloproof.models.hlo.parser import parse_module

if python_with_jax() is None:
    raise ModuleNotFoundError("jax is not installed (extra hloproof[xla])", name="jax")

TYPES: Final = ("s32", "s8", "u8", "s4", "u4", "s16", "u64", "f64", "bf16", "f16", "pred", "u2", "s2")
"""In place of f32, now and then."""
_LEFT_OUT: Final = (*LEFT_OUT, "set-dimension-size(", " bitcast(")
"""A size beyond its bound is written over the heap: what ends then is another module's run. Bitcasts mean layouts,
which programs do not have before the compiler assigns them."""


def cases() -> st.SearchStrategy[str]:
    """Modules for one device, some of them with another element type in place of f32; of a folder of modules where the
    campaign names one."""
    warmed()
    folder = corpus_folder()
    if folder is not None:
        return mutants(corpus(folder).programs)
    single = operations().filter(lambda text: not any(words in text for words in _LEFT_OUT))
    some = st.one_of(movement_modules(), single)
    typed = st.tuples(some, st.one_of(st.just("f32"), st.just("f32"), st.sampled_from(TYPES))).map(_typed)
    return st.one_of(typed, typed, corner_modules(), rounding_modules())


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
    of_corpus = is_corpus(text)
    try:
        text = text if of_corpus else neutral(text)
        module = parse_module(text)
    except InputError as error:
        return tuple(refused_by_us(text, error)) if of_corpus else ("not a module with this element type",)
    if not plain(module):
        return ("parameters are no plain arrays",)
    told: Counter[str] = Counter(neighbours(module)) + labels(text)
    try:
        told.update(judged_program(text, module) if of_corpus else judged_module(text, module))
    except NotModelled as reason:
        return (*told, f"not modelled: {reason}")
    except Failure as failure:
        upstream = known(failure.cause, failure.message, text)
        if upstream is None:
            raise
        return (*told, f"upstream: {upstream}")
    return tuple(told.elements())


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


TARGET = Target(
    "compiler", "random modules through every pass of the installed compiler", cases, examine, ".hlo", dossier=dossier
)
