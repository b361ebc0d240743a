"""HLO text from wherever a program has it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from hloproof.models.errors import InputError
from hloproof.models.hlo.module import Module
from hloproof.models.hlo.parser import parse_modules
from hloproof.pipeline.sources import text_of_file, unpacked
from hloproof.results.files import read_bytes


def text_of(source: object) -> tuple[str, str]:
    """The text and the name of a source: a path (also `.gz`, `.hlo.pb`), HLO text, a lowered or compiled JAX function.

    A string with a line end or a brace is text, any other a path. Raises InputError for what is none of these, and for
    StableHLO, which has no indexing maps here; OSError for a file that cannot be read, BadInput for a damaged archive.
    """
    if isinstance(source, PathLike) or (isinstance(source, str) and not is_text(source)):
        return _file(Path(source)), str(source)
    text = source if isinstance(source, str) else _of_jax(source)
    if _is_stablehlo(text):
        raise InputError(
            "this is StableHLO; give the HLO that it is lowered to: jax.jit(f).lower(...).as_text(dialect='hlo')", 1, 1
        )
    return text, ""


def parse(source: object) -> Module:
    """The HLO module of a path, a text, or a lowered or compiled JAX function (`jax.jit(f).lower(x)`).

    Raises InputError with line and column for text that is not one module, OSError for a file that cannot be read.

    >>> parse("ROOT r = f32[8,4] transpose(f32[4,8] p), dimensions={1,0}").entry.root.opcode
    'transpose'
    """
    modules = parse_all(source)
    if len(modules) > 1:
        second = modules[1].position
        raise InputError(f"{len(modules)} modules where one was expected", second.line, second.column)
    return modules[0]


def parse_all(source: object) -> tuple[Module, ...]:
    """All modules of a source; lines `// -----` stand between them. Raises as `parse` does.

    >>> one = "ROOT r = f32[4] negate(f32[4] p)"
    >>> len(parse_all(one + "\\n// -----\\n" + one))
    2
    """
    if isinstance(source, Module):
        return (source,)
    text, name = text_of(source)
    return parse_modules(text, name)


def is_text(source: str) -> bool:
    """Whether a string is text, not a path."""
    return any(sign in source for sign in "\n{(")


def _file(path: Path) -> str:
    if path.name.removesuffix(".gz").endswith(".pb"):
        return text_of_file(read_bytes(path, str(path)), str(path))
    data = unpacked(read_bytes(path, str(path)), str(path))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8 text", line, 1, file=str(path)) from error


def _of_jax(source: Any) -> str:
    """The HLO text of `jax.jit(f).lower(...)` (before the compiler) or of its `.compile()` (after it)."""
    as_text = getattr(source, "as_text", None)
    if not callable(as_text):
        raise InputError(
            f"a path, HLO text, or a lowered or compiled JAX function was expected, not {type(source).__name__}", 1, 1
        )
    if hasattr(source, "compile"):
        return str(as_text(dialect="hlo"))
    return str(as_text())


def _is_stablehlo(text: str) -> bool:
    head = text[:20_000]
    return "stablehlo." in head or ("mhlo." in head and "func.func" in head)
