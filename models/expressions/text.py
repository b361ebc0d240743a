"""Reading integer expressions, and the words that they and the map syntax are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, Operator, Var

_WORD: Final = re.compile(r"\s*(?:(?P<name>[A-Za-z_][\w.]*)|(?P<number>[0-9]+)|(?P<sign>->|=>|==|!=|<=|>=|[^\s]))")

DIVISIONS: Final[dict[str, Operator]] = {
    "/": "floordiv",
    "floordiv": "floordiv",
    "floorDiv": "floordiv",
    "ceildiv": "ceildiv",
    "ceilDiv": "ceildiv",
}
_TIGHT: Final[dict[str, Operator]] = {"*": "*", "mod": "mod", **DIVISIONS}
RESERVED: Final = frozenset({"in", "mod", "floordiv", "floorDiv", "ceildiv", "ceilDiv"})
"""Words that cannot name a variable."""


def may_name(word: str) -> bool:
    """Whether a variable can be called this, so that what is printed reads back."""
    found = _WORD.fullmatch(word)
    return found is not None and found["name"] == word and word not in RESERVED


class Reader:
    """The words of a text, one at a time, with the word after the present one."""

    def __init__(self, text: str, file: str = "") -> None:
        self._source, self._file = text, file
        self._kind, self.text, self._start, self._end = self._scan(0)
        self._following: tuple[str, str, int, int] | None = None
        self._taken = 0
        """Where the word that was taken last ends."""

    def _scan(self, start: int) -> tuple[str, str, int, int]:
        m = _WORD.match(self._source, start)
        if m is None or m.lastgroup is None:
            return "end", "", len(self._source), len(self._source)
        return m.lastgroup, m[m.lastgroup], m.start(m.lastgroup), m.end()

    @property
    def at_end(self) -> bool:
        return self._kind == "end"

    @property
    def at_name(self) -> bool:
        return self._kind == "name"

    @property
    def at_number(self) -> bool:
        return self._kind == "number"

    def at(self, text: str) -> bool:
        """The present word is `text`."""
        return self.text == text and self._kind != "end"

    def next_is(self, text: str) -> bool:
        """The word after the present one is `text`."""
        if self._following is None:
            self._following = self._scan(self._end)
        return self._following[1] == text

    def take(self) -> str:
        """The present word; the reader moves on."""
        word, self._taken = self.text, self._end
        self._kind, self.text, self._start, self._end = self._following or self._scan(self._end)
        self._following = None
        return word

    def expect(self, text: str, accepted: str = "") -> None:
        """Takes the word `text`, or raises InputError saying that `accepted` would have been."""
        if not self.at(text):
            raise self.error(accepted or repr(text))
        self.take()

    def expect_end(self, accepted: str) -> None:
        if not self.at_end:
            raise self.error(accepted)

    def number(self) -> int:
        """The value of the present word, a number; it is not taken."""
        try:
            return int(self.text)
        except ValueError:
            raise self.error(f"a number of fewer than {len(self.text)} digits", found=False) from None

    def take_name(self, what: str) -> str:
        """Takes an identifier; `what` says which kind, for the error."""
        if not self.at_name or self.text in RESERVED:
            raise self.error(what)
        return self.take()

    def take_raw(self, until: str, balanced: bool = False) -> str:
        """Takes the text before the first of the characters `until` outside quotes (with `balanced`, outside brackets
        as well), without the white space around."""
        start, quoted, depth = self._start, False, 0
        for at in range(start, len(self._source)):
            c = self._source[at]
            if c == '"':
                quoted = not quoted
            elif c in until and not quoted and (not depth or c == "\n"):
                break
            elif balanced and not quoted:
                depth += (c in "({[") - (c in ")}]")
        else:
            at = len(self._source)
        self._following = None
        self._kind, self.text, self._start, self._end = self._scan(at)
        return self._source[start:at].strip()

    def take_line(self) -> str:
        """Takes what is left of the line of the word that was taken last, whatever it holds: nothing at its end."""
        end = self._source.find("\n", self._taken)
        end = len(self._source) if end < 0 else end
        text = self._source[self._taken : end].strip()
        self._following = None
        self._kind, self.text, self._start, self._end = self._scan(end)
        return text

    @property
    def begins_line(self) -> bool:
        """Only white space stands before the present word on its line."""
        return not self._source[self._source.rfind("\n", 0, self._start) + 1 : self._start].strip()

    def line_at(self, number: int) -> str:
        """Line `number` of the text, from 1."""
        return self._source.split("\n")[number - 1]

    def position(self) -> tuple[int, int]:
        """Line and column of the present word, from 1."""
        return self.place(self._start)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into the text, from 1."""
        before = self._source.rfind("\n", 0, offset)
        return self._source.count("\n", 0, offset) + 1, offset - before

    def error(self, accepted: str, found: bool = True) -> InputError:
        """An error at the present word: what would have been accepted, and (with `found`) what stands there instead."""
        line, column = self.position()
        shown = "the end" if self.at_end else repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")
        message = f"expected {accepted}" + (f", found {shown}" if found else "")
        start = self._source.rfind("\n", 0, self._start) + 1
        end = self._source.find("\n", self._start)
        return InputError(message, line, column, self._source[start : end if end >= 0 else None], self._file)


def parse_expr(text: str, variables: Iterable[str] | None = None, file: str = "") -> Expr:
    """The expression that a text spells; any identifier is a variable unless `variables` lists the permitted ones.

    Raises InputError with line and column.
    """
    reader = Reader(text, file)
    e = expression(reader, None if variables is None else {v: v for v in variables})
    reader.expect_end("an operator or the end of the expression")
    return e


def expression(reader: Reader, names: dict[str, str] | None) -> Expr:
    """Reads one expression and stops at the first word that cannot belong to it.

    `+` and `-` bind weaker than `*`, `/`, `ceildiv` and `mod`, which bind alike and to the left; a minus sign before an
    operand binds strongest. `names` says what each declared variable is called in the expression; with None every
    identifier is a variable. Stacks are explicit, so that depth costs memory only.
    """
    stack = _Stack()
    while True:
        while _opening(reader, stack):
            pass
        _leaf(reader, names, stack)
        while stack.frames and reader.at(")"):
            if not stack.close():
                raise reader.error("',' and another argument")
            reader.take()
        if reader.text in ("+", "-") or (reader.text in _TIGHT and not reader.at_end):
            stack.operator(reader.take())
        elif reader.at(",") and stack.frames and stack.frames[-1].function:
            stack.argument()
            reader.take()
        else:
            break
    if stack.frames:
        raise reader.error("an operator or ')'" if not stack.frames[-1].function else "an operator, ',' or ')'")
    return stack.result()


def _opening(reader: Reader, stack: _Stack) -> bool:
    """Takes what may stand before an operand: '(', 'min(', 'max(', or a minus sign that is not a number's."""
    if reader.at("("):
        reader.take()
        stack.open("")
    elif (reader.at("min") or reader.at("max")) and reader.next_is("("):
        stack.open(reader.take())
        reader.take()
    elif reader.at("-"):
        reader.take()
        if reader.at_number:
            stack.push(Const(-reader.number()))
            reader.take()
            return False
        stack.negate()
    else:
        return False
    return True


def _leaf(reader: Reader, names: dict[str, str] | None, stack: _Stack) -> None:
    if stack.has_operand:
        return
    if reader.at_number:
        stack.push(Const(reader.number()))
    elif reader.at_name and reader.text not in RESERVED:
        name = reader.text if names is None else names.get(reader.text)
        if name is None:
            declared = ", ".join(list(names or ())[:8]) or "none"
            raise reader.error(f"a declared variable ({declared})")
        stack.push(Var(name))
    else:
        raise reader.error("an expression")
    reader.take()


class _Frame:
    """An open parenthesis: the sum read so far, the product read so far, and the operators that wait."""

    __slots__ = ("arguments", "bare", "function", "negations", "product", "product_op", "sum", "sum_op")

    def __init__(self, function: str) -> None:
        self.function = function
        self.arguments: list[Expr] = []
        self.sum: Expr | None = None
        self.sum_op = ""
        self.product: Expr | None = None
        self.product_op = ""
        self.bare = True
        """The product is written without parentheses around it."""
        self.negations = 0


class _Stack:
    def __init__(self) -> None:
        self._outer = _Frame("")
        self.frames: list[_Frame] = []
        self.has_operand = False

    @property
    def _top(self) -> _Frame:
        return self.frames[-1] if self.frames else self._outer

    def open(self, function: str) -> None:
        self.frames.append(_Frame(function))

    def negate(self) -> None:
        self._top.negations += 1

    def push(self, e: Expr, parenthesised: bool = False) -> None:
        top = self._top
        for _ in range(top.negations):
            e, parenthesised = Binary("*", e, Const(-1)), False
        top.negations = 0
        if top.product is None:
            top.product, top.bare = e, not parenthesised
        else:
            top.product, top.bare = _tight(_TIGHT[top.product_op], top.product, e), True
        self.has_operand = True

    def operator(self, sign: str) -> None:
        top = self._top
        self.has_operand = False
        if sign in _TIGHT:
            top.product_op = sign
        else:
            top.sum, top.sum_op, top.product = self._total(top), sign, None

    def argument(self) -> None:
        top = self._top
        top.arguments.append(self._total(top))
        top.sum = top.product = None
        self.has_operand = False

    def close(self) -> bool:
        """Ends the innermost parenthesis; False when it is a function's and there is but one argument."""
        top = self._top
        value = self._total(top)
        if top.function:
            if not top.arguments:
                return False
            joined = top.arguments[0]
            for a in (*top.arguments[1:], value):
                joined = Binary("min" if top.function == "min" else "max", joined, a)
            value = joined
        self.frames.pop()
        self.push(value, parenthesised=not top.function)
        return True

    def result(self) -> Expr:
        return self._total(self._outer)

    @staticmethod
    def _total(frame: _Frame) -> Expr:
        assert frame.product is not None
        if frame.sum is None:
            return frame.product
        rhs = frame.product
        if frame.sum_op == "-":
            match rhs:
                case Const(value):
                    rhs = Const(-value)
                case Binary("*", factor, Const(value)) if value > 0 and frame.bare:
                    rhs = Binary("*", factor, Const(-value))
                case _:
                    rhs = Binary("*", rhs, Const(-1))
        return Binary("+", frame.sum, rhs)


def _tight(op: Operator, lhs: Expr, rhs: Expr) -> Expr:
    if op == "*" and isinstance(lhs, Const) and not isinstance(rhs, Const):
        lhs, rhs = rhs, lhs
    return Binary(op, lhs, rhs)
