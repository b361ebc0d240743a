"""Which room of the house may import which: one table. What is installed are the folders that are there."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]

ROOMS: Final[dict[str, str]] = {
    # models: what things mean
    "models.errors": "",
    "models.line_ends": "",
    "models.stages": "",
    "models.expressions": "models.errors",
    "models.hlo": "models.errors models.stages models.line_ends",
    "models.maps": "models.errors models.stages models.expressions",
    "models.specs": "models.errors models.expressions models.maps models.hlo",
    "models.rules": "models.errors models.expressions models.specs",
    "models.tensor_rules": "models.errors models.expressions",
    "models.simplifier": "models.errors models.stages models.expressions models.maps models.rules",
    "models.dataflow": "models.errors models.stages models.hlo",
    "models.memory": "models.errors models.hlo models.dataflow",
    "models.layouts": "models.errors models.expressions models.maps models.hlo",
    "models.indexing": "models.errors models.stages models.expressions models.maps models.hlo models.layouts "
    "models.simplifier",
    "models.interpreter": "models.errors models.expressions models.maps models.rules models.hlo",
    # verify: how we know
    "version": "",
    "streams": "",
    "processes": "",
    "logic": "models",
    "results": "models",
    "engines": "processes logic models",
    "definitions": "logic models",
    "claims": "definitions engines logic results models",
    "elements": "",
    "equivalence": "elements claims definitions engines processes logic results models",
    "tensor_rules": "elements engines logic results models",
    "memory": "claims engines logic results models",
    "analysis": "claims engines logic models",
    "queries": "tensor_rules equivalence memory claims engines logic results models",
    "pipeline": "queries tensor_rules equivalence memory claims definitions engines processes logic results models "
    "version",
    "report": "pipeline queries equivalence memory claims results models version",
    "library": "pipeline report queries equivalence memory claims results models",
    "server": "library pipeline report analysis queries memory claims engines processes results models version",
    "fuzz": "pipeline queries equivalence memory claims definitions engines processes logic results models",
    "commands": "fuzz server library report pipeline analysis queries equivalence memory claims engines processes "
    "results models version",
    "cli": "commands results models version",
    "__main__": "cli streams",
}
"""What each room may import, besides itself; `models` stands for all the rooms of models. Lowest first: a room names
none that stands below it in this table, so that there is no circle. equivalence and memory are among them whether or
not they are built."""

FACES: Final = {
    "hloproof": "library results models",
    "hloproof.jax": "library",
    "hloproof.models": "models",
    "hloproof.pytest_plugin": "library results",
}
"""Packages and modules that only hand names on, when they are asked for them, and what they take them from."""

LIBRARIES: Final[dict[str, str]] = {
    "islpy": "engines.isl",
    "z3": "engines.z3 engines.nonlinear.encode_z3",
    "cvc5": "engines.smtlib.cvc5",
    "platformdirs": "engines.store",
    "rich": "pipeline.progress",
    "click": "cli commands",
    "jinja2": "report.html.page",
    "markupsafe": "report.html.page",
    "pygls": "server.language",
    "lsprotocol": "server.language",
    "hypothesis": "fuzz",
    "distributed": "fuzz.cluster",
    "jax": "fuzz.modules.xla_reference library.compile_child library.jax_programs",
    "jaxlib": "fuzz.modules.xla_reference library.compile_child",
    "xla_reference": "fuzz.compiler.program_reference",  # a program beside another, run where hloproof is not
    "numpy": "library.compile_child",
    "pytest": "hloproof.pytest_plugin",
}
"""Which modules may import a library, each with what lies below it. No other library is imported."""

DOOR: Final = "door budget gave_up independence"
"""The modules of the engines that every other room may import: claims are proved through the one door, so that cache,
limits, cross-checking, certificates and statistics hold for all of them."""

BESIDE: Final = {
    "analysis.utilization": "isl.count",  # counts points; proves nothing
    "commands.check": "store",  # where the proof cache lies; the store keeps bytes and asks nobody
    "commands.recheck": "certificate",  # proves again from files alone, and that is its point
    "pipeline.record_cache": "store",
    "pipeline.file_cache": "store",
    "commands.passes": "store",
    "pipeline.passes": "store",
    "tensor_rules.certificate": "certificate",  # is named in the manifest beside those of its obligations
    "fuzz": "*",  # tries the engines against each other
}
"""Which modules import what else of the engines, none of them to prove a claim."""


@cache
def modules() -> Mapping[str, Path]:
    """The files of the project by their names after `hloproof.`; faces by their whole names."""
    found = {}
    for folder, prefix in (("verify", ()), ("models", ("models",))):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = (*prefix, *path.relative_to(ROOT / folder).with_suffix("").parts)
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            face = ".".join(("hloproof", name)).rstrip(".")
            found[face if face in FACES else name] = path
    return found


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a text; the files are asked for it by one test after the other."""
    return ast.parse(source)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def imported(source: str) -> tuple[tuple[str, int], ...]:
    """What a text imports anywhere in it, with the line; `from a import b` gives `a.b`."""
    return tuple(_imported(source))


def _imported(source: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{'.' * node.level}{node.module or ''}.{alias.name}", node.lineno) for alias in node.names)


def room(name: str) -> str:
    """The room that something of the project lies in."""
    parts = name.removeprefix("hloproof.").split(".")
    return ".".join(parts[:2]) if parts[0] == "models" and len(parts) > 1 else parts[0]


def allowed(name: str) -> frozenset[str]:
    """The rooms that a module may import from."""
    row = FACES.get(name) or ROOMS.get(room(name), "")
    every_model = [r for r in ROOMS if r.startswith("models.")]
    return frozenset(r for word in row.split() for r in (["models", *every_model] if word == "models" else [word]))


def strays(name: str, source: str) -> list[str]:
    """The imports of a module that the tables do not allow."""
    found = []
    for full, line in imported(source):
        top, place = full.split(".")[0], f"{name}:{line}: {full}"
        if full.startswith("."):
            found.append(f"{place} (imports name the whole path)")
        elif top == "hloproof":
            if room(full) not in {*allowed(name), room(name)} or not _by_the_door(name, full):
                found.append(place)
        elif top not in sys.stdlib_module_names and not within(name, LIBRARIES.get(top, "")):
            found.append(place)
    return found


def _by_the_door(name: str, full: str) -> bool:
    """Whether an import of something in the engines comes from the engines, or by the door."""
    _, _, inside = full.partition("hloproof.engines.")
    if not inside or room(name) == "engines":
        return True
    beside = " ".join(what for module, what in BESIDE.items() if within(name, module))
    return beside == "*" or within(inside, f"{DOOR} {beside}")


def within(name: str, places: str) -> bool:
    return any(f"{name}.".startswith(f"{place}.") for place in places.split())


def test_every_room_stands_in_the_table() -> None:
    assert {room(n) for n in modules() if n not in FACES} <= set(ROOMS)


def test_a_room_imports_only_what_the_table_allows() -> None:
    assert [s for name, path in modules().items() for s in strays(name, text_of(path))] == []


def test_the_table_has_no_circle() -> None:
    order = list(ROOMS)
    for place, name in enumerate(order):
        above = {r for r in order[place:] if r != name}
        assert not allowed(name) & above, f"{name} may import what stands above it"


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("models.maps.text", "from hloproof.logic.formula import And"),
        ("models.maps.text", "def f():\n    import numpy"),
        ("models.hlo.parser", "from hloproof.models.indexing.box import bounds"),
        ("logic.evaluate", "import z3"),
        ("engines.isl.encode", "import z3"),
        ("engines.z3.encode", "from hloproof.claims.operations.owed import owed"),
        ("claims.maps.dedup", "if TYPE_CHECKING:\n    from hloproof.pipeline.options import Options"),
        (
            "definitions.movement",
            "from hloproof.models.indexing.movement import pad, x\nfrom hloproof.claims import owed",
        ),
        ("results.results", "from ..pipeline import options"),
        ("pipeline.driver", "import islpy as isl"),
        ("claims.maps.dedup", "from hloproof.engines.portfolio import prove"),
        ("claims.rules.claims", "def f():\n    from hloproof.engines.z3 import encode"),
        ("pipeline.map_specs", "from hloproof.engines.worker import prove_many"),
        ("analysis.utilization", "from hloproof.engines.isl.encode import find_counterexample"),
    ],
)
def test_an_arrow_that_runs_back_is_noticed(name: str, source: str) -> None:
    assert len(strays(name, source)) == 1


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class of the project at the top of a file, with the file's name."""
    for name, path in modules().items():
        yield from ((name, n) for n in parsed(text_of(path)).body if isinstance(n, ast.ClassDef))


TERMS: Final = (
    "the same notion in two languages of terms: equivalence has sizes that are numbers, tensor_rules all sizes"
)

TWICE: Final[dict[str, str]] = {
    **dict.fromkeys(("App", "Cond", "Elem", "Fold", "Num", "Term"), TERMS),
    "Atom": "what a linear form counts as one variable, of terms of modules and of expressions",
    "Bounded": "a constraint pattern of a rule, and scalars of which bounds are known (with `Scalars` beside it)",
    "Kind": "what a map promises; definitions say it for themselves, since they do not look at what makes the maps",
    "Layout": "the library's own answer about a layout, for users, beside the layout as HLO has it",
    "Reader": "reads words of a text, and elements of arrays",
    "Simplified": "the library's own answer about a map, for users, beside what the simplifier gives",
    "Var": "a variable of an expression has a name, one of a term its place in the context",
}
"""Names of classes and types that stand in two files, with the reason. Everywhere else a name means one thing."""


def types_of(tree: ast.Module) -> Iterator[str]:
    """The public names at the top of a file that stand for a class or a type."""
    for n in tree.body:
        if isinstance(n, ast.ClassDef) and not n.name.startswith("_"):
            yield n.name
        elif (
            isinstance(n, ast.Assign)
            and isinstance(n.targets[0], ast.Name)
            and re.match(r"[A-Z]\w*[a-z]", n.targets[0].id)
        ):
            yield n.targets[0].id


def test_a_name_means_one_thing() -> None:
    """Campaigns state what they try a second time, so that their own names stand beside those of the thing."""
    found: dict[str, list[str]] = {}
    for name, path in modules().items():
        for defined in types_of(parsed(text_of(path))):
            if room(name) != "fuzz":
                found.setdefault(defined, []).append(name)
    twice = {defined: places for defined, places in found.items() if len(places) > 1}
    assert {k: v for k, v in twice.items() if k not in TWICE} == {}
    assert TWICE.keys() - twice == set(), "these stand in one file by now"


def test_types_of_a_file_are_found() -> None:
    text = "class A: ...\nclass _B: ...\nPairs = tuple[int, int]\nTABLE = {}\nx = 1\n_Own = int\n"
    assert list(types_of(ast.parse(text))) == ["A", "Pairs"]


def test_what_was_found_is_written_down_once() -> None:
    """Whatever has a verdict and its counterexample has a `Found`; answers of the library are what users hold."""

    def fields(c: ast.ClassDef) -> set[str]:
        return {n.target.id for n in c.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}

    told = {f"{name}.{c.name}" for name, c in classes() if {"verdict", "counterexample"} <= fields(c)}
    assert {t for t in told if not t.startswith("library.")} == {"results.verdict.Found"}


def circles(arrows: Mapping[str, Iterable[str]]) -> set[str]:
    """The names that lead back to themselves."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = set(arrows.get(waiting.pop(), ())) - seen
            seen |= new
            waiting += new
        return seen

    return {name for name in arrows if name in reached(name)}


def test_no_files_import_each_other_in_a_circle() -> None:
    known = modules()
    arrows: dict[str, set[str]] = {}
    for name, path in known.items():
        found = arrows.setdefault(name, set())
        for full, _ in imported(text_of(path)):
            inside = full.removeprefix("hloproof.")
            owner = inside if inside in known else inside.rpartition(".")[0]
            if full.startswith("hloproof.") and owner in known and owner != name:
                found.add(owner)
    assert circles(arrows) == set()


def test_a_circle_is_noticed() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["b"]}) == {"b", "c"}


def test_the_fingerprint_of_proofs_covers_what_engines_import() -> None:
    """A kept proof is found again only where everything that it depends on is as it was."""
    from hloproof.engines.cache import proof_sources

    covered = {f"models.{f.name}" if f.parent.name == "models" else f.name for f in proof_sources()}
    assert {"logic", "engines"} <= covered
    used = {
        room(full)
        for name, path in modules().items()
        if room(name) in ("logic", "engines")
        for full, _ in imported(text_of(path))
        if full.startswith("hloproof.")
    }
    assert used - covered - {"models", "models.stages"} == set()  # a clock decides nothing


def packages() -> set[str]:
    """The packages that the folders of the project are."""
    found = {"hloproof.specs"}
    for folder, prefix in (("verify", "hloproof"), ("models", "hloproof.models")):
        for path in (ROOT / folder).rglob("*.py"):
            found.add(".".join((prefix, *path.parent.relative_to(ROOT / folder).parts)))
    return found


def test_the_packages_that_are_installed_are_the_folders() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert sorted(stated) == sorted(packages())
    assert stated == sorted(stated)
    missing = [p for p in packages() if p != "hloproof.specs" and not _folder(p).joinpath("__init__.py").is_file()]
    assert missing == []


def _folder(package: str) -> Path:
    _, *parts = package.split(".")
    return ROOT.joinpath(*(parts if parts[:1] == ["models"] else ["verify", *parts]))


DOCUMENTS: Final = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "verify/*.md", "models/*.md", "tests/*.md", "specs/*.md", "docs/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"  # tells of what is gone, too
)
HOUSE: Final = ("CONTRIBUTING.md", "models/README.md", "tests/README.md", "verify/README.md")
"""What is for those who change the project: their names are names of the code."""

_PATH: Final = re.compile(r"(?:[\w.*-]+/)+[\w.*-]*|[\w*-]+\.(?:py|md|toml)")
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?:\([\w, ]*\))?")


def quoted(document: str) -> list[str]:
    """What stands in backticks in the running text of a document."""
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


@cache
def written() -> tuple[frozenset[str], frozenset[str]]:
    """Every name that the project and its tests define, and every text that stands in them as a constant."""
    names: set[str] = set()
    texts: set[str] = set()
    for path in (p for folder in ("verify", "models", "tests") for p in (ROOT / folder).rglob("*.py")):
        names.update((path.stem, *path.parts))
        for n in ast.walk(parsed(text_of(path))):
            match n:
                case ast.FunctionDef(name) | ast.ClassDef(name) | ast.arg(name) | ast.Name(name, ast.Store()):
                    names.add(name)
                case ast.Attribute(_, name, ast.Store()):
                    names.add(name)
                case ast.Constant(str(text)):
                    texts.add(text)
                case _:
                    pass
    return frozenset(names), frozenset(texts)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_documents_are_there(document: str) -> None:
    """Every path in backticks, from the top or from the document's own folder; or what the code itself names so."""
    paths = [word for word in quoted(document) if _PATH.fullmatch(word)]
    assert len(paths) > (4 if document in HOUSE else -1)
    places = [ROOT, (ROOT / document).parent, ROOT / "verify" / "claims"]
    gone = [p for p in paths if not any(_is_there(place, p) for place in places)]
    assert [p for p in gone if p not in written()[1]] == []


def _is_there(place: Path, path: str) -> bool:
    """A path, where `*` stands for anything, or a bare file name somewhere below."""
    return any(place.glob(path.rstrip("/"))) or ("/" not in path and any(place.rglob(path)))


@pytest.mark.parametrize("document", HOUSE)
def test_names_in_documents_are_there(document: str) -> None:
    """Every name in backticks is one that the code defines, or a word of a text that it reads."""
    names, texts = written()
    found = [w for w in quoted(document) if _NAME.fullmatch(w) and not _PATH.fullmatch(w)]
    assert [w for w in found if w not in texts and not set(re.findall(r"\w+", w)) <= names] == []


@pytest.mark.parametrize("document", HOUSE)
def test_what_a_document_places_in_a_file_stands_there(document: str) -> None:
    """`NAME` in `file.py`, and `file.py` (`NAME`)."""
    text = (ROOT / document).read_text(encoding="utf-8")
    said = [(name, file) for name, file in re.findall(r"`(\w+)`\s+in\s+`([\w/]+\.py)`", text)]
    said += [(name, file) for file, name in re.findall(r"`([\w/]+\.py)`\s+\(`(\w+)`", text)]
    assert said or document not in ("CONTRIBUTING.md", "verify/README.md")
    places = [ROOT, (ROOT / document).parent, ROOT / "verify" / "claims"]
    wrong = []
    for name, file in said:
        files = [f for place in places for f in ([place / file] if "/" in file else place.rglob(file)) if f.is_file()]
        if not any(re.search(rf"\b{name}\b", f.read_text(encoding="utf-8")) for f in files):
            wrong.append((name, file))
    assert wrong == []


def test_a_name_that_is_gone_is_noticed() -> None:
    names, texts = written()
    assert {"prove", "owed", "_is_there"} <= names and "becomes" in texts
    gone = "_".join(("no", "such", "name"))  # not written as one, so that it is in neither
    assert gone not in names | texts


def test_the_documents_name_every_room() -> None:
    for folder in ("models", "verify"):
        text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
        rooms = {p.parent.name for p in (ROOT / folder).glob("*/__init__.py")}
        assert {r for r in rooms if f"| `{r}/` |" not in text} == set()
