"""Reading rule files. The grammar is in specs/README.md."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Binary, Const, Expr, Var
from hloproof.models.expressions.text import Reader, expression
from hloproof.models.rules.rule import (
    Bounded,
    Computed,
    Condition,
    ConstraintRule,
    Division,
    ExpressionRule,
    ModReading,
    Rule,
    Sort,
    VariableRule,
)
from hloproof.models.specs.folder import specs_folder

_CLAUSES: Final = ("when", "compute", "with", "witness", "because", "from", "expect", "remainder", "division", "note")
_COMPARISONS: Final = ("==", "!=", "<=", "<", ">=", ">")
_FUNCTIONS: Final = {"gcd": 2, "lcm": 2, "inverse": 2, "range": 1, "least": 1, "greatest": 1}


def parse_rules(text: str, file: str = "") -> tuple[Rule, ...]:
    """The rules of a file, in order. Raises InputError with line and column."""
    reader = Reader(_without_comments(text), file)
    rules: list[Rule] = []
    names: set[str] = set()
    while not reader.at_end:
        if not reader.at("rule"):
            raise reader.error("'rule' and a name" if not rules else "a clause or the next 'rule'")
        rule = _rule(reader, file)
        if rule.name in names:
            raise reader.error(f"a new name for the rule before this: {rule.name!r} is used twice", found=False)
        names.add(rule.name)
        rules.append(rule)
    return tuple(rules)


def _without_comments(text: str) -> str:
    """Comments become blanks, so that places stay."""
    return "\n".join(
        line if "#" not in line else line[: line.index("#")] + " " * (len(line) - line.index("#"))
        for line in text.split("\n")
    )


class _Names(dict[str, str]):
    """Every identifier is a metavariable; remembers which, and where the two sides of the statement begin."""

    def __init__(self) -> None:
        super().__init__()
        self.sides: list[tuple[int, int]] = []

    def get(self, key: str, default: Any = None) -> Any:
        return self.setdefault(key, key)


def _rule(reader: Reader, file: str) -> Rule:
    line, column = reader.position()
    if not reader.begins_line:
        raise reader.error("'rule' at the beginning of a line", found=False)
    reader.take()
    name = reader.take_line()
    if not name or not all(c.isalnum() or c in "-_.+" for c in name):
        raise reader.error(f"a rule name of letters, digits, '-', '_' and '.', not {name!r}", found=False)
    names = _Names()
    names.sides.append(reader.position())
    build = _variable_statement(reader, names) if reader.at("for") else _statement(reader, names)
    common: dict[str, Any] = {"name": name, "file": file, "line": line, "column": column, "sides": tuple(names.sides)}
    sorts: dict[str, Sort] = {}
    while not reader.at_end and not reader.at("rule"):
        _clause(reader, names, common, sorts)
    wrong = _unheard(common, sorts, names)
    if wrong is not None:
        raise InputError(f"rule {name}: {wrong}", line, column, reader.line_at(line), file)
    witnesses = dict(common.get("witness", ()))
    common["sorts"] = tuple((n, sorts.get(n) or default_sort(n)) for n in names if n not in witnesses)
    rule: Rule = build(common)
    wrong = _wrongly_bound(rule)
    if wrong is not None:
        raise InputError(f"rule {name}: {wrong}", line, column, reader.line_at(line), file)
    return rule


def _unheard(common: dict[str, Any], sorts: dict[str, Sort], names: _Names) -> str | None:
    """What a clause says that nothing would take notice of."""
    for n in sorts:
        if n not in names:
            return f"a sort is given for {n!r}, which the rule does not mention"
    for word, given in (
        ("witness", [n for n, _ in common.get("witness", ())]),
        ("compute", [c.name for c in common.get("computed", ())]),
    ):
        for n in given:
            if given.count(n) > 1:
                return f"{word} says twice what {n!r} is"
    return None


def _wrongly_bound(rule: Rule) -> str | None:
    """What a clause says of a name that is not its to speak of."""
    bound = {rule.variable, rule.fresh} - {""} if isinstance(rule, VariableRule) else set[str]()
    for n, _ in rule.witness:
        if n not in bound:
            return f"a witness is for a variable that the statement binds, and {n!r} is none"
    if not isinstance(rule, VariableRule):
        return None
    for c in rule.conditions:
        if caught := sorted((c.lhs.free | c.rhs.free) & bound):
            return f"a condition is about the constants, and {caught[0]!r} is bound by the statement"
    if rule.fresh == rule.variable:
        return f"both sides bind {rule.variable!r}: the new variable needs a name of its own"
    for side, other in ((rule.before, rule.fresh), (rule.after, rule.variable)):
        for b in side:
            if other and other in b.expr.free | b.lower.free | b.upper.free:
                return f"{other!r} is bound by the other side of the statement"
    if rule.image is not None and rule.variable in rule.image.free:
        return f"{rule.variable!r} is written by means of itself"
    for b, v in ((rule.before[0], rule.variable), *([(rule.after[0], rule.fresh)] if rule.after else [])):
        if v in b.lower.free | b.upper.free:
            return f"the bounds of {v!r} mention it"
    return None


def default_sort(name: str) -> Sort:
    """Names that begin with w, x, y or z stand for expressions, all others for constants, where `with` says nothing."""
    return "expression" if name[0] in "wxyz" else "constant"


def _statement(reader: Reader, names: _Names) -> Any:
    lhs = expression(reader, names)
    if reader.at("in"):
        before = _bounded_list(reader, names, lhs)
        reader.expect("=>", "',' and another constraint, or '=>'")
        names.sides.append(reader.position())
        if reader.at("never") or reader.at("always"):
            never = reader.take() == "never"
            return lambda c: ConstraintRule(before=before, after=(), never=never, **c)
        after = _bounded_list(reader, names, expression(reader, names))
        return lambda c: ConstraintRule(before=before, after=after, **c)
    reader.expect("=>", "an operator, 'in' or '=>'")
    names.sides.append(reader.position())
    rhs = expression(reader, names)
    return lambda c: ExpressionRule(lhs=lhs, rhs=rhs, **c)


def _variable_statement(reader: Reader, names: _Names) -> Any:
    reader.take()
    variable = expression(reader, names)
    if not isinstance(variable, Var):
        raise reader.error("a variable after 'for'", found=False)
    before = _bounded_list(reader, names, variable)
    reader.expect("=>", "',' and a constraint, or '=>'")
    names.sides.append(reader.position())
    if reader.at("nothing"):
        reader.take()
        return lambda c: VariableRule(variable=variable.name, before=before, **c)
    reader.expect("for", "'for' or 'nothing'")
    fresh = expression(reader, names)
    if not isinstance(fresh, Var):
        raise reader.error("a variable after 'for'", found=False)
    after = _bounded_list(reader, names, fresh)
    reader.expect("with")
    reader.expect(variable.name)
    reader.expect("=")
    image = expression(reader, names)
    return lambda c: VariableRule(
        variable=variable.name, before=before, fresh=fresh.name, after=after, image=image, **c
    )


def _bounded_list(reader: Reader, names: _Names, first: Expr) -> tuple[Bounded, ...]:
    out = [_bounded(reader, names, first)]
    while reader.at(","):
        reader.take()
        out.append(_bounded(reader, names, expression(reader, names)))
    return tuple(out)


def _bounded(reader: Reader, names: _Names, e: Expr) -> Bounded:
    reader.expect("in", "an operator or 'in'")
    reader.expect("[")
    lower = expression(reader, names)
    reader.expect(",")
    upper = expression(reader, names)
    reader.expect("]")
    return Bounded(e, lower, upper)


def _clause(reader: Reader, names: _Names, common: dict[str, Any], sorts: dict[str, Sort]) -> None:
    keyword = reader.text
    if keyword not in _CLAUSES:
        raise reader.error(f"an operator, the next 'rule', or a clause: {', '.join(_CLAUSES)}")
    reader.take()
    match keyword:
        case "from" | "note":
            key = "source" if keyword == "from" else "note"
            common[key] = (common.get(key, "") + " " + reader.take_line()).strip()
        case "when":
            common["conditions"] = common.get("conditions", ()) + tuple(_conditions(reader, names))
        case "compute":
            common["computed"] = common.get("computed", ()) + tuple(_computed(reader, names))
        case "with":
            for name, sort in _pairs(reader, ":", lambda: reader.take_name("a sort")):
                if sort not in get_args(Sort):
                    raise reader.error(f"a sort ({', '.join(get_args(Sort))}) before this", found=False)
                sorts[name] = sort
        case "witness":
            common["witness"] = common.get("witness", ()) + tuple(
                _pairs(reader, "=", lambda: expression(reader, names))
            )
        case "because":
            common["because"] = common.get("because", ()) + tuple(_conditions(reader, names))
        case _:
            allowed, key = {
                "expect": (("proved", "refuted"), "expect"),
                "remainder": (get_args(ModReading), "mod"),
                "division": (get_args(Division), "division"),
            }[keyword]
            if reader.text not in allowed:
                raise reader.error(" or ".join(allowed))
            if key in common:
                raise reader.error(f"one clause `{keyword}`, not two", found=False)
            common[key] = reader.take()


def _pairs(reader: Reader, between: str, value: Any) -> Iterable[tuple[str, Any]]:
    while True:
        name = reader.take_name("a name")
        reader.expect(between)
        yield name, value()
        if not reader.at(","):
            return
        reader.take()


def _conditions(reader: Reader, names: _Names) -> Iterable[Condition]:
    while True:
        left = expression(reader, names)
        if reader.at("divides"):
            reader.take()
            yield Condition("==", Binary("mod", expression(reader, names), left), Const(0))
            if reader.text in _COMPARISONS and not reader.at_end:
                raise reader.error("',' and another condition: 'divides' is no part of a chain", found=False)
        elif reader.text not in _COMPARISONS:
            raise reader.error("an operator, a comparison or 'divides'")
        while reader.text in _COMPARISONS and not reader.at_end:
            sign = reader.take()
            right = expression(reader, names)
            match sign:
                case ">=":
                    yield Condition("<=", right, left)
                case ">":
                    yield Condition("<", right, left)
                case "==" | "!=" | "<=" | "<":
                    yield Condition(sign, left, right)
            left = right
        if not reader.at(","):
            return
        reader.take()


def _computed(reader: Reader, names: _Names) -> Iterable[Computed]:
    while True:
        name = reader.take_name("a name")
        names.get(name)
        reader.expect("=")
        if reader.text in _FUNCTIONS and reader.next_is("("):
            function = reader.take()
            reader.take()
            arguments = [expression(reader, names)]
            while reader.at(","):
                reader.take()
                arguments.append(expression(reader, names))
            reader.expect(")")
            if len(arguments) != _FUNCTIONS[function]:
                raise reader.error(f"{_FUNCTIONS[function]} arguments of {function} before this", found=False)
            yield Computed(name, function, tuple(arguments))
        else:
            yield Computed(name, "value", (expression(reader, names),))
        if not reader.at(","):
            return
        reader.take()


def rules_folder() -> Path:
    """The folder specs/rules, which the simplifier applies."""
    return specs_folder() / "rules"


RuleFile = Literal["arithmetic", "division", "sums", "order", "constraints", "variables"]


@cache
def project_rules(kind: RuleFile) -> tuple[Rule, ...]:
    """The rules that the simplifier applies, from specs/rules/KIND.rules."""
    path = rules_folder() / f"{kind}.rules"
    return parse_rules(path.read_text(encoding="utf-8"), f"specs/rules/{kind}.rules")
