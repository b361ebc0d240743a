"""Settings from `hloproof.toml` or `[tool.hloproof]` in pyproject.toml, as defaults of the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from hloproof.pipeline.options import LONGEST
from hloproof.results.errors import BadInput
from hloproof.results.files import read_file
from hloproof.results.findings import SEVERITIES


class _Sort(NamedTuple):
    """What a setting takes: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


_STRING: Final = _Sort("a string", lambda v: isinstance(v, str))
_STRINGS: Final = _Sort("a list of strings", _are_strings)
_BOOLEAN: Final = _Sort("true or false", lambda v: isinstance(v, bool))
_COUNT: Final = _Sort("a whole number", _is_count)
_SECONDS: Final = _Sort(
    f"a positive number, at most {LONGEST:g}",
    lambda v: isinstance(v, int | float) and not isinstance(v, bool) and 0 < v <= LONGEST,
)
_WIDTH: Final = _Sort("32 or 64", lambda v: type(v) is int and v in (32, 64))
_SEVERITIES: Final = _Sort(
    f"a table from claims to {', '.join(SEVERITIES)}",
    lambda v: isinstance(v, dict) and all(level in SEVERITIES for level in v.values()),
)

KEYS: Final[dict[str, _Sort]] = {
    "paths": _STRINGS,
    "include": _STRINGS,
    "exclude": _STRINGS,
    "only": _STRINGS,
    "skip": _STRINGS,
    "format": _STRING,
    "output": _STRINGS,
    "jobs": _COUNT,
    "cross": _BOOLEAN,
    "fail-fast": _BOOLEAN,
    "obligation-seconds": _SECONDS,
    "item-seconds": _SECONDS,
    "total-seconds": _SECONDS,
    "no-cache": _BOOLEAN,
    "baseline": _STRING,
    "allow-unknown": _BOOLEAN,
    "strict": _BOOLEAN,
    "severity": _SEVERITIES,
    "layout-sensitive": _BOOLEAN,
    "after-copy-insertion": _BOOLEAN,
    "index-width": _WIDTH,
}
"""What can be set; each is the option of `hloproof check` of the same name, or its arguments (`paths`)."""


COMMAND_LINE_ONLY: Final = frozenset({"cache", "cluster", "certify", "config"})
"""What the settings of a folder, which may be a stranger's, cannot say: where proofs come from, and who is connected
to."""


def read_configuration(folder: Path, chosen: Path | None = None) -> dict[str, Any]:
    """The settings that hold in a folder: those of the file chosen, of `hloproof.toml`, or of `pyproject.toml`.

    Raises BadInput for a file that cannot be read, an unknown key (with a suggestion) and a value of the wrong type.
    """
    if chosen is not None:
        return _settings(chosen)
    for name in ("hloproof.toml", "pyproject.toml"):
        path = folder / name
        if path.is_file():
            found = _settings(path)
            if found or name == "hloproof.toml":
                return found
    return {}


def _settings(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(read_file(path).decode())
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, an integer of too many digits
        raise BadInput(f"{path}: {str(error).partition(';')[0]}") from error
    tool = data.get("tool")
    inside = "pyproject" in path.name
    table = (tool.get("hloproof", {}) if isinstance(tool, dict) else {}) if inside else data
    if not isinstance(table, dict):
        raise BadInput(f"{path}: tool.hloproof is a table")
    for key, value in table.items():
        if key in COMMAND_LINE_ONLY:
            raise BadInput(f"{path}: {key} is no setting of a folder: give --{key} on the command line")
        sort = KEYS.get(key)
        if sort is None:
            near = get_close_matches(key, KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(KEYS)}"
            raise BadInput(f"{path}: unknown key {key!r}; {hint}")
        if not sort.fits(value):
            raise BadInput(f"{path}: {key} is {sort.words}")
    for output in table.get("output", ()):
        target = path.parent / output.partition("=")[2]
        if not target.resolve().is_relative_to(path.parent.resolve()):
            raise BadInput(f"{path}: output {output!r} lies outside of the folder: give --output on the command line")
    return table
