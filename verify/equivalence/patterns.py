"""Both sides of an identity as patterns: their text, where they match a term, and the term that they make.

Trusted. Single letters are terms, numbers are constants of the type, and lt, le, gt, ge, eq, ne are comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from hloproof.equivalence.terms import App, Term, from_value, type_of, value_of
from hloproof.models.interpreter.semantics.small_float import FLOATS

BitPattern = str | float | bool | tuple[object, ...]
View = Callable[[Term], Term]
"""A term with its head in sight."""

DIRECTIONS: Final = {"lt": "LT", "le": "LE", "gt": "GT", "ge": "GE", "eq": "EQ", "ne": "NE"}
SYMMETRIC: Final = frozenset({"add", "multiply", "maximum", "minimum", "and", "or", "xor", "eq", "ne"})


def read_pattern(text: str) -> BitPattern:
    """The pattern that a text writes. Raises ValueError where something follows it."""
    tokens = re.findall(r"[a-z][a-z-]*|-?\d+(?:\.\d+)?|[(),]", text)
    found, rest = _read(tokens)
    if rest:
        raise ValueError(text)
    return found


def _read(tokens: list[str]) -> tuple[BitPattern, list[str]]:
    head, *rest = tokens
    if rest and rest[0] == "(":
        args: list[object] = [head]
        while rest[0] in "(,":
            found, rest = _read(rest[1:])
            args.append(found)
        return tuple(args), rest[1:]
    if head in ("true", "false"):
        return head == "true", rest
    return (head if head.isalpha() else float(head)), rest


def matches(pattern: BitPattern, term: Term, bound: dict[str, Term], view: View) -> Iterator[dict[str, Term]]:
    """Each way in which letters stand for terms, those in `bound` fixed, so that the pattern is the term."""
    if isinstance(pattern, str):
        if pattern not in bound:
            yield {**bound, pattern: term}
        elif bound[pattern] == term or view(bound[pattern]) == view(term):
            yield bound
        return
    seen = view(term)
    if isinstance(pattern, bool | float):
        type_ = type_of(seen)
        # A type without the number (a negative zero, a zero) holds NaN in its place, which is not the number.
        is_held = value_of(seen) == pattern
        if (type_ == "pred") == isinstance(pattern, bool) and is_held and seen == from_value(type_, pattern):
            yield bound
        return
    if not isinstance(seen, App):
        return
    op, *parts = pattern
    assert isinstance(op, str)
    if op in DIRECTIONS:
        if seen.op != "compare" or seen.key != (("direction", DIRECTIONS[op]),):
            return
    elif seen.op != op:
        return
    if len(parts) != len(seen.args):
        return
    orders = [seen.args, seen.args[::-1]] if op in SYMMETRIC else [seen.args]
    for args in orders:
        yield from _all_match(parts, args, bound, view)


def _all_match(
    parts: list[object], args: tuple[Term, ...], bound: dict[str, Term], view: View
) -> Iterator[dict[str, Term]]:
    if not parts:
        yield bound
        return
    for more in matches(parts[0], args[0], bound, view):  # type: ignore[arg-type]
        yield from _all_match(parts[1:], args[1:], more, view)


def built(pattern: BitPattern, bound: dict[str, Term], type_: str) -> Term:
    """The term of type `type_` that the pattern writes; a comparison's operands have the type of a letter in it."""
    if isinstance(pattern, str):
        return bound[pattern]
    if isinstance(pattern, bool | float):
        return from_value(type_, pattern if isinstance(pattern, bool) or type_ in FLOATS else int(pattern))
    op, *parts = pattern
    assert isinstance(op, str)
    if op in DIRECTIONS:
        inner = next(type_of(bound[p]) for p in parts if isinstance(p, str))
        args = tuple(built(p, bound, inner) for p in parts)  # type: ignore[arg-type]
        return App("compare", "pred", args, (("direction", DIRECTIONS[op]),))
    types = ["pred", type_, type_] if op == "select" else [type_] * len(parts)
    return App(op, type_, tuple(built(p, bound, t) for p, t in zip(parts, types, strict=True)))  # type: ignore[arg-type]
