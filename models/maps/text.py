"""The text of indexing maps, read and printed as XLA does.

    (d0, d1)[s0]{rt0} -> (d0 + rt0, (d1 + s0) mod 3), domain: d0 in [0, 9], d1 in [0, 4], s0 in [0, 7], rt0 in [0, 2]
    runtime variables:
    rt0: parameter(1); (d0, d1)[s0] -> (), domain: d0 in [0, 9], d1 in [0, 4], s0 in [0, 7]
    replica id:
    (d0, d1)[s0] -> (d0 / 5), domain: d0 in [0, 9], d1 in [0, 4], s0 in [0, 7]

Where the element that is read depends on values read itself, these name their sources in braces behind the map:
`rt0: parameter(1); (d0){rt0} -> (rt0), domain: d0 in [0, 9], rt0 in [0, 3]; reading {rt0 = parameter(2); ...}`.

White space and line breaks separate words and mean nothing else. Floor division is `/`, `floordiv` or `floorDiv`, and
`ceildiv` may be `ceilDiv`; a constant factor on the left of `*` is moved to the right, as XLA's reader does. A map
without variables has no domain; `KNOWN EMPTY` is a map with an empty domain. A map may stand in an MLIR attribute:
`#xla.indexing_map<"...">`, `#xla_gpu.indexing_map<..., is_simplified: true>`, or `affine_map<...>` with the domain
behind it, since an affine map has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Const, Expr, Var, decimal, to_text
from hloproof.models.expressions.interval import Interval
from hloproof.models.expressions.text import Reader, expression
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    IndexingMap,
    RuntimeVariable,
    Variable,
    provider_called,
)

_ATTRIBUTES: Final = (
    re.compile(
        r"\s*(?P<open>\#?xla(?:_gpu)?\.indexing_map\s*<\s*\"?)(?P<map>.*?)"
        r"(?P<close>(?:,\s*is_simplified\s*:\s*(?:true|false)\s*)?\"?\s*>)\s*",
        re.DOTALL,
    ),
    re.compile(r"\s*(?P<open>affine_map\s*<)(?P<map>(?:->|-(?!>)|[^<>-])*)(?P<close>>)(?P<domain>.*)", re.DOTALL),
)
"""Attributes of MLIR that hold a map. Only `open` and `close` are taken off."""

KNOWN_EMPTY = IndexingMap((), (), constraints=(Constraint(Const(0), Interval(0, -1)),))
"""The map that `KNOWN EMPTY` reads as: no variables, an empty domain."""


def parse_map(text: str, file: str = "") -> IndexingMap:
    """The map that a text spells.

    Raises InputError, with line and column, when it spells none: a word out of place, a variable that is
    not declared or declared twice, a variable without an interval. Empty intervals are no error.
    """
    inside = _unwrapped(text)
    if inside is text:
        return _read(Reader(text, file))
    try:
        return _read(Reader(inside, file))
    except InputError as error:
        line = text.split("\n")[error.line - 1]
        raise InputError(error.message, error.line, error.column, line, file) from error


def _read(reader: Reader) -> IndexingMap:
    if reader.at("KNOWN") and reader.next_is("EMPTY"):
        reader.take()
        reader.take()
        reader.expect_end("the end after KNOWN EMPTY")
        return KNOWN_EMPTY
    m = _map(reader)
    while not reader.at_end:
        if reader.at("runtime") and m.runtime:
            reader.take()
            reader.expect("variables")
            reader.expect(":")
            m = _runtime_section(reader, m)
        elif reader.at("replica") and m.replica is None:
            reader.take()
            reader.expect("id")
            reader.expect(":")
            m = replace(m, replica=_map(reader, m, "d", "s", "rt"))
        else:
            raise reader.error("'runtime variables:', 'replica id:' or the end of the map")
    return m


def _unwrapped(text: str) -> str:
    """The text without the attribute around it, blanks in its place, so that errors stay where they are."""
    for form in _ATTRIBUTES:
        found = form.fullmatch(text)
        if found is not None:
            ends = [found.span(group) for group in ("open", "close")]
            for start, end in ends:
                text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
            return text
    return text


_V = TypeVar("_V", Variable, RuntimeVariable)


def print_map(m: IndexingMap) -> str:
    """The map as XLA prints it: on one line, constraints sorted by their text; sections on lines of their own."""
    if m.is_trivially_empty:
        return "KNOWN EMPTY"
    lines = [_print_plain(m)]
    known = [(name, v) for name, v in _named_runtime(m) if v.provider is not None]
    if known:
        lines.append("runtime variables:")
        lines += [f"{n}: {_print_source(v, m)}" for n, v in known]
    if m.replica is not None:
        lines += ["replica id:", _print_plain(_named_as(m, m.replica))]
    return "\n".join(lines)


def _print_index(m: IndexingMap) -> str:
    """The element that a runtime variable reads; where another device reads it, the steps that lead there."""
    text = _print_plain(m) + ("" if m.replica is None else f"; replica id: {_print_plain(_named_as(m, m.replica))}")
    inner = [f"{n} = {_print_source(v, m)}" for n, v in _named_runtime(m) if v.provider is not None]
    return f"{text}; reading {{{', '.join(inner)}}}" if inner else text


def _print_source(v: RuntimeVariable, m: IndexingMap) -> str:
    return f"{v.provider}" + (f"; {_print_index(_named_as(m, v.index, read=False))}" if v.index else "")


def _named_as(m: IndexingMap, inner: IndexingMap, read: bool = True) -> IndexingMap:
    """A map that stands in `m` with the names that variables have there; `read`: its runtime variables too, which have
    names that no other variable has there otherwise."""
    names = m.display_names()

    def named(letter: str, variables: Sequence[_V]) -> tuple[_V, ...]:
        own = [f"{letter}{k}" for k in range(len(variables))]
        return tuple(
            replace(v, name="" if names.get(n, n) == n else names[n]) for n, v in zip(own, variables, strict=True)
        )

    dims, ranges = named("d", inner.dims), named("s", inner.ranges)
    if read:
        return replace(inner, dims=dims, ranges=ranges, runtime=named("rt", inner.runtime))
    taken = {v.name or f"{letter}{k}" for letter, some in (("d", dims), ("s", ranges)) for k, v in enumerate(some)}
    runtime: list[RuntimeVariable] = []
    for k, v in enumerate(inner.runtime):
        name = v.name or f"rt{k}"
        while name in taken:
            name += "_"
        taken.add(name)
        runtime.append(replace(v, name="" if name == f"rt{k}" else name))
    return replace(inner, dims=dims, ranges=ranges, runtime=tuple(runtime))


def _named_runtime(m: IndexingMap) -> list[tuple[str, RuntimeVariable]]:
    names = m.display_names()
    return [(names[f"rt{k}"], v) for k, v in enumerate(m.runtime)]


def _print_plain(m: IndexingMap) -> str:
    names = m.display_names()
    shown = list(names.values())
    n, k = len(m.dims), len(m.ranges)
    head = f"({', '.join(shown[:n])})"
    if k:
        head += f"[{', '.join(shown[n : n + k])}]"
    if m.runtime:
        head += f"{{{', '.join(shown[n + k :])}}}"
    domain = [f"{names[name]} in {_print_interval(i)}" for name, i in m.intervals()]
    domain += sorted(f"{to_text(c.expr, names)} in {_print_interval(c.interval)}" for c in m.constraints)
    text = f"{head} -> ({', '.join(to_text(e, names) for e in m.results)})"
    return f"{text}, domain: {', '.join(domain)}" if domain else text


def _print_interval(i: Interval) -> str:
    return f"[{decimal(i.lower)}, {decimal(i.upper)}]"


# --- reading -----------------------------------------------------------------------------------------------------


def _map(reader: Reader, around: IndexingMap | None = None, *shared: str) -> IndexingMap:
    """A map; one that stands in another has the variables of these kinds from it, by their places."""
    names: dict[str, str] = {}
    groups = [_names(reader, "(", ")", "d", names)]
    groups.append(_names(reader, "[", "]", "s", names) if reader.at("[") else [])
    groups.append(_names(reader, "{", "}", "rt", names) if reader.at("{") else [])
    given = {} if around is None else {name: own for own, name in around.display_names().items()}
    for name, own in names.items():
        kind = own.rstrip("0123456789")
        if kind in shared and given.get(name, own) != own:
            raise reader.error(f"the variables in the order of the map around, not {name!r} here", found=False)
    reader.expect("->")
    results = _results(reader, names)
    intervals, constraints = _domain(reader, names)
    for name, canonical in names.items():
        if canonical not in intervals:
            raise reader.error(f"an interval for {name!r}: ', domain: {name} in [lower, upper]'")

    def variables(prefix: str, group: list[str]) -> list[tuple[Interval, str]]:
        return [(intervals[f"{prefix}{i}"], "" if n == f"{prefix}{i}" else n) for i, n in enumerate(group)]

    return IndexingMap(
        dims=tuple(Variable(i, n) for i, n in variables("d", groups[0])),
        ranges=tuple(Variable(i, n) for i, n in variables("s", groups[1])),
        runtime=tuple(RuntimeVariable(i, n) for i, n in variables("rt", groups[2])),
        results=tuple(results),
        constraints=tuple(constraints),
    )


def _names(reader: Reader, opening: str, closing: str, prefix: str, names: dict[str, str]) -> list[str]:
    reader.expect(opening)
    group: list[str] = []
    while not reader.at(closing):
        if group:
            reader.expect(",", f"',' or '{closing}'")
        if not reader.at_name:
            raise reader.error("a variable name")
        if reader.text in names:
            raise reader.error(f"a new name: {reader.text!r} is declared twice", found=False)
        name = reader.take_name("a variable name")
        names[name] = f"{prefix}{len(group)}"
        group.append(name)
    reader.take()
    return group


def _results(reader: Reader, names: dict[str, str]) -> list[Expr]:
    reader.expect("(", "'(' and the list of results")
    results: list[Expr] = []
    while not reader.at(")"):
        if results:
            reader.expect(",", "an operator, ',' or ')'")
        results.append(expression(reader, names))
    reader.take()
    return results


def _domain(reader: Reader, names: dict[str, str]) -> tuple[dict[str, Interval], list[Constraint]]:
    intervals: dict[str, Interval] = {}
    constraints: list[Constraint] = []
    separated = reader.at(",")
    if separated:
        reader.take()
    # A map without variables has no domain, and what follows it may be a runtime variable of that name.
    if not reader.at("domain") or not reader.next_is(":") or not (names or separated):
        return intervals, constraints
    reader.take()
    reader.expect(":")
    while not reader.at_end and not _section_follows(reader):
        e = expression(reader, names)
        reader.expect("in", "an operator or 'in'")
        bounds = _interval(reader)
        if isinstance(e, Var) and e.name not in intervals:
            intervals[e.name] = bounds
        else:
            constraints.append(Constraint(e, bounds))
        if reader.at(","):  # A line break is enough between two entries.
            reader.take()
    return intervals, constraints


def _section_follows(reader: Reader) -> bool:
    """At `runtime variables:`, `replica id:`, the next `name:` or `name =` of a list of runtime variables, the end of
    such a list, or the `;` before the steps to the device that reads one."""
    return (
        reader.at(";")
        or (reader.at("runtime") and reader.next_is("variables"))
        or (reader.at("replica") and reader.next_is("id"))
        or (reader.at_name and (reader.next_is(":") or reader.next_is("=")))
        or reader.at("}")
    )


def _interval(reader: Reader) -> Interval:
    reader.expect("[", "'[lower, upper]'")
    lower = _integer(reader)
    reader.expect(",")
    upper = _integer(reader)
    reader.expect("]")
    return Interval(lower, upper)


def _integer(reader: Reader) -> int:
    sign = 1
    if reader.at("-"):
        sign = -1
        reader.take()
    if not reader.at_number:
        raise reader.error("an integer")
    value = reader.number()
    reader.take()
    return sign * value


def _runtime_section(reader: Reader, m: IndexingMap) -> IndexingMap:
    position = {name: k for k, (name, _) in enumerate(_named_runtime(m))}
    runtime = list(m.runtime)
    while reader.at_name and reader.next_is(":"):
        k = position.get(reader.text)
        if k is None:
            raise reader.error(f"a runtime variable of the map: one of {', '.join(position)}")
        if runtime[k].provider is not None:
            raise reader.error(f"another runtime variable: {reader.text!r} is given twice", found=False)
        reader.take()
        reader.expect(":")
        runtime[k] = _source(reader, runtime[k], m)
        if reader.at(","):
            reader.take()
    return replace(m, runtime=tuple(runtime))


def _source(reader: Reader, v: RuntimeVariable, m: IndexingMap) -> RuntimeVariable:
    """Reads the provider of a runtime variable of the map, the element, the steps to another device, and what these
    read."""
    written = reader.take_raw(";,}\n", balanced=True)
    if not written.lstrip("%"):
        raise reader.error("what is read: `operand(n)`, `parameter(n)` or a name")
    # An instruction may be called as the reader's own place is.
    provider = written if written == provider_called(READER) else written.lstrip("%")
    if not reader.at(";"):
        return replace(v, provider=provider)
    reader.take()
    index = _map(reader, m, "d", "s")
    while reader.at(";"):
        reader.take()
        if reader.at("reading"):
            reader.take()
            index = _inner_readings(reader, index)
            continue
        if index.replica is not None:
            raise reader.error("'reading {', or the end of what is read")
        reader.expect("replica", "'replica id:' or 'reading {'")
        reader.expect("id")
        reader.expect(":")
        index = replace(index, replica=_map(reader, index, "d", "s", "rt"))
    if provider == READER and index.results:
        raise reader.error(f"no coordinates: `{READER}` is one number, the place of a device", found=False)
    return replace(v, provider=provider, index=index)


def _inner_readings(reader: Reader, index: IndexingMap) -> IndexingMap:
    position = {name: k for k, (name, _) in enumerate(_named_runtime(index))}
    runtime = list(index.runtime)
    reader.expect("{")
    while not reader.at("}"):
        k = position.get(reader.text)
        if k is None or runtime[k].provider is not None:
            raise reader.error(f"a runtime variable of the map, each once: {', '.join(position) or 'it has none'}")
        reader.take()
        reader.expect("=")
        runtime[k] = _source(reader, runtime[k], index)
        if reader.at(","):
            reader.take()
    reader.take()
    return replace(index, runtime=tuple(runtime))
