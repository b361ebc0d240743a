"""The reader of tensor rules.

    rule slice-of-concatenate-second
      A: [n, k...]  B: [m, k...]
      when n >= 1
      slice(concatenate(A, B, dim=0), start=[n, 0...], limit=[n + m, k...]) => B

A rule is a head line and indented lines. `#` begins a comment. Names of operations have hyphens without blanks around
them, so a minus needs blanks. `when` lists conditions with `,` or `or` between them; `index i, j...` declares scalars
that are read at run time; `pred P` says that a tensor holds truth values, `type integers` or `type reals` what the
others hold, `where compare(A, B, direction=LT)` what is true of elements at each index of the result; `expect refuted`,
`note` and `source` are words for the reader of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Comparator, Const, Expr, Var
from hloproof.models.tensor_rules.rule import (
    Alternatives,
    Call,
    Comparison,
    GroupEntry,
    Infinity,
    Name,
    NumberKind,
    NumberLiteral,
    Tensor,
)
from hloproof.models.tensor_rules.rule import TensorRule as Rule
from hloproof.models.tensor_rules.tokens import COMMENT, Tokens

_HEAD: Final = re.compile(r"rule[ \t]+(?P<name>[A-Za-z0-9][\w.+-]*)[ \t]*$")
_OPERATORS: Final = ("floordiv", "ceildiv", "mod")
WORDS: Final = ("direction", "op")
"""Attributes that are words; all others are numbers."""
_DEEPEST: Final = 60
"""Operations or parentheses that nest deeper are refused."""
_LONGEST: Final = 4300
"""Digits of a number."""


def parse_tensor_rules(text: str, file: str = "") -> tuple[Rule, ...]:
    """The rules of a file, in order. Raises InputError with line and column."""
    lines = tuple(text.splitlines())
    out: list[Rule] = []
    names: set[str] = set()
    for first, last in _blocks(lines, file):
        rule = _Reader(lines, first, last, file).rule()
        if rule.name in names:
            raise rule.error(f"a second rule {rule.name!r}")
        names.add(rule.name)
        out.append(rule)
    if not out:
        raise InputError("there is no rule in this file; one begins with: rule NAME", 1, 1, file=file)
    return tuple(out)


def _blocks(lines: tuple[str, ...], file: str) -> Iterator[tuple[int, int]]:
    """The lines of each rule, numbered from 0, the head first; the last one excluded."""
    heads = []
    for n, line in enumerate(lines):
        plain = COMMENT.sub("", line).rstrip()
        if not plain:
            continue
        if not plain[0].isspace():
            if not _HEAD.fullmatch(plain):
                raise InputError("a rule begins with: rule NAME", n + 1, 1, line, file)
            heads.append(n)
        elif not heads:
            raise InputError("this line belongs to no rule; one begins with: rule NAME", n + 1, 1, line, file)
    yield from zip(heads, [*heads[1:], len(lines)][: len(heads)], strict=True)


class _Reader(Tokens):
    """Reads one rule."""

    def rule(self) -> Rule:
        head = _HEAD.fullmatch(COMMENT.sub("", self.lines[self.first]).rstrip())
        assert head is not None
        words: dict[str, str] = {}
        body: list[int] = []
        declared: dict[str, tuple[GroupEntry, ...]] = {}
        indices: list[GroupEntry] = []
        conditions: list[Alternatives] = []
        predicates: set[str] = set()
        assumed: list[Tensor] = []
        devices: Expr | None = None
        for n in range(self.first + 1, self.last):
            plain = COMMENT.sub("", self.lines[n]).strip()
            word = plain.split(None, 1)[0] if plain else ""
            if not plain:
                continue
            if word in ("expect", "note", "source", "type"):
                if word in words:
                    self._fail(n, f"{word} is said twice")
                whole = self.lines[n].strip() if word in ("note", "source") else plain
                words[word] = whole[len(word) :].strip()
            elif word == "where":
                self._take(n, len(self.lines[n]) - len(self.lines[n].lstrip()) + len(word))
                assumed.append(self._tensor())
                self._end()
            elif word == "devices":
                if devices is not None:
                    self._fail(n, "devices is said twice")
                self._take(n, len(self.lines[n]) - len(self.lines[n].lstrip()) + len(word))
                devices = self._expression()
                self._end()
            elif word in ("when", "index", "pred"):
                self._take(n, len(self.lines[n]) - len(self.lines[n].lstrip()) + len(word))
                if word == "when":
                    conditions += self._conditions()
                elif word == "index":
                    indices += self._names("index declares scalars by name: index i, j...")
                else:
                    named = self._names("pred names tensors: pred P, Q")
                    if any(e.each for e in named):
                        self._fail(n, "pred names tensors: pred P, Q")
                    predicates |= {e.value.name for e in named if isinstance(e.value, Var)}
            elif re.match(r"[A-Za-z_]\w*\s*:", plain):
                self._take(n)
                self._declarations(declared)
            else:
                body.append(n)
        if not body:
            self._fail(self.first, "the rule has no LEFT => RIGHT")
        if devices is not None and indices:
            self._fail(self.first, "a rule about several devices has no index: each device might read another")
        if body != list(range(body[0], body[-1] + 1)):
            gap = next(n for n in body if n - 1 not in body and n != body[0])
            self._fail(gap, "a second rewrite; a rule has one LEFT => RIGHT, on lines that follow each other")
        self.tokens = [t for n in body for t in self._line(n)]
        self.at = 0
        left = self._tensor()
        self._expect("=>")
        right = self._tensor()
        self._end()
        expect: Literal["proved", "refuted"] = "proved"
        if "expect" in words:
            if words["expect"] not in ("proved", "refuted"):
                self._fail(self.first, "expect is proved or refuted")
            expect = "refuted" if words["expect"] == "refuted" else "proved"
        kinds: tuple[NumberKind, ...] = ()
        if "type" in words:
            if words["type"] not in ("integers", "reals"):
                self._fail(self.first, "type is integers or reals")
            kinds = ("integers",) if words["type"] == "integers" else ("reals",)
        rule = Rule(
            head["name"],
            tuple(declared.items()),
            tuple(indices),
            tuple(conditions),
            left,
            right,
            frozenset(predicates),
            kinds,
            tuple(assumed),
            devices,
            expect,
            words.get("note", ""),
            words.get("source", ""),
            self.first + 1,
            1,
            self.file,
            self.lines,
        )
        self._check_names(rule)
        return rule

    def _check_names(self, rule: Rule) -> None:
        declared = {name for name, _ in rule.tensors}
        for name in sorted(rule.predicates - declared):
            raise rule.error(f"pred names {name!r}, which is no tensor of this rule")
        stack: list[Tensor] = [rule.left, rule.right, *rule.assumed]
        while stack:
            node = stack.pop()
            if isinstance(node, Name) and node.name not in declared:
                known = ", ".join(sorted(declared)) or "none"
                raise rule.error(f"no tensor {node.name!r} is declared; there are: {known}", node.line, node.column)
            if isinstance(node, Call):
                stack += node.args

    # Declarations and conditions.

    def _declarations(self, declared: dict[str, tuple[GroupEntry, ...]]) -> None:
        while self.at < len(self.tokens):
            name = self._name("a tensor")
            if name in ("inf", "true", "false"):
                self.at -= 1
                raise self._error(f"{name} is a constant, not the name of a tensor")
            if name in declared:
                self.at -= 1
                raise self._error(f"{name!r} is declared twice")
            self._expect(":")
            self._expect("[")
            declared[name] = tuple(self._entries("]"))
            self._accept(",")

    def _names(self, otherwise: str) -> list[GroupEntry]:
        """The rest of the line as names."""
        first = self.at
        out = self._entries(end=None)
        if not out or not all(isinstance(e.value, Var) for e in out):
            self.at = first
            raise self._error(otherwise)
        return out

    def _name(self, what: str) -> str:
        if self._kind() != "name":
            raise self._error(f"expected the name of {what}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def _conditions(self) -> list[Alternatives]:
        out: list[Alternatives] = []
        while True:
            begun = self.at
            alternatives = [self._conjunction()]
            while self._accept("or"):
                alternatives.append(self._conjunction())
            text = " ".join(t.text for t in self.tokens[begun : self.at])
            out.append(Alternatives(tuple(alternatives), text))
            if not self._accept(","):
                break
        self._end()
        return out

    def _conjunction(self) -> tuple[Comparison, ...]:
        parts = list(self._comparisons())
        while self._accept("and"):
            parts += self._comparisons()
        return tuple(parts)

    def _comparisons(self) -> Iterator[Comparison]:
        """`a <= b < c`, or `(a <= b)...`."""
        if self._peek() == "(" and self._is_each():
            self._expect("(")
            inner = list(self._comparisons())
            self._expect(")")
            self._expect("...")
            yield from (replace(c, each=True) for c in inner)
            return
        lhs = self._expression()
        if self._kind() != "compare":
            raise self._error("expected a comparison: == != <= < >= >")
        while self._kind() == "compare":
            op = self._peek()
            self.at += 1
            rhs = self._expression()
            flipped: dict[str, tuple[Comparator, bool]] = {
                "==": ("==", False),
                "!=": ("!=", False),
                "<=": ("<=", False),
                "<": ("<", False),
                ">=": ("<=", True),
                ">": ("<", True),
            }
            name, turned = flipped[op]
            yield Comparison(name, rhs, lhs) if turned else Comparison(name, lhs, rhs)
            lhs = rhs

    def _is_each(self) -> bool:
        """Whether the parenthesis that opens here is closed before `...` and holds a comparison."""
        depth, compares = 0, False
        for k in range(self.at, len(self.tokens)):
            token = self.tokens[k]
            depth += (token.text == "(") - (token.text == ")")
            compares |= token.kind == "compare" and depth == 1
            if depth == 0:
                return compares and k + 1 < len(self.tokens) and self.tokens[k + 1].text == "..."
        return False

    # Tensors.

    def _tensor(self) -> Tensor:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("nested too deeply")
        try:
            return self._tensor_inside()
        finally:
            self.depth -= 1

    def _tensor_inside(self) -> Tensor:
        negative = self._accept("-")
        if self._kind() == "number":
            self.at += 1
            value = self._integer(self.tokens[self.at - 1].text)
            return NumberLiteral(-value if negative else value)
        if self._peek() == "inf" and self._peek(1) != "(":
            self.at += 1
            return Infinity(negative)
        if negative:
            raise self._error("expected a number, or inf, after '-'")
        if self._peek() in ("true", "false") and self._peek(1) != "(":
            self.at += 1
            return NumberLiteral(int(self._peek(-1) == "true"), truth=True)
        name = self._name("a tensor or an operation")
        token = self.tokens[self.at - 1]
        if not self._accept("("):
            return Name(name, token.line, token.column)
        args: list[Tensor] = []
        attributes: dict[str, tuple[GroupEntry, ...] | str] = {}
        while not self._accept(")"):
            if self._kind() == "name" and self._peek(1) == "=":
                key = self._name("an attribute")
                if key in attributes:
                    raise self._error(f"{key!r} is given twice")
                self._expect("=")
                attributes[key] = self._attribute(key)
            elif attributes:
                raise self._error("expected an attribute; operands come before attributes")
            else:
                args.append(self._tensor())
            if self._peek() != ")":
                self._expect(",")
        return Call(name, tuple(args), tuple(attributes.items()), token.line, token.column)

    def _attribute(self, key: str) -> tuple[GroupEntry, ...] | str:
        for opening, closing in (("[", "]"), ("{", "}")):
            if self._accept(opening):
                return tuple(self._entries(closing))
        if key in WORDS:
            return self._name("a word")
        return (GroupEntry(self._expression()),)

    def _entries(self, end: str | None) -> list[GroupEntry]:
        out: list[GroupEntry] = []
        while self.at < len(self.tokens) if end is None else not self._accept(end):
            if out:
                self._expect(",")
            value = self._expression()
            out.append(GroupEntry(value, self._accept("...")))
        return out

    # Expressions.

    def _expression(self) -> Expr:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error("nested too deeply")
        try:
            out = self._product()
            while self._peek() in ("+", "-"):
                minus = self._peek() == "-"
                self.at += 1
                part = self._product()
                out = out - part if minus else out + part
            return out
        finally:
            self.depth -= 1

    def _product(self) -> Expr:
        out = self._factor()
        while self._peek() in ("*", *_OPERATORS):
            op = self._peek()
            self.at += 1
            part = self._factor()
            if op == "*":
                out = out * part
            elif op == "floordiv":
                out = out // part
            elif op == "ceildiv":
                out = out.ceildiv(part)
            else:
                out = out % part
        return out

    def _factor(self) -> Expr:
        if self._accept("-"):
            return -self._factor()
        if self._accept("("):
            out = self._expression()
            self._expect(")")
            return out
        if self._kind() == "number":
            self.at += 1
            return Const(self._integer(self.tokens[self.at - 1].text))
        name = self._name("a size or an index")
        if name in ("min", "max") and self._accept("("):
            first = self._expression()
            self._expect(",")
            second = self._expression()
            self._expect(")")
            return Binary("min" if name == "min" else "max", first, second)
        if "-" in name:
            self.at -= 1
            raise self._error("a minus between sizes has blanks around it; this is one name")
        return Var(name)

    def _integer(self, text: str) -> int:
        if len(text) > _LONGEST:
            raise self._error("a number of too many digits")
        return int(text)
