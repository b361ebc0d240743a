"""Target `text`: the parser on spoilt texts gives an answer or a clear error; what it accepts prints and parses."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw
from hloproof.fuzz.operations.generators.operations import unshaped_operations
from hloproof.fuzz.target import Failure, Target
from hloproof.models.errors import InputError
from hloproof.models.hlo.parser import parse_modules
from hloproof.models.hlo.printer import print_modules
from hloproof.models.specs.folder import specs_folder

_WORDS = '{ } ( ) [ ] , = % " /* */ // ROOT ENTRY f32 -> <= -1 parameter(0) {1,0} T(8,128) inf é'
_PIECES = (*_WORDS.split(), "99999999999999999999", "\x00", "\n", " ")


@cache
def real_texts() -> list[str]:
    """The modules that come with the project, and those of a corpus folder beside it, the small ones."""
    folders = [specs_folder() / "examples", Path(__file__).parents[4] / "shared" / "corpus" / "xla"]
    files = [f for folder in folders if folder.is_dir() for f in sorted(folder.glob("*.hlo"))]
    return [f.read_text(errors="replace") for f in files if f.stat().st_size < 6000]


@st.composite
def spoilt(draw: Draw) -> str:
    """A module with a few places cut out, doubled, exchanged or overwritten."""
    known = real_texts()
    text: str = draw(st.sampled_from(known)) if known and draw(st.booleans()) else draw(unshaped_operations())
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, max(0, len(text) - 1)))
        stop = min(len(text), start + draw(st.sampled_from((0, 1, 2, 5, 20))))
        match draw(st.sampled_from(("cut", "double", "overwrite", "move"))):
            case "cut":
                text = text[:start] + text[stop:]
            case "double":
                text = text[:stop] + text[start:]
            case "overwrite":
                text = text[:start] + draw(st.sampled_from(_PIECES)) + text[stop:]
            case "move":
                at = draw(st.integers(0, len(text)))
                text = text[:start] + text[stop:at] + text[start:stop] + text[max(at, stop) :]
    return text


def examine(text: str) -> tuple[str, ...]:
    try:
        modules = parse_modules(text, "case.hlo")
    except InputError as error:
        if not 1 <= error.line <= text.count("\n") + 2 or error.column < 1 or not error.message:
            raise Failure("text: an error without a place", str(error)) from error
        return ("refused",)
    printed = print_modules(modules)
    try:
        again = parse_modules(printed, "printed.hlo")
    except InputError as error:
        raise Failure("text: what is printed does not parse", f"{error}\n{printed}") from error
    if again != modules:
        raise Failure("text: printing and parsing changes a module", printed)
    return ("accepted",)


TARGET = Target("text", "the parser on spoilt modules: an answer or a clear error", spoilt, examine, ".hlo", "")
