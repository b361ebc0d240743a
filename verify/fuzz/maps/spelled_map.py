"""Texts of indexing maps, spelled in every way that the reader takes, and texts that it must refuse at a known place.

Words are put together here from the map itself, without the project's printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hloproof.fuzz.drawing import Writer
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.interval import Interval
from hloproof.models.maps.indexing_map import IndexingMap, RuntimeVariable

_DIVISIONS: Final = {"floordiv": ("/", "floordiv", "floorDiv"), "ceildiv": ("ceildiv", "ceilDiv")}
_INSTEAD: Final = (
    ("used", "nowhere", "an undeclared variable"),
    ("bound", "nowhere", "a name for a number"),
    ("given", "nowhere", "a runtime variable of no map"),
    ("section", "nowhere", "a section of no kind"),
    ("declared", "7", "a number for a name"),
    ("declared", "mod", "a reserved word for a name"),
)
"""Words that the reader refuses in the place of others: what they replace, the word, and what is wrong."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word with what it stands for: `declared` or `used` (names), `bound` (a number of an interval), `entry` (the
    beginning of a variable's interval), `given` (the name of a runtime variable in its section), `raw` (a provider),
    `section`, or nothing."""

    text: str
    role: str = ""


def _said(text: str) -> list[Word]:
    return [Word(part) for part in text.split(" ")]


def _listed(parts: Sequence[Sequence[Word]]) -> list[Word]:
    """The parts with commas between them."""
    return [word for at, part in enumerate(parts) for word in (*([Word(",")] if at else []), *part)]


def words(m: IndexingMap, w: Writer) -> list[Word]:
    """A spelling of the map, as words. Order and white space that mean nothing are drawn."""
    given = w.shuffled([(v.name or f"rt{k}", v) for k, v in enumerate(m.runtime) if v.provider is not None])
    sections = [_runtime(given, w)] if given else []
    if m.replica is not None:
        sections.insert(w.number(0, len(sections)), _replica(m.replica, w))
    return [*_plain(m, w), *(word for section in sections for word in section)]


def _replica(m: IndexingMap, w: Writer) -> list[Word]:
    return [Word("replica", "section"), *_said("id :"), *_plain(m, w)]


def _runtime(given: Sequence[tuple[str, RuntimeVariable]], w: Writer) -> list[Word]:
    out = [Word("runtime", "section"), *_said("variables :")]
    for name, v in given:
        out += [Word(name, "given"), Word(":"), Word(w.one_of(("", "%")) + (v.provider or ""), "raw")]
        if v.index is None:
            out.append(Word("\n"))
            continue
        out += [Word(";"), *_plain(v.index, w)]
        if v.index.replica is not None:
            out += [Word(";"), *_replica(v.index.replica, w)]
        if out[-1].text == "]" and w.chance(3):
            out.append(Word(","))
    return out


def _plain(m: IndexingMap, w: Writer) -> list[Word]:
    shown = [(canonical, v.name or canonical) for canonical, v in m.variables()]
    names = dict(shown)
    n, k = len(m.dims), len(m.ranges)
    out: list[Word] = []
    for brackets, group in (("()", shown[:n]), ("[]", shown[n : n + k]), ("{}", shown[n + k :])):
        if brackets == "()" or group or w.chance(10):
            out += [Word(brackets[0]), *_listed([[Word(name, "declared")] for _, name in group]), Word(brackets[1])]
    out += [*_said("-> ("), *_listed([list(_expression(e, names, w)) for e in m.results]), Word(")")]
    entries = w.shuffled([[Word(names[c], "entry"), *_interval(v.interval)] for c, v in m.variables()])
    at = 0
    for c in m.constraints:
        if isinstance(c.expr, Var):  # the first interval of a variable is its own
            at = max(at, 1 + next(i for i, e in enumerate(entries) if e[0] == Word(names[c.expr.name], "entry")))
        at = w.number(at, len(entries))
        entries.insert(at, [*_expression(c.expr, names, w), *_interval(c.interval)])
        at += 1
    if entries or w.chance(10):
        # Behind a map without variables only a comma tells the beginning of its domain from a name.
        out += [*_said("domain :" if shown and w.chance(10) else ", domain :")]
    for at, entry in enumerate(entries):
        out += [*([Word(",")] if at and not w.chance(5) else []), *entry]
    return out


def _interval(i: Interval) -> list[Word]:
    def number(value: int) -> list[Word]:
        return [*([Word("-")] if value < 0 else []), Word(str(abs(value)), "bound")]

    return [*_said("in ["), *number(i.lower), Word(","), *number(i.upper), Word("]")]


def _expression(e: Expr, names: dict[str, str], w: Writer, loose: bool = True) -> Iterator[Word]:
    """`loose`: what stands around binds weaker than any operator."""
    match e:
        case Const(value):
            yield from _said(f"- {-value}" if value < 0 else str(value))
        case Var(name):
            yield Word(names[name], "used")
        case Binary("min" | "max" as op, lhs, rhs):
            yield from _said(f"{op} (")
            yield from _listed([list(_expression(side, names, w)) for side in (lhs, rhs)])
            yield Word(")")
        case Binary(op, lhs, rhs):
            bracketed = not loose or w.chance(10)
            if bracketed:
                yield Word("(")
            if op == "*" and isinstance(rhs, Const) and not isinstance(lhs, Const) and w.chance(2):
                lhs, rhs = rhs, lhs
            first = isinstance(lhs, Binary) and lhs.op == "+" == op
            yield from _expression(lhs, names, w, loose=first)
            if op == "+" and isinstance(rhs, Const) and rhs.value < 0 and not w.chance(3):
                yield from _said(f"- {-rhs.value}")
            else:
                yield Word(w.one_of(_DIVISIONS.get(op, (op,))))
                yield from _expression(rhs, names, w, loose=False)
            if bracketed:
                yield Word(")")


def joined(spelled: Sequence[Word], w: Writer) -> tuple[str, list[int]]:
    """The words as one text, and where in it each begins."""
    text, places = "", list[int]()
    for n, word in enumerate(spelled):
        before = spelled[n - 1].role if n else ""
        space = w.one_of((" ", " ", "", "  ", "\n  "))
        of_word = (
            text and (text[-1].isalnum() or text[-1] in "_.%") and (word.text[:1].isalnum() or word.text[0] in "_.")
        )
        if of_word or (text[-1:] in "-=<>!" and word.text[0] in "<>=-"):
            space = space or " "
        if before == "raw" or word.role == "raw" or word.text == "\n":
            space = ""
        text += space
        places.append(len(text))
        text += word.text
    return text, places


def _in_words(letter: str, marks: str) -> bool:
    return letter.isalnum() or (letter != "" and letter in marks)


def refused(m: IndexingMap, w: Writer) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Texts with one error planted: what it is, the text, and the line and column where the reader stumbles, from 1."""
    spelled = words(m, w)
    for what, changed, at in _wrong(m, spelled, w):
        text, places = joined(changed, w)
        before = text[: places[at] if at < len(changed) else len(text)].split("\n")
        yield what, text, (len(before), len(before[-1]) + 1)
    yield "a word after all", "KNOWN EMPTY or", (1, 13)
    yield "half", "KNOWN or", (1, 1)


def _wrong(m: IndexingMap, spelled: list[Word], w: Writer) -> Iterator[tuple[str, list[Word], int]]:
    """What is wrong, the words, and the number of the one that is."""

    def instead(k: int, word: Word) -> list[Word]:
        return [*spelled[:k], word, *spelled[k + 1 :]]

    def of(role: str) -> list[int]:
        return [k for k, word in enumerate(spelled) if word.role == role]

    at = w.number(0, len(spelled))
    while at < len(spelled) and not _stumbles(spelled, at):
        at += 1
    yield "a word of no use", [*spelled[:at], Word("?"), *spelled[at:]], at
    for role, other, what in _INSTEAD:
        if of(role):
            k = w.one_of(of(role))
            yield what, instead(k, Word(other)), k
    declared, given = of("declared")[: len(m.dims) + len(m.ranges) + len(m.runtime)], of("given")
    if len(declared) > 1:
        first, second = sorted(w.shuffled(declared, 2))
        yield "a name declared twice", instead(second, spelled[first]), second
    if len(given) > 1:
        yield "a runtime variable given twice", instead(given[1], spelled[given[0]]), given[1]
    whole = [*spelled, *([Word("\n")] if spelled[-1].text != "\n" else [])]
    if not m.runtime:
        yield "runtime variables of a map without", [*whole, *_said("runtime variables :")], len(whole)
    if m.replica is not None:
        yield "a second replica part", [*whole, *_said("replica id : ( ) -> ( )")], len(whole)


def _stumbles(spelled: Sequence[Word], at: int) -> bool:
    """The reader finds a strange word here, and not at the word before, which needs this one to be understood."""
    before = spelled[at - 1] if at else Word("")
    within = spelled[at].role == "raw" or spelled[at].text in ("\n", ";")
    return not (within or before.text in ("min", "max", "domain") or before.role in ("given", "section"))
