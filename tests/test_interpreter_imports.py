"""The interpreter judges the rest: it may import the data types only, and no library at all."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "models" / "interpreter"
DATA_TYPES = {
    "hloproof.models.errors",
    "hloproof.models.expressions.expr",
    "hloproof.models.expressions.evaluate",
    "hloproof.models.expressions.interval",
    "hloproof.models.expressions.python_text",
    "hloproof.models.maps.indexing_map",
    "hloproof.models.rules.rule",
    "hloproof.models.hlo.shape",
    "hloproof.models.hlo.attributes",
    "hloproof.models.hlo.beside",
    "hloproof.models.hlo.gathered",
    "hloproof.models.hlo.library_shapes",
    "hloproof.models.hlo.module",
    "hloproof.models.hlo.opcodes",
    "hloproof.models.hlo.shard_shapes",
    "hloproof.models.hlo.text.literal",
}
"""The only other modules of the project that it may name; the readers of literals and of shardings are part of reading
the text, the tables of opcodes and of what is written beside operations hold names and traits, no meaning, and which
sizes a library's call or a gather may have is shape inference."""


def imported(source: str) -> set[str]:
    """Every module that a text imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
            if node.module == "hloproof.models.interpreter":
                names |= {f"hloproof.models.interpreter.{alias.name}" for alias in node.names}
    return names


def foreign(source: str) -> set[str]:
    """What a text imports and the interpreter may not."""
    return {
        name
        for name in imported(source)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith("hloproof.models.interpreter")
        and name not in DATA_TYPES
    }


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda f: f.stem)
def test_only_the_standard_library_and_the_data_types_are_imported(file: Path) -> None:
    assert foreign(file.read_text()) == set()


@pytest.mark.parametrize(
    "source",
    [
        "import numpy",
        "def f():\n    import z3",
        "import islpy as isl",
        "from hloproof.models.simplifier.simplify import simplify",
    ],
)
def test_the_check_notices_what_is_not_allowed(source: str) -> None:
    assert foreign(source)


def test_no_solver_and_no_numpy_is_loaded_by_importing_all_of_it() -> None:
    files = sorted(f for f in FOLDER.rglob("*.py") if f.stem != "__init__")
    names = ["hloproof.models." + ".".join(f.relative_to(FOLDER.parent).with_suffix("").parts) for f in files]
    program = (
        f"import sys\nfor name in {names!r}:\n    __import__(name)\n"
        "libraries = ('numpy', 'z3', 'islpy', 'cvc5')\n"
        "judged = tuple('hloproof.' + name for name in ('models.layouts.tiling', 'models.indexing.',"
        " 'models.simplifier', 'models.expressions.bounds', 'logic', 'engines', 'claims'))\n"
        "loaded = [m for m in sys.modules if m.split('.')[0] in libraries or m.startswith(judged)]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=FOLDER.parents[1])
