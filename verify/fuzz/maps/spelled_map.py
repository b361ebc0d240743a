"""Texts of indexing maps, spelled in every way that the reader takes, and texts that it must refuse at a known place.

Words are put together here from the map itself, without the project's printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable

_DIVISIONS: Final = {"floordiv": ("/", "floordiv", "floorDiv"), "ceildiv": ("ceildiv", "ceilDiv")}


@dataclass(frozen=True, slots=True)
class Word:
    """A word with what it stands for: `declared` or `used` (names), `bound` (a number of an interval), `entry` (the
    beginning of a variable's interval), `given` (the name of a runtime variable in its section), `raw` (a provider),
    `section`, or nothing."""

    text: str
    role: str = ""


def words(m: IndexingMap, random: Random) -> list[Word]:
    """A spelling of the map, as words. Order and white space that mean nothing are drawn."""
    out = list(_plain(m, random))
    given = [(v.name or f"rt{k}", v) for k, v in enumerate(m.runtime) if v.provider is not None]
    random.shuffle(given)
    sections = [_runtime(given, random)] if given else []
    if m.replica is not None:
        replica = [Word("replica", "section"), Word("id"), Word(":"), *_plain(m.replica, random)]
        sections.insert(random.randint(0, len(sections)), replica)
    return out + [w for s in sections for w in s]


def _runtime(given: Sequence[tuple[str, RuntimeVariable]], random: Random) -> list[Word]:
    out = [Word("runtime", "section"), Word("variables"), Word(":")]
    for name, v in given:
        out += [Word(name, "given"), Word(":"), Word(random.choice(("", "%")) + (v.provider or ""), "raw")]
        if v.index is not None:
            out += [Word(";"), *_plain(v.index, random)]
            if v.index.replica is not None:
                out += [Word(";"), Word("replica", "section"), Word("id"), Word(":"), *_plain(v.index.replica, random)]
            if out[-1].text == "]" and random.random() < 0.3:
                out.append(Word(","))
        else:
            out.append(Word("\n"))
    return out


def _plain(m: IndexingMap, random: Random) -> Iterator[Word]:
    shown = [(canonical, v.name or canonical) for canonical, v in m.variables()]
    names = dict(shown)
    n, k = len(m.dims), len(m.ranges)
    groups = [("(", ")", shown[:n]), ("[", "]", shown[n : n + k]), ("{", "}", shown[n + k :])]
    for opening, closing, group in groups:
        if opening == "(" or group or random.random() < 0.1:
            yield Word(opening)
            for at, (_, name) in enumerate(group):
                if at:
                    yield Word(",")
                yield Word(name, "declared")
            yield Word(closing)
    yield Word("->")
    yield Word("(")
    for at, e in enumerate(m.results):
        if at:
            yield Word(",")
        yield from _expression(e, names, random)
    yield Word(")")
    entries: list[list[Word]] = []
    for canonical, v in m.variables():
        entries.append([Word(names[canonical], "entry"), *_interval(v.interval)])
    random.shuffle(entries)
    at = 0
    for c in m.constraints:
        if isinstance(c.expr, Var):  # the first interval of a variable is its own
            at = max(at, 1 + next(i for i, e in enumerate(entries) if e[0] == Word(names[c.expr.name], "entry")))
        at = random.randint(at, len(entries))
        entries.insert(at, [*_expression(c.expr, names, random), *_interval(c.interval)])
        at += 1
    if not entries and random.random() < 0.9:
        return
    if random.random() < 0.9:
        yield Word(",")
    yield Word("domain")
    yield Word(":")
    for at, entry in enumerate(entries):
        if at and random.random() < 0.8:
            yield Word(",")
        yield from entry


def _interval(i: Interval) -> list[Word]:
    def number(value: int) -> list[Word]:
        return [Word("-"), Word(str(-value), "bound")] if value < 0 else [Word(str(value), "bound")]

    return [Word("in"), Word("["), *number(i.lower), Word(","), *number(i.upper), Word("]")]


def _expression(e: Expr, names: dict[str, str], random: Random, loose: bool = True) -> Iterator[Word]:
    """`loose`: what stands around binds weaker than any operator."""
    match e:
        case Const(value):
            if value < 0:
                yield Word("-")
            yield Word(str(abs(value)))
        case Var(name):
            yield Word(names[name], "used")
        case Binary("min" | "max" as op, lhs, rhs):
            yield from (Word(op), Word("("))
            yield from _expression(lhs, names, random)
            yield Word(",")
            yield from _expression(rhs, names, random)
            yield Word(")")
        case Binary(op, lhs, rhs):
            bracketed = not loose or random.random() < 0.1
            if bracketed:
                yield Word("(")
            if op == "*" and isinstance(rhs, Const) and not isinstance(lhs, Const) and random.random() < 0.5:
                lhs, rhs = rhs, lhs
            first = isinstance(lhs, Binary) and lhs.op == "+" == op
            yield from _expression(lhs, names, random, loose=first)
            if op == "+" and isinstance(rhs, Const) and rhs.value < 0 and random.random() < 0.7:
                yield from (Word("-"), Word(str(-rhs.value)))
            else:
                yield Word(random.choice(_DIVISIONS.get(op, (op,))))
                yield from _expression(rhs, names, random, loose=False)
            if bracketed:
                yield Word(")")


def joined(spelled: Sequence[Word], random: Random) -> tuple[str, list[int]]:
    """The words as one text, and where in it each begins."""
    text, places = "", list[int]()
    for n, word in enumerate(spelled):
        before = spelled[n - 1].role if n else ""
        space = random.choice(("", " ", " ", "  ", "\n  "))
        if text and (text[-1].isalnum() or text[-1] in "_.%") and (word.text[:1].isalnum() or word.text[0] in "_."):
            space = space or " "
        if before == "raw" or word.role == "raw" or word.text == "\n":
            space = ""
        if text[-1:] in "-=<>!" and word.text[0] in "<>=-":
            space = space or " "
        text += space
        places.append(len(text))
        text += word.text
    return text, places


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1."""
    lines = text[:offset].split("\n")
    return len(lines), len(lines[-1]) + 1


def refused(m: IndexingMap, random: Random) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Texts with one error planted: what it is, the text, and the line and column where the reader stumbles."""
    spelled = words(m, random)

    def made(what: str, changed: Sequence[Word], at: int) -> tuple[str, str, tuple[int, int]]:
        text, places = joined(changed, random)
        return what, text, place(text, places[at] if at < len(changed) else len(text))

    at = random.randint(0, len(spelled))
    while at < len(spelled) and not _stumbles(spelled, at):
        at += 1
    yield made("a word of no use", [*spelled[:at], Word("?"), *spelled[at:]], at)
    for role, other, what in (
        ("used", "nowhere", "an undeclared variable"),
        ("bound", "nowhere", "a name for a number"),
        ("given", "nowhere", "a runtime variable of no map"),
        ("section", "nowhere", "a section of no kind"),
        ("declared", "7", "a number for a name"),
        ("declared", "mod", "a reserved word for a name"),
    ):
        found = [k for k, w in enumerate(spelled) if w.role == role]
        if found:
            k = random.choice(found)
            yield made(what, [*spelled[:k], Word(other), *spelled[k + 1 :]], k)
    head = [k for k, w in enumerate(spelled) if w.role == "declared"]
    n = len(m.dims) + len(m.ranges) + len(m.runtime)
    if n > 1:
        first, second = sorted(random.sample(head[:n], 2))
        twice = [*spelled[:second], Word(spelled[first].text, "declared"), *spelled[second + 1 :]]
        yield made("a name declared twice", twice, second)
    given = [k for k, w in enumerate(spelled) if w.role == "given"]
    if len(given) > 1:
        yield made(
            "a runtime variable given twice",
            [*spelled[: given[1]], spelled[given[0]], *spelled[given[1] + 1 :]],
            given[1],
        )
    yield from _sections(m, spelled, made)


def _stumbles(spelled: Sequence[Word], at: int) -> bool:
    """The reader finds a strange word here, and not at the word before, which needs this one to be understood."""
    before = spelled[at - 1] if at else Word("")
    within = spelled[at].role == "raw" or spelled[at].text in ("\n", ";")
    return not (within or before.text in ("min", "max") or before.role in ("given", "section"))


def _sections(m: IndexingMap, spelled: list[Word], made: object) -> Iterator[tuple[str, str, tuple[int, int]]]:
    assert callable(made)
    end = [Word("\n")] if spelled[-1].text != "\n" else []
    at = len(spelled) + len(end)
    if not m.runtime:
        section = [Word("runtime"), Word("variables"), Word(":")]
        yield made("runtime variables of a map without", [*spelled, *end, *section], at)
    if m.replica is not None:
        again = [Word("replica"), Word("id"), Word(":"), Word("("), Word(")"), Word("->"), Word("("), Word(")")]
        yield made("a second replica part", [*spelled, *end, *again], at)
