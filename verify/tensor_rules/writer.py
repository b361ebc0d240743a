"""One side of a tensor rule at given sizes, as the text of an HLO module.

Written from the operations' syntax; what reads and runs it shares nothing with the proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from hloproof.models.expressions.evaluate import evaluate
from hloproof.models.expressions.expr import Expr
from hloproof.models.tensor_rules.rule import Call, Infinity, Name, NumberLiteral, Tensor, TensorRule
from hloproof.tensor_rules.operations.meaning import Group, Meaning
from hloproof.tensor_rules.operations.table import read
from hloproof.tensor_rules.scalar_operations import KNOWN

LARGEST: Final = 200
"""Elements of a tensor that is evaluated."""
_NAMES: Final = {1: "cosine", 2: "atan2"}
"""Functions that stand for those of which a rule says nothing; under hashes they are as good as any."""


_ALIKE: Final = frozenset({"pad", "reduce", "concatenate", "dynamic-update-slice", "scatter"})
"""Their operands have one type."""


class DoesNotFit(Exception):
    """The values do not make the rule's sides well formed."""


@dataclass
class Writer:
    """Writes one side as a module."""

    rule: TensorRule
    meaning: Meaning
    values: Mapping[str, int]
    kind: str
    devices: int = 1
    lines: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    number: int = 0

    def module(self, side: Tensor) -> tuple[str, tuple[tuple[str, tuple[int, ...], str], ...]]:
        parameters = []
        for name, groups in self.meaning.shapes.items():
            kind = "pred" if name in self.rule.predicates else self.kind
            parameters.append((name, self.sizes(groups), kind))
        # Indices are read at run time: parameters whose values are given.
        for n, (name, sizes, kind) in enumerate(parameters):
            self.lines.append(f"  p.{name} = {_shape(kind, sizes)} parameter({n})")
        root, sizes, kind = self.tensor(side)
        self.lines.append(f"  ROOT out = {_shape(kind, sizes)} copy({root})")
        count = "" if self.devices == 1 else f", replica_count={self.devices}"
        text = f"HloModule rule{count}\n\n" + "".join(self.bodies) + "ENTRY e {\n" + "\n".join(self.lines) + "\n}\n"
        return text, tuple(parameters)

    # Numbers.

    def value(self, e: Expr) -> int:
        return evaluate(e, self.values)

    def sizes(self, groups: tuple[Group, ...]) -> tuple[int, ...]:
        return tuple(self.value(s) for g in groups for s in g.sizes)

    def listed(self, call: Call, name: str, default: int | None = None, like: int = 0) -> list[int]:
        entries = call.entries(name)
        if entries is None:
            assert default is not None
            return [default] * like
        return [self.value(e) for entry in entries for e in self.meaning.members(entry)]

    def flat(self, call: Call, name: str, lengths: list[int]) -> list[int]:
        """Numbers of groups as numbers of dimensions."""
        first = [sum(lengths[:n]) for n in range(len(lengths))]
        numbers = self.meaning.numbers(call, name, optional=True)
        return [d for n in numbers for d in range(first[n], first[n] + lengths[n])]

    def lengths(self, node: Tensor) -> list[int]:
        return [len(g.sizes) for g in read(self.meaning, node).groups]

    # Instructions.

    def emit(self, kind: str, sizes: tuple[int, ...], text: str) -> tuple[str, tuple[int, ...], str]:
        if prod(sizes) > LARGEST or any(s < 0 for s in sizes):
            raise DoesNotFit
        self.number += 1
        name = f"t{self.number}"
        self.lines.append(f"  {name} = {_shape(kind, sizes)} {text}")
        return name, sizes, kind

    def index(self, e: Expr) -> str:
        """A start as a scalar instruction; what is read at run time is a parameter's value, and so a constant here."""
        return self.emit("s32", (), f"constant({self.value(e)})")[0]

    def tensor(self, node: Tensor) -> tuple[str, tuple[int, ...], str]:
        match node:
            case Name(name):
                kind = "pred" if name in self.rule.predicates else self.kind
                return f"p.{name}", self.sizes(self.meaning.shapes[name]), kind
            case NumberLiteral(value, truth) if truth:
                return self.emit("pred", (), f"constant({'true' if value else 'false'})")
            case NumberLiteral(value):
                return self.number_of(value)
            case Infinity(negative):
                return self.emit(self.kind, (), f"constant({self.extreme(negative)})")
            case Call():
                args = [self.tensor(a) for a in node.args]
                if node.op in _ALIKE:
                    args = self.alike(node.args, args)
                elif node.op == "select":
                    args[1:] = self.alike(node.args[1:], args[1:])
                writer = getattr(self, "_" + node.op.replace("-", "_"), None)
                if writer is not None:
                    out: tuple[str, tuple[int, ...], str] = writer(node, args)
                    return out
                return self._elementwise(node, args)

    def number_of(self, value: int) -> tuple[str, tuple[int, ...], str]:
        """A constant that the element type holds exactly."""
        fits = -(2**31) <= value < 2**31 if self.kind == "s32" else abs(value) <= 2**53
        if not fits:
            raise DoesNotFit
        return self.emit(self.kind, (), f"constant({value})")

    def alike(self, nodes: Sequence[Tensor], args: list[Any]) -> list[Any]:
        """The operands, with 0 and 1 as false and true beside truth values."""
        if all(kind != "pred" for _, _, kind in args):
            return args
        return [
            self.emit("pred", (), f"constant({'true' if a.value else 'false'})")
            if isinstance(a, NumberLiteral) and not a.truth and a.value in (0, 1)
            else found
            for a, found in zip(nodes, args, strict=True)
        ]

    def extreme(self, least: bool) -> str:
        """The end of the element type."""
        if self.kind == "s32":
            return "-2147483648" if least else "2147483647"
        return "-inf" if least else "inf"

    def _elementwise(self, node: Call, args: list[Any]) -> tuple[str, tuple[int, ...], str]:
        shaped = next((a for a in args if a[1]), args[0])
        kinds = {a[2] for a in args}
        truths = "pred" in kinds and node.op != "select"
        parts = []
        for argument, (name, sizes, kind) in zip(node.args, args, strict=True):
            if (
                isinstance(argument, NumberLiteral)
                and not argument.truth
                and (truths or (node.op == "select" and argument is node.args[0]))
            ):
                name = self.emit("pred", (), f"constant({'true' if argument.value else 'false'})")[0]
                kind = "pred"
            scalar_may_stay = node.op == "clamp" or (node.op == "select" and argument is node.args[0])
            if not sizes and shaped[1] and not scalar_may_stay:
                name = self.emit(kind, shaped[1], f"broadcast({name}), dimensions={{}}")[0]
            parts.append(name)
        result = "pred" if node.op == "compare" or truths else args[-1][2] if node.op == "select" else shaped[2]
        op = node.op if node.op in KNOWN else _NAMES.get(len(args), "")
        if not op:
            raise DoesNotFit
        more = f", direction={node.word('direction')}" if node.op == "compare" else ""
        return self.emit(result, shaped[1], f"{op}({', '.join(parts)}){more}")

    def _concatenate(self, node: Call, args: list[Any]) -> Any:
        (d,) = self.flat(node, "dim", self.lengths(node.args[0]))
        sizes = list(args[0][1])
        sizes[d] = sum(a[1][d] for a in args)
        names = ", ".join(a[0] for a in args)
        return self.emit(args[0][2], tuple(sizes), f"concatenate({names}), dimensions={{{d}}}")

    def _slice(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        starts, limits = self.listed(node, "start"), self.listed(node, "limit")
        strides = self.listed(node, "stride", 1, len(sizes))
        rows = list(zip(starts, limits, strides, strict=True))
        if any(not (0 <= s <= t <= n and p >= 1) for (s, t, p), n in zip(rows, sizes, strict=True)):
            raise DoesNotFit
        out = tuple(-((s - t) // p) for s, t, p in rows)
        text = ", ".join(f"[{s}:{t}:{p}]" for s, t, p in rows)
        return self.emit(kind, out, f"slice({name}), slice={{{text}}}")

    def _pad(self, node: Call, args: list[Any]) -> Any:
        (name, sizes, kind), (filler, _, _) = args
        lows, highs = self.listed(node, "low"), self.listed(node, "high", 0, len(sizes))
        between = self.listed(node, "interior", 0, len(sizes))
        if any(b < 0 for b in between):
            raise DoesNotFit
        rows = list(zip(sizes, lows, highs, between, strict=True))
        out = tuple(n + max(n - 1, 0) * b + lo + hi for n, lo, hi, b in rows)
        text = "x".join(f"{lo}_{hi}_{b}" for _, lo, hi, b in rows)
        return self.emit(kind, out, f"pad({name}, {filler}), padding={text}" if rows else f"copy({name})")

    def _reverse(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        dims = ",".join(map(str, self.flat(node, "dims", self.lengths(node.args[0]))))
        return self.emit(kind, sizes, f"reverse({name}), dimensions={{{dims}}}")

    def _transpose(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        dims = self.flat(node, "dims", self.lengths(node.args[0]))
        text = ",".join(map(str, dims))
        return self.emit(kind, tuple(sizes[d] for d in dims), f"transpose({name}), dimensions={{{text}}}")

    def _broadcast(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        groups = self.meaning.shape(node)
        dims = self.flat(node, "dims", [len(g.sizes) for g in groups])
        out = self.sizes(groups)
        if [out[d] for d in dims] != list(sizes):
            raise DoesNotFit
        return self.emit(kind, out, f"broadcast({name}), dimensions={{{','.join(map(str, dims))}}}")

    def _reshape(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        out = self.sizes(self.meaning.shape(node))
        if prod(out) != prod(sizes):
            raise DoesNotFit
        return self.emit(kind, out, f"{node.op}({name})")

    _bitcast = _reshape

    def _dynamic_slice(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        out = tuple(self.listed(node, "size"))
        if any(not 0 <= w <= n for w, n in zip(out, sizes, strict=True)):
            raise DoesNotFit
        starts = [self.index(e) for entry in node.entries("start") or () for e in self.meaning.members(entry)]
        width = ",".join(map(str, out))
        return self.emit(kind, out, f"dynamic-slice({', '.join([name, *starts])}), dynamic_slice_sizes={{{width}}}")

    _gather = _dynamic_slice

    def _dynamic_update_slice(self, node: Call, args: list[Any]) -> Any:
        (name, sizes, kind), (update, own, _) = args
        if any(not 0 <= w <= n for w, n in zip(own, sizes, strict=True)):
            raise DoesNotFit
        starts = [self.index(e) for entry in node.entries("start") or () for e in self.meaning.members(entry)]
        return self.emit(kind, sizes, f"dynamic-update-slice({', '.join([name, update, *starts])})")

    def _scatter(self, node: Call, args: list[Any]) -> Any:
        (name, sizes, kind), (update, _, _) = args
        starts = self.listed(node, "start")
        body = self.body("second", kind)
        rank = len(sizes)
        if not rank:
            raise DoesNotFit
        index = self.emit("s32", (rank,), f"constant({{{', '.join(map(str, starts))}}})")[0]
        dims = ",".join(map(str, range(rank)))
        return self.emit(
            kind,
            sizes,
            f"scatter({name}, {index}, {update}), update_window_dims={{{dims}}}, inserted_window_dims={{}}, "
            f"scatter_dims_to_operand_dims={{{dims}}}, index_vector_dim=0, to_apply={body}",
        )

    def _iota(self, node: Call, args: list[Any]) -> Any:
        groups = self.meaning.shape(node)
        (d,) = self.flat(node, "dim", [len(g.sizes) for g in groups])
        return self.emit(self.kind, self.sizes(groups), f"iota(), iota_dimension={d}")

    def _constant(self, node: Call, args: list[Any]) -> Any:
        return self.number_of(self.listed(node, "value")[0])

    def body(self, op: str, kind: str) -> str:
        name = f"{op}.{kind}.{len(self.bodies)}"
        root = "b = " if op == "second" else ""
        if op == "second":
            text = f"{name} {{\n  a = {kind}[] parameter(0)\n  ROOT {root}{kind}[] parameter(1)\n}}\n\n"
        else:
            text = (
                f"{name} {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
                f"  ROOT r = {kind}[] {op}(a, b)\n}}\n\n"
            )
        self.bodies.append(text)
        return name

    def identity(self, op: str, kind: str) -> str:
        values = {
            "add": "0",
            "multiply": "1",
            "maximum": self.extreme(True),
            "minimum": self.extreme(False),
            "and": "true",
            "or": "false",
        }
        return self.emit(kind, (), f"constant({values[op]})")[0]

    def _reduce(self, node: Call, args: list[Any]) -> Any:
        name, sizes, kind = args[0]
        op = node.word("op")
        dims = self.flat(node, "dims", self.lengths(node.args[0]))
        init = args[1][0] if len(args) == 2 else self.identity(op, kind)
        out = tuple(s for d, s in enumerate(sizes) if d not in dims)
        text = ",".join(map(str, dims))
        return self.emit(kind, out, f"reduce({name}, {init}), dimensions={{{text}}}, to_apply={self.body(op, kind)}")

    def _dot(self, node: Call, args: list[Any]) -> Any:
        (a, left, kind), (b, right, _) = args
        lengths = [self.lengths(n) for n in node.args]
        contract = [self.flat(node, f"{s}_contract", lengths[k]) for k, s in enumerate(("lhs", "rhs"))]
        batch = [self.flat(node, f"{s}_batch", lengths[k]) for k, s in enumerate(("lhs", "rhs"))]
        out = [left[d] for d in batch[0]]
        for k, sizes in enumerate((left, right)):
            out += [s for d, s in enumerate(sizes) if d not in contract[k] and d not in batch[k]]
        words = []
        for k, s in enumerate(("lhs", "rhs")):
            if batch[k]:
                words.append(f"{s}_batch_dims={{{','.join(map(str, batch[k]))}}}")
            words.append(f"{s}_contracting_dims={{{','.join(map(str, contract[k]))}}}")
        return self.emit(kind, tuple(out), f"dot({a}, {b}), {', '.join(words)}")

    def _convolution(self, node: Call, args: list[Any]) -> Any:
        (a, _, kind), (w, right, _) = args
        lengths = self.lengths(node.args[0])
        if lengths != [1, 1, 1] or [len(g.sizes) for g in read(self.meaning, node.args[1]).groups] != [1, 1, 1]:
            raise DoesNotFit
        one = {k: self.listed(node, k, 1, 1)[0] for k in ("stride", "base_dilation", "dilation")}
        low, high = (self.listed(node, k, 0, 1)[0] for k in ("low", "high"))
        out = self.sizes(read(self.meaning, node).groups)
        window = (
            f"{{size={right[0]} stride={one['stride']} pad={low}_{high} lhs_dilate={one['base_dilation']} "
            f"rhs_dilate={one['dilation']}}}"
        )
        return self.emit(kind, out, f"convolution({a}, {w}), window={window}, dim_labels=b0f_0io->b0f")

    def _reduce_window(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        op = node.word("op")
        windows, strides = self.listed(node, "size"), self.listed(node, "stride", 1, len(sizes))
        out = self.sizes(read(self.meaning, node).groups)
        init, body = self.identity(op, kind), self.body(op, kind)
        size, stride = ("x".join(map(str, v)) for v in (windows, strides))
        return self.emit(
            kind, out, f"reduce-window({name}, {init}), window={{size={size} stride={stride}}}, to_apply={body}"
        )

    # Several devices.

    @property
    def group(self) -> str:
        return f"replica_groups={{{{{','.join(map(str, range(self.devices)))}}}}}"

    def along(self, node: Call) -> int:
        (d,) = self.flat(node, "dim", self.lengths(node.args[0]))
        return d

    def _all_reduce(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        body = self.body(node.word("op"), kind)
        return self.emit(kind, sizes, f"all-reduce({name}), {self.group}, to_apply={body}")

    def _all_gather(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        d = self.along(node)
        out = (*sizes[:d], sizes[d] * self.devices, *sizes[d + 1 :])
        return self.emit(kind, out, f"all-gather({name}), {self.group}, dimensions={{{d}}}")

    def _reduce_scatter(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        d, body = self.along(node), self.body(node.word("op"), kind)
        if sizes[d] % self.devices:
            raise DoesNotFit
        out = (*sizes[:d], sizes[d] // self.devices, *sizes[d + 1 :])
        return self.emit(kind, out, f"reduce-scatter({name}), {self.group}, dimensions={{{d}}}, to_apply={body}")

    def _all_to_all(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        d = self.along(node)
        if sizes[d] % self.devices:
            raise DoesNotFit
        return self.emit(kind, sizes, f"all-to-all({name}), {self.group}, dimensions={{{d}}}")

    def _collective_permute(self, node: Call, args: list[Any]) -> Any:
        [(name, sizes, kind)] = args
        (shift,) = self.listed(node, "shift")
        pairs = ",".join(f"{{{d},{(d + shift) % self.devices}}}" for d in range(self.devices))
        return self.emit(kind, sizes, f"collective-permute({name}), source_target_pairs={{{pairs}}}")


def _shape(kind: str, sizes: tuple[int, ...]) -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"
