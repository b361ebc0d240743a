"""What each operation means when sizes are symbols: the sizes of its result, when it is well formed, its elements.

Trusted. Written from the operations' meaning; tests hold it against the executable path at random sizes. Starts of
dynamic operations are clamped to [0, dimension - size] as HLO does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hloproof.logic.formula import FALSE, Formula, conj, disj, eq, le, lt
from hloproof.models.errors import InputError
from hloproof.models.expressions.expr import Const, Expr, Var, lift, maximum, minimum, substitute
from hloproof.models.tensor_rules.rule import Call, Entry, Name, Number, Tensor, TensorRule
from hloproof.tensor_rules.digits import canonical, product, quotient, remainder
from hloproof.tensor_rules.terms import App, Cond, Elem, Fold, Num, Term

Index = tuple[tuple[Expr, ...], ...]
"""One expression per dimension, dimensions in groups."""


@dataclass(frozen=True)
class Group:
    """Dimensions that a rule writes as one: one, or with `each` as many as the rank says."""

    sizes: tuple[Expr, ...]
    each: bool = False


@dataclass(frozen=True)
class Symbolic:
    """A tensor: its dimensions, and the element at an index within them."""

    groups: tuple[Group, ...]
    at: Callable[[Index], Term]
    pred: bool = False

    @property
    def sizes(self) -> tuple[Expr, ...]:
        return tuple(s for g in self.groups for s in g.sizes)


@dataclass
class Meaning:
    """Reads tensors of a rule at one rank of its groups `k...`.

    `wellformed` collects what HLO demands of each operation.
    """

    rule: TensorRule
    rank: int
    wellformed: list[Formula] = field(default_factory=list)
    fresh: int = 0
    done: dict[int, Symbolic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        each, alone = _used(self.rule)
        for name in sorted(alone & _declared_each(self.rule)):
            raise self.rule.error(f"{name}... stands for one number per dimension; {name} by itself says nothing")
        self.aggregated = each - alone
        self.shapes = {name: self.groups(entries) for name, entries in self.rule.tensors}

    # Entries.

    def member(self, e: Expr, i: int) -> Expr:
        """The expression for member i of a group; no rule can write its names, and no proof makes such ones up."""
        return substitute(e, {name: Var(f"{name}:{i}") for name in e.free & self.aggregated})

    def members(self, entry: Entry) -> tuple[Expr, ...]:
        return tuple(self.member(entry.value, i) for i in range(self.rank)) if entry.each else (entry.value,)

    def groups(self, entries: Sequence[Entry]) -> tuple[Group, ...]:
        return tuple(Group(self.members(e), e.each) for e in entries)

    def listed(
        self, call: Call, name: str, groups: Sequence[Group], default: int | None = None
    ) -> list[tuple[Expr, ...]]:
        """The entries of an attribute, one for each group; `default` for all where the attribute is left out."""
        entries = call.entries(name)
        if entries is None:
            if default is None or call.word(name):
                raise self.error(call, f"{call.op} needs {name}=[...], one entry for each dimension")
            return [(lift(default),) * len(g.sizes) for g in groups]
        if len(entries) != len(groups):
            raise self.error(call, f"{name} has {len(entries)} entries where the operand has {len(groups)} dimensions")
        for n, (entry, group) in enumerate(zip(entries, groups, strict=True)):
            if entry.each != group.each:
                how = "with" if group.each else "without"
                raise self.error(call, f"entry {n} of {name} is written {how} '...', as the dimension is")
        return [self.members(e) for e in entries]

    def numbers(self, call: Call, name: str, optional: bool = False) -> tuple[int, ...]:
        """Numbers of groups, written as integers."""
        entries = call.entries(name)
        if entries is None:
            if optional:
                return ()
            raise self.error(call, f"{call.op} needs {name}=[...]")
        out = []
        for e in entries:
            if not isinstance(e.value, Const) or e.each or e.value.value < 0:
                raise self.error(call, f"{name} lists dimensions by number")
            out.append(e.value.value)
        if len(set(out)) != len(out):
            raise self.error(call, f"{name} names a dimension twice")
        return tuple(out)

    def error(self, node: Call | Name | None, message: str) -> InputError:
        return self.rule.error(message, node.line if node else 0, node.column if node else 0)

    def variable(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}.{self.fresh}"

    def owe(self, *formulas: Formula) -> None:
        self.wellformed += formulas

    # Tensors.

    def read(self, node: Tensor) -> Symbolic:
        """Raises InputError for what is no operation, or an operation that does not fit its operands."""
        match node:
            case Number(value):
                return Symbolic((), lambda _: Num(Const(value)))
            case Name(name):
                pred = name in self.rule.predicates
                return Symbolic(self.shapes[name], lambda at: Elem(name, _flat(at), pred), pred)
            case Call():
                args = [self.read(a) for a in node.args]
                found = OPERATIONS.get(node.op)
                if found is not None:
                    known = found.attributes
                    for key, _ in node.attributes:
                        if key not in known:
                            names = ", ".join(sorted(known)) or "none"
                            raise self.error(node, f"{node.op} has no attribute {key!r}; it has: {names}")
                    if found.operands and len(args) != found.operands:
                        raise self.error(node, f"{node.op} takes {found.operands} operands, not {len(args)}")
                    return found.meaning(self, node, args)
                return _elementwise(self, node, args)

    def same_sizes(self, call: Call, a: Symbolic, b: Symbolic) -> None:
        if [(g.each, len(g.sizes)) for g in a.groups] != [(g.each, len(g.sizes)) for g in b.groups]:
            raise self.error(call, f"the operands of {call.op} have other numbers of dimensions")
        self.owe(*(eq(x, y) for x, y in zip(a.sizes, b.sizes, strict=True) if x is not y))

    def group(self, call: Call, tensor: Symbolic, number: int) -> Group:
        if number >= len(tensor.groups):
            raise self.error(call, f"{call.op} names dimension {number} of {len(tensor.groups)}")
        return tensor.groups[number]


@dataclass(frozen=True)
class Operation:
    """How one is read: `operands` 0 for any number."""

    meaning: Callable[[Meaning, Call, list[Symbolic]], Symbolic]
    operands: int
    attributes: frozenset[str]


def aggregated_names(rule: TensorRule) -> frozenset[str]:
    """The names that stand for one number per member of a group: those in an entry with `...` and in none without."""
    each, alone = _used(rule)
    return each - alone


def _declared_each(rule: TensorRule) -> frozenset[str]:
    """Names that a declaration writes as `k...`."""
    entries = [e for _, listed in rule.tensors for e in listed] + list(rule.indices)
    return frozenset(e.value.name for e in entries if e.each and isinstance(e.value, Var))


def _used(rule: TensorRule) -> tuple[frozenset[str], frozenset[str]]:
    """Names in entries with `...`, and in those without."""
    each: set[str] = set()
    alone: set[str] = set()
    entries = [e for _, listed in rule.tensors for e in listed] + list(rule.indices)
    for e in (*entries, *rule.side_entries()):
        (each if e.each else alone).update(e.value.free)
    for condition in rule.conditions:
        for c in (c for part in condition.alternatives for c in part):
            (each if c.each else alone).update(c.lhs.free | c.rhs.free)
    return frozenset(each), frozenset(alone)


def _flat(at: Index) -> tuple[Expr, ...]:
    return tuple(e for group in at for e in group)


def plus(a: Expr, b: Expr | int) -> Expr:
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value + b.value)
    return b if a is _ZERO else a if b is _ZERO else a + b


def minus(a: Expr, b: Expr | int) -> Expr:
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value - b.value)
    return a if b is _ZERO else _ZERO if a is b else a - b


def times(a: Expr, b: Expr | int) -> Expr:
    b = lift(b)
    if isinstance(a, Const) and isinstance(b, Const):
        return Const(a.value * b.value)
    if a is _ZERO or b is _ZERO:
        return _ZERO
    return b if a is _ONE else a if b is _ONE else a * b


_ZERO: Final = Const(0)
_ONE: Final = Const(1)


def _each(groups: Sequence[Group], values: Sequence[tuple[Expr, ...]]) -> tuple[Group, ...]:
    return tuple(Group(v, g.each) for g, v in zip(groups, values, strict=True))


def _elementwise(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Known operations on elements, and any other name: a function that nothing is known of. Scalars go with any."""
    if not args:
        raise m.error(call, f"{call.op!r} is no operation that a rule may name, and has no operands")
    shaped = [a for a in args if a.groups]
    first = shaped[0] if shaped else args[0]
    scalars = call.op in ("select", "clamp")
    for other in args:
        if other is not first and (other.groups or (shaped and not scalars)):
            if not other.groups and shaped and isinstance(call.args[args.index(other)], Number):
                continue
            m.same_sizes(call, first, other)
    key = call.word("direction")
    for name, value in call.attributes:
        if name != "direction" or not isinstance(value, str):
            raise m.error(call, f"{call.op} has no attribute {name!r}")
    wanted = ARITY.get(call.op)
    if wanted is not None and wanted != len(args):
        raise m.error(call, f"{call.op} takes {wanted} operands, not {len(args)}")
    if call.op == "compare" and key not in DIRECTIONS:
        raise m.error(call, f"compare needs direction=, one of {', '.join(DIRECTIONS)}")
    logical = call.op in ("and", "or", "xor", "not")
    if logical and not all(a.pred or isinstance(n, Number) for a, n in zip(args, call.args, strict=True)):
        raise m.error(call, f"{call.op} takes truth values here; say which tensors are: pred NAME")
    if call.op == "select" and not (args[0].pred or isinstance(call.args[0], Number)):
        raise m.error(call, "the first operand of select holds truth values; say so: pred NAME")
    pred = call.op == "compare" or logical or (call.op == "select" and args[1].pred)
    return Symbolic(first.groups, lambda at: App(call.op, tuple(a.at(at if a.groups else ()) for a in args), key), pred)


ARITY: Final = {
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "maximum": 2,
    "minimum": 2,
    "negate": 1,
    "abs": 1,
    "clamp": 3,
    "select": 3,
    "compare": 2,
    "and": 2,
    "or": 2,
    "xor": 2,
    "not": 1,
}
"""Operations on elements whose meaning is known: numbers without bounds, truth values."""
DIRECTIONS: Final = ("EQ", "NE", "LT", "LE", "GT", "GE")


def _concatenate(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (d,) = m.numbers(call, "dim") or (0,)
    if not args or any(len(a.groups) != len(args[0].groups) for a in args):
        raise m.error(call, "concatenate takes tensors of as many dimensions")
    if m.group(call, args[0], d).each:
        raise m.error(call, "concatenate goes along one dimension, not along a group")
    total: Expr = _ZERO
    starts = []
    for a in args:
        for n, (x, y) in enumerate(zip(args[0].groups, a.groups, strict=True)):
            if x.each != y.each:
                raise m.error(call, "the operands of concatenate have other dimensions")
            if n != d:
                m.owe(*(eq(s, t) for s, t in zip(x.sizes, y.sizes, strict=True) if s is not t))
        starts.append(total)
        total = plus(total, a.groups[d].sizes[0])

    def at(index: Index) -> Term:
        (x,) = index[d]
        out: Term | None = None
        for a, start in reversed(list(zip(args, starts, strict=True))):
            here = a.at((*index[:d], (minus(x, start),), *index[d + 1 :]))
            out = here if out is None else Cond(lt(x, plus(start, a.groups[d].sizes[0])), here, out)
        assert out is not None
        return out

    groups = list(args[0].groups)
    groups[d] = Group((total,))
    return Symbolic(tuple(groups), at, args[0].pred)


def _slice(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    starts = m.listed(call, "start", a.groups)
    limits = m.listed(call, "limit", a.groups)
    strides = m.listed(call, "stride", a.groups, 1)
    sizes = []
    for group, start, limit, stride in zip(a.groups, starts, limits, strides, strict=True):
        row = []
        for n, s, t, p in zip(group.sizes, start, limit, stride, strict=True):
            m.owe(le(0, s), le(s, t), le(t, n), le(1, p))
            row.append(minus(t, s) if p is _ONE else minus(t, s).ceildiv(p))
        sizes.append(tuple(row))
    return Symbolic(
        _each(a.groups, sizes),
        lambda at: a.at(
            tuple(
                tuple(plus(times(x, p), s) for x, s, p in zip(xs, ss, ps, strict=True))
                for xs, ss, ps in zip(at, starts, strides, strict=True)
            )
        ),
        a.pred,
    )


def _pad(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    a, filler = args
    if filler.groups:
        raise m.error(call, "the second operand of pad is a scalar")
    lows, highs = m.listed(call, "low", a.groups), m.listed(call, "high", a.groups, 0)
    interiors = m.listed(call, "interior", a.groups, 0)
    sizes = []
    for group, low, high, interior in zip(a.groups, lows, highs, interiors, strict=True):
        row = []
        for n, lo, hi, between in zip(group.sizes, low, high, interior, strict=True):
            holes = times(between, maximum(n - 1, 0)) if between is not _ZERO else _ZERO
            size = plus(plus(plus(n, holes), lo), hi)
            m.owe(le(0, between), le(0, size))
            row.append(size)
        sizes.append(tuple(row))

    def at(index: Index) -> Term:
        tests: list[Formula] = []
        source = []
        for group, xs, low, interior in zip(a.groups, index, lows, interiors, strict=True):
            row = []
            for n, x, lo, between in zip(group.sizes, xs, low, interior, strict=True):
                shifted = canonical(minus(x, lo))
                if between is _ZERO:
                    tests += [le(0, shifted), lt(shifted, n)]
                    row.append(shifted)
                else:
                    step = plus(between, 1)
                    tests += [le(0, shifted), lt(shifted, times(n, step)), eq(shifted % step, 0)]
                    row.append(shifted // step)
            source.append(tuple(row))
        return Cond(conj(*tests), a.at(tuple(source)), filler.at(()))

    return Symbolic(_each(a.groups, sizes), at, a.pred)


def _reverse(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    turned = m.numbers(call, "dims")
    for d in turned:
        m.group(call, a, d)

    def at(index: Index) -> Term:
        return a.at(
            tuple(
                tuple(n - 1 - x for x, n in zip(xs, g.sizes, strict=True)) if d in turned else xs
                for d, (xs, g) in enumerate(zip(index, a.groups, strict=True))
            )
        )

    return Symbolic(a.groups, at, a.pred)


def _transpose(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    order = m.numbers(call, "dims")
    if sorted(order) != list(range(len(a.groups))):
        raise m.error(call, "dims of transpose names each dimension of the operand once")

    def at(index: Index) -> Term:
        source: list[tuple[Expr, ...]] = [()] * len(order)
        for n, d in enumerate(order):
            source[d] = index[n]
        return a.at(tuple(source))

    return Symbolic(tuple(a.groups[d] for d in order), at, a.pred)


def _broadcast(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    groups = m.groups(call.entries("shape") or ())
    places = m.numbers(call, "dims", optional=True)
    if len(places) != len(a.groups):
        raise m.error(call, f"dims of broadcast has {len(places)} entries, the operand {len(a.groups)} dimensions")
    if any(p >= len(groups) or groups[p].each != g.each for p, g in zip(places, a.groups, strict=True)):
        raise m.error(call, "dims of broadcast names dimensions of the shape")
    for p, g in zip(places, a.groups, strict=True):
        m.owe(*(eq(x, y) for x, y in zip(groups[p].sizes, g.sizes, strict=True) if x is not y))
    m.owe(*(le(0, s) for g in groups for s in g.sizes))
    return Symbolic(groups, lambda at: a.at(tuple(at[p] for p in places)), a.pred)


def _reshape(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    groups = m.groups(call.entries("shape") or ())
    m.owe(eq(product(a.sizes), product(groups_sizes(groups))))
    m.owe(*(le(0, s) for g in groups for s in g.sizes))
    return Symbolic(
        groups, lambda at: a.at(_regrouped(reshaped(_flat(at), groups_sizes(groups), a.sizes), a.groups)), a.pred
    )


def groups_sizes(groups: Sequence[Group]) -> tuple[Expr, ...]:
    return tuple(s for g in groups for s in g.sizes)


def _regrouped(flat: Sequence[Expr], groups: Sequence[Group]) -> Index:
    out, at = [], 0
    for g in groups:
        out.append(tuple(flat[at : at + len(g.sizes)]))
        at += len(g.sizes)
    return tuple(out)


def reshaped(at: Sequence[Expr], sizes: Sequence[Expr], source: Sequence[Expr]) -> list[Expr]:
    """The index under sizes `source` of the element at `at` under `sizes`, row-major.

    Dimensions of size 1 have index 0. Leading and trailing dimensions that are written alike are kept; what lies
    between goes through the position.
    """
    mine = [(x, n) for x, n in zip(at, sizes, strict=True) if n is not _ONE]
    places = [k for k, n in enumerate(source) if n is not _ONE]
    out: list[Expr] = [_ZERO] * len(source)
    while mine and places and mine[0][1] is source[places[0]]:
        out[places.pop(0)] = mine.pop(0)[0]
    while mine and places and mine[-1][1] is source[places[-1]]:
        out[places.pop()] = mine.pop()[0]
    position: Expr = _ZERO
    for x, n in mine:
        position = plus(times(position, n), x)
    for k in reversed(places[1:]):
        out[k] = remainder(position, source[k])
        position = quotient(position, source[k])
    if places:
        out[places[0]] = position
    return out


def clamped(start: Expr, most: Expr) -> Expr:
    """A start as HLO takes it."""
    return maximum(0, minimum(start, most))


def _dynamic_slice(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    (a,) = args
    starts, sizes = m.listed(call, "start", a.groups), m.listed(call, "size", a.groups)
    places = []
    for group, start, size in zip(a.groups, starts, sizes, strict=True):
        row = []
        for n, s, w in zip(group.sizes, start, size, strict=True):
            m.owe(le(0, w), le(w, n))
            row.append(_ZERO if w is n else clamped(s, minus(n, w)))
        places.append(row)
    return Symbolic(
        _each(a.groups, sizes),
        lambda at: a.at(
            tuple(tuple(plus(x, s) for x, s in zip(xs, ss, strict=True)) for xs, ss in zip(at, places, strict=True))
        ),
        a.pred,
    )


def _dynamic_update_slice(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    a, update = args
    if [g.each for g in a.groups] != [g.each for g in update.groups]:
        raise m.error(call, "the update of dynamic-update-slice has as many dimensions as the operand")
    starts = m.listed(call, "start", a.groups)
    places = []
    for group, start, own in zip(a.groups, starts, update.groups, strict=True):
        row = []
        for n, s, w in zip(group.sizes, start, own.sizes, strict=True):
            m.owe(le(0, w), le(w, n))
            row.append(_ZERO if w is n else clamped(s, minus(n, w)))
        places.append(row)

    def at(index: Index) -> Term:
        tests: list[Formula] = []
        source = []
        for xs, ss, own, group in zip(index, places, update.groups, a.groups, strict=True):
            source.append(tuple(minus(x, s) for x, s in zip(xs, ss, strict=True)))
            for x, s, w, n in zip(xs, ss, own.sizes, group.sizes, strict=True):
                if w is not n:
                    tests += [le(s, x), lt(x, plus(s, w))]
        new = update.at(tuple(source))
        return Cond(conj(*tests), new, a.at(index)) if tests else new

    return Symbolic(a.groups, at, a.pred)


def _iota(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    groups = m.groups(call.entries("shape") or ())
    (d,) = m.numbers(call, "dim")
    if args or d >= len(groups) or groups[d].each:
        raise m.error(call, "iota takes no operands, and dim= names one dimension of shape=")
    m.owe(*(le(0, s) for g in groups for s in g.sizes))
    return Symbolic(groups, lambda at: Num(at[d][0]))


def _constant(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """A scalar that holds an integer of the rule."""
    entries = call.entries("value")
    if args or entries is None or len(entries) != 1 or entries[0].each:
        raise m.error(call, "constant takes value=, one number")
    return Symbolic((), lambda _: Num(entries[0].value))


def _reduce(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    a = args[0]
    dims = m.numbers(call, "dims")
    op = call.word("op")
    if op not in COMBINERS:
        raise m.error(call, f"reduce needs op=, one of {', '.join(COMBINERS)}")
    for d in dims:
        m.group(call, a, d)
    if len(args) > 2 or (len(args) == 2 and args[1].groups):
        raise m.error(call, "reduce takes a tensor and at most one initial scalar")
    init = args[1].at(()) if len(args) == 2 else None
    if (a.pred) != (op in ("and", "or")):
        raise m.error(call, f"op={op} does not go with these elements")

    def at(index: Index) -> Term:
        rest = iter(index)
        variables: list[tuple[str, Expr]] = []
        source: list[tuple[Expr, ...]] = []
        for d, g in enumerate(a.groups):
            if d in dims:
                names = [m.variable("r") for _ in g.sizes]
                variables += zip(names, g.sizes, strict=True)
                source.append(tuple(map(Var, names)))
            else:
                source.append(next(rest))
        return Fold(op, tuple(variables), a.at(tuple(source)), init)

    return Symbolic(tuple(g for d, g in enumerate(a.groups) if d not in dims), at, a.pred)


COMBINERS: Final = ("add", "maximum", "minimum", "and", "or", "multiply")


def _dot(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Batch dimensions first, then the free ones of the left and of the right."""
    a, b = args
    contract = m.numbers(call, "lhs_contract", True), m.numbers(call, "rhs_contract", True)
    batch = m.numbers(call, "lhs_batch", True), m.numbers(call, "rhs_batch", True)
    for mine, other in (contract, batch):
        if len(mine) != len(other):
            raise m.error(call, "dot names as many dimensions of the left as of the right")
        for x, y in zip(mine, other, strict=True):
            g, h = m.group(call, a, x), m.group(call, b, y)
            if g.each != h.each:
                raise m.error(call, "dot pairs dimensions of different kinds")
            m.owe(*(eq(s, t) for s, t in zip(g.sizes, h.sizes, strict=True) if s is not t))
    free = [
        [d for d in range(len(t.groups)) if d not in contract[k] and d not in batch[k]] for k, t in enumerate((a, b))
    ]
    groups = (*(a.groups[d] for d in batch[0]), *(a.groups[d] for d in free[0]), *(b.groups[d] for d in free[1]))

    def at(index: Index) -> Term:
        variables: list[tuple[str, Expr]] = []
        shared = []
        for d in contract[0]:
            names = [m.variable("r") for _ in a.groups[d].sizes]
            variables += zip(names, a.groups[d].sizes, strict=True)
            shared.append(tuple(map(Var, names)))
        n, f = len(batch[0]), len(free[0])
        places = (index[:n], index[n : n + f]), (index[:n], index[n + f :])
        parts = []
        for k, t in enumerate((a, b)):
            row: list[tuple[Expr, ...]] = [()] * len(t.groups)
            for listed, values in ((batch[k], places[k][0]), (free[k], places[k][1]), (contract[k], tuple(shared))):
                for d, x in zip(listed, values, strict=True):
                    row[d] = x
            parts.append(t.at(tuple(row)))
        return Fold("add", tuple(variables), App("multiply", tuple(parts)))

    return Symbolic(groups, at)


def _convolution(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Input [batch, spatial, feature], kernel [spatial, feature, output], both by these places; cross-correlation."""
    a, w = args
    if len(a.groups) != 3 or len(w.groups) != 3:
        raise m.error(call, "convolution takes [batch, spatial, feature] and [spatial, feature, output]")
    spatial, window = a.groups[1], w.groups[0]
    if spatial.each != window.each or a.groups[2].each != w.groups[1].each:
        raise m.error(call, "convolution pairs dimensions of different kinds")
    m.owe(*(eq(s, t) for s, t in zip(a.groups[2].sizes, w.groups[1].sizes, strict=True) if s is not t))
    one = (spatial,)
    stride, low = m.listed(call, "stride", one, 1)[0], m.listed(call, "low", one, 0)[0]
    high = m.listed(call, "high", one, 0)[0]
    base, dilation = m.listed(call, "base_dilation", one, 1)[0], m.listed(call, "dilation", one, 1)[0]
    sizes = []
    for n, k, s, lo, hi, p, q in zip(spatial.sizes, window.sizes, stride, low, high, base, dilation, strict=True):
        m.owe(le(1, s), le(1, p), le(1, q))
        padded = plus(plus(plus(times(maximum(n - 1, 0), p), minimum(n, 1)) if p is not _ONE else n, lo), hi)
        reach = plus(times(maximum(k - 1, 0), q), minimum(k, 1)) if q is not _ONE else k
        m.owe(le(0, padded), le(1, k))
        places = plus(minus(padded, reach), 1)
        sizes.append(maximum(0, places if s is _ONE else (minus(padded, reach) // s) + 1))

    def at(index: Index) -> Term:
        tests: list[Formula] = []
        source, inside, variables = [], [], []
        for x, n, k, s, lo, p, q in zip(
            index[1], spatial.sizes, window.sizes, stride, low, base, dilation, strict=True
        ):
            name = m.variable("r")
            variables.append((name, k))
            inside.append(Var(name))
            place = canonical(minus(plus(times(x, s), times(Var(name), q)), lo))
            if p is _ONE:
                tests += [le(0, place), lt(place, n)]
                source.append(place)
            else:
                tests += [le(0, place), lt(place, times(n, p)), eq(place % p, 0)]
                source.append(place // p)
        features = [m.variable("r") for _ in a.groups[2].sizes]
        variables += zip(features, a.groups[2].sizes, strict=True)
        feature = tuple(map(Var, features))
        read = Cond(conj(*tests), a.at((index[0], tuple(source), feature)), Num(_ZERO))
        return Fold("add", tuple(variables), App("multiply", (read, w.at((tuple(inside), feature, index[2])))))

    return Symbolic((a.groups[0], Group(tuple(sizes), spatial.each), w.groups[2]), at)


def _reduce_window(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """Without padding and dilation."""
    (a,) = args
    op = call.word("op")
    if op not in COMBINERS:
        raise m.error(call, f"reduce-window needs op=, one of {', '.join(COMBINERS)}")
    windows, strides = m.listed(call, "size", a.groups), m.listed(call, "stride", a.groups, 1)
    sizes = []
    for g, window, stride in zip(a.groups, windows, strides, strict=True):
        row = []
        for n, w, s in zip(g.sizes, window, stride, strict=True):
            m.owe(le(1, w), le(1, s))
            row.append(maximum(0, plus(minus(n, w), 1)) if s is _ONE else maximum(0, (minus(n, w) // s) + 1))
        sizes.append(tuple(row))

    def at(index: Index) -> Term:
        variables: list[tuple[str, Expr]] = []
        source = []
        for xs, window, stride in zip(index, windows, strides, strict=True):
            row = []
            for x, w, s in zip(xs, window, stride, strict=True):
                if w is _ONE:
                    row.append(times(x, s))
                    continue
                name = m.variable("r")
                variables.append((name, w))
                row.append(plus(times(x, s), Var(name)))
            source.append(tuple(row))
        return Fold(op, tuple(variables), a.at(tuple(source)))

    return Symbolic(_each(a.groups, sizes), at)


def _take(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """gather of whole rows: `gather(A, start=[i, 0...], size=[1, k...])` is a dynamic-slice; the index is clamped."""
    return _dynamic_slice(m, call, args)


def _bounded(m: Meaning, call: Call, args: list[Symbolic]) -> Symbolic:
    """scatter of one window: dropped whole where any part of it lies outside, never clamped."""
    a, update = args
    if [g.each for g in a.groups] != [g.each for g in update.groups]:
        raise m.error(call, "the update of scatter has as many dimensions as the operand")
    starts = m.listed(call, "start", a.groups)

    def at(index: Index) -> Term:
        tests: list[Formula] = []
        source = []
        for xs, ss, own, group in zip(index, starts, update.groups, a.groups, strict=True):
            source.append(tuple(minus(x, s) for x, s in zip(xs, ss, strict=True)))
            for x, s, w, n in zip(xs, ss, own.sizes, group.sizes, strict=True):
                tests += [le(0, s), le(plus(s, w), n), le(s, x), lt(x, plus(s, w))]
        return Cond(conj(*tests), update.at(tuple(source)), a.at(index))

    for own, group in zip(update.groups, a.groups, strict=True):
        m.owe(*(le(w, n) for w, n in zip(own.sizes, group.sizes, strict=True)))
    return Symbolic(a.groups, at, a.pred)


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


OPERATIONS: Final[dict[str, Operation]] = {
    "concatenate": Operation(_concatenate, 0, _names("dim")),
    "slice": Operation(_slice, 1, _names("start", "limit", "stride")),
    "pad": Operation(_pad, 2, _names("low", "high", "interior")),
    "reverse": Operation(_reverse, 1, _names("dims")),
    "transpose": Operation(_transpose, 1, _names("dims")),
    "broadcast": Operation(_broadcast, 1, _names("shape", "dims")),
    "reshape": Operation(_reshape, 1, _names("shape")),
    "bitcast": Operation(_reshape, 1, _names("shape")),
    "dynamic-slice": Operation(_dynamic_slice, 1, _names("start", "size")),
    "dynamic-update-slice": Operation(_dynamic_update_slice, 2, _names("start")),
    "gather": Operation(_take, 1, _names("start", "size")),
    "scatter": Operation(_bounded, 2, _names("start")),
    "constant": Operation(_constant, 0, _names("value")),
    "iota": Operation(_iota, 0, _names("shape", "dim")),
    "reduce": Operation(_reduce, 0, _names("dims", "op")),
    "dot": Operation(_dot, 2, _names("lhs_contract", "rhs_contract", "lhs_batch", "rhs_batch")),
    "convolution": Operation(_convolution, 2, _names("stride", "low", "high", "base_dilation", "dilation")),
    "reduce-window": Operation(_reduce_window, 1, _names("size", "stride", "op")),
}
"""Operations that are not elementwise. `bitcast` keeps the row-major position, as between default layouts."""


def conditions(m: Meaning) -> list[Formula]:
    """The rule's conditions as formulas, at the rank of the meaning."""
    out: list[Formula] = []
    for condition in m.rule.conditions:
        parts: list[Formula] = []
        for alternative in condition.alternatives:
            held: list[Formula] = []
            for c in alternative:
                rows = [(c.lhs, c.rhs)]
                if c.each:
                    rows = [(m.member(c.lhs, i), m.member(c.rhs, i)) for i in range(m.rank)]
                held += [_compared(c.op, lhs, rhs) for lhs, rhs in rows]
            parts.append(conj(*held))
        out.append(disj(*parts) if parts else FALSE)
    return out


def _compared(op: str, lhs: Expr, rhs: Expr) -> Formula:
    from hloproof.logic.formula import Compare, ne

    if op == "==":
        return eq(lhs, rhs)
    if op == "!=":
        return ne(lhs, rhs)
    return Compare("<=" if op == "<=" else "<", lhs, rhs)


def declared_sizes(m: Meaning) -> list[Formula]:
    """Sizes of declared tensors are at least 0."""
    return [le(0, s) for groups in m.shapes.values() for g in groups for s in g.sizes]
