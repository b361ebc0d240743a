"""Strategies for modules in which values and buffers go many ways, as text.

Tuples in tuples, loops, branches, calls, operations in flight of every form, updates in place and declared aliasing.
Everything is well typed; what asynchronous instructions promise is not always what they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.drawing import Draw, Writer

NAME: Final = "aliases"
"""What these modules are called."""

Type = str | tuple["Type", ...]

F: Final = "f32[4]"
G: Final = "f32[2,2]"
TYPES: Final[tuple[Type, ...]] = (F, F, F, (F, F), (F, F), (F,), ((F, F), F), (F, (G, F)), G)
_FIXED: Final = """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

second {
  x = f32[] parameter(0)
  ROOT y = f32[] parameter(1)
}

less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = pred[] compare(x, y), direction=LT
}

less2 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  v = f32[] parameter(2)
  w = f32[] parameter(3)
  ROOT z = pred[] compare(x, y), direction=LT
}

"""
_ADD2: Final = """add2 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  v = f32[] parameter(2)
  w = f32[] parameter(3)
  ROOT z = (f32[], f32[]) tuple(v, w)
}

"""


def text_of(shape: Type) -> str:
    return shape if isinstance(shape, str) else f"({', '.join(map(text_of, shape))})"


def part(shape: Type, index: Sequence[int]) -> Type:
    for k in index:
        assert isinstance(shape, tuple)
        shape = shape[k]
    return shape


def tree(shape: Type) -> list[tuple[int, ...]]:
    if isinstance(shape, str):
        return [()]
    return [(), *((k, *rest) for k, inner in enumerate(shape) for rest in tree(inner))]


def braces(index: Sequence[int]) -> str:
    return "{" + ",".join(map(str, index)) + "}"


@dataclass
class _Flying:
    state: str
    shape: Type
    kind: str
    result: Type
    late: list[str] = field(default_factory=list)
    """What has to be bound yet."""


class _Module(Writer):
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.done: list[str] = []
        """Texts of finished computations."""

    def computation(self, given: Sequence[Type], result: Type, depth: int, suffix: str = "") -> str:
        """A computation from these parameters to this result, made and named."""
        body = _Body(self, depth)
        numbers = list(range(len(given)))
        if self.chance(3):
            numbers.reverse()
        for k in numbers:
            body.add(given[k], f"parameter({k})", f"p{k}")
        for _ in range(self.draw(st.integers(0, 3))):
            body.step()
        body.land()
        name = self.name("c")
        root = body.made(result)
        if self.chance(3):
            root = body.add(result, f"opt-barrier({root})")
        self.done.append(f"{name} {{\n{body.text(root)}}}{suffix}\n\n")
        return name


@dataclass
class _Body:
    module: _Module
    depth: int
    """How deep calls may go from here."""
    lines: list[tuple[str, str]] = field(default_factory=list)
    values: list[tuple[str, Type]] = field(default_factory=list)
    flying: list[_Flying] = field(default_factory=list)

    def add(self, shape: Type, text: str, name: str = "") -> str:
        name = name or self.module.name("v")
        self.lines.append((name, f"{text_of(shape)} {text}"))
        self.values.append((name, shape))
        return name

    def hidden(self, shape: Type, text: str) -> str:
        """An instruction that nobody picks as an operand."""
        name = self.module.name("h")
        self.lines.append((name, f"{text_of(shape)} {text}"))
        return name

    def text(self, root: str) -> str:
        return "".join(f"  {'ROOT ' if name == root else ''}{name} = {text}\n" for name, text in self.lines)

    def pick(self, shape: Type) -> str:
        """A value of this type: one that stands there, or one made for it."""
        found = [name for name, s in self.values if s == shape]
        if found and not self.module.chance(8):
            return self.module.one_of(found[-4:])  # type: ignore[no-any-return]
        return self.made(shape)

    def made(self, shape: Type) -> str:
        ways = [(name, at, s) for name, s in self.values for at in tree(s) if at and part(s, at) == shape]
        if ways and self.module.chance(2):
            name, at, s = self.module.one_of(ways[-6:])
            for n, k in enumerate(at):
                name = self.add(part(s, at[: n + 1]), f"get-tuple-element({name}), index={k}")
            return name  # type: ignore[no-any-return]
        if isinstance(shape, tuple):
            return self.add(shape, f"tuple({', '.join([self.pick(s) for s in shape])})")
        found = [name for name, s in self.values if s == shape]
        if found:
            return self.add(shape, f"{self.module.one_of(('negate', 'copy'))}({self.module.one_of(found)})")
        fill = "{0,0,0,0}" if shape == F else "{{0,0},{0,0}}"
        return self.add(shape, f"constant({fill})")

    def any_type(self) -> Type:
        if self.values and self.module.chance(2):
            return self.module.one_of([s for _, s in self.values[-4:] if s in TYPES] or [F])  # type: ignore[no-any-return]
        return self.module.one_of(TYPES)  # type: ignore[no-any-return]

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        m = self.module
        kinds = ["pass", "pass", "pass", "declare", "update", "fusion", *["start"] * 3, *["own", "odd"] * 2]
        if self.flying:
            kinds += ["advance", "advance", "land"]
        if self.depth:
            kinds += ["embedded"]
            kinds += ["call", "while", "branch", "call", "while", "branch"]
        getattr(self, f"_{m.one_of(kinds)}")()

    def _pass(self) -> None:
        m, shape = self.module, self.any_type()
        x = self.pick(shape)
        match m.one_of(("opt-barrier", "copy", "add-dependency", "bitcast", "tuple", "domain")):
            case "add-dependency":
                self.add(shape, f"add-dependency({x}, {self.hidden('token[]', 'after-all()')})")
            case "bitcast":
                x = self.pick(F)
                self.add(G, f"bitcast({x})")
            case "tuple":
                self.add((shape, F), f"tuple({x}, {self.pick(F)})")
            case opcode:
                self.add(shape, f"{opcode}({x})")

    def _declare(self) -> None:
        m, shape, result = self.module, self.any_type(), self.any_type()
        x, y = self.pick(shape), self.pick(F)
        given = (shape, F)
        entries = []
        for at in m.draw(st.lists(st.sampled_from(tree(result)), unique=True, max_size=2)):
            k = m.draw(st.integers(0, 1)) if not m.chance(8) else 2
            inside = m.one_of(tree(given[k])) if k < 2 else ()
            same = tree(given[k]) if k < 2 else []
            same = [b for b in same if part(given[k], b) == part(result, at)]
            entries.append(f"{braces(at)}: ({k}, {braces(m.one_of(same) if same and not m.chance(5) else inside)})")
        said = f", output_to_operand_aliasing={{{', '.join(entries)}}}" if entries else ""
        self.add(result, f'custom-call({x}, {y}), custom_call_target="f"{said}')

    def _update(self) -> None:
        m, x, y = self.module, self.pick(F), self.pick(F)
        zero = self.hidden("s32[]", "constant(0)")
        places = self.hidden("s32[1,1]", "constant({{0}})")
        dims = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
        one = self.hidden("f32[1]", "constant({0})")
        match m.one_of(("dynamic-update-slice", "scatter", "scatter2", "sort", "sort2", "set")):
            case "dynamic-update-slice":
                self.add(F, f"dynamic-update-slice({x}, {one}, {zero})")
            case "scatter":
                self.add(F, f"scatter({x}, {places}, {one}), {dims}, to_apply=second")
            case "scatter2":
                self.add((F, F), f"scatter({x}, {y}, {places}, {one}, {one}), {dims}, to_apply=add2")
            case "sort":
                self.add(F, f"sort({x}), dimensions={{0}}, to_apply=less")
            case "sort2":
                self.add((F, F), f"sort({x}, {y}), dimensions={{0}}, to_apply=less2")
            case _:
                self.hidden("f32[<=4]", f"set-dimension-size({x}, {zero}), dimensions={{0}}")

    def _fusion(self) -> None:
        """A fused computation that ends in updates, behind bitcasts or in a tuple, or in something else."""
        m, name = self.module, self.module.name("f")
        lines = [
            "  a = f32[4] parameter(0)\n",
            "  b = f32[4] parameter(1)\n",
            "  k = s32[] constant(0)\n",
            "  s = f32[1] constant({0})\n",
            "  n = f32[4] negate(a)\n",
            "  f = f32[2,2] bitcast(b)\n",
            "  g = f32[4] bitcast(f)\n",
            "  i = s32[1,1] constant({{0}})\n",
        ]
        dims = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
        results = []
        for k in range(m.draw(st.integers(1, 2))):
            base = m.one_of(("a", "b", "n", "g"))
            if m.chance(3):
                lines.append(f"  r{k} = f32[4] scatter({base}, i, s), {dims}, to_apply=second\n")
            elif m.chance(4):
                lines.append(f"  r{k} = f32[4] negate({base})\n")
            else:
                lines.append(f"  r{k} = f32[4] dynamic-update-slice({base}, s, k)\n")
            if m.chance(3):
                lines.append(f"  q{k} = f32[2,2] bitcast(r{k})\n  o{k} = f32[4] bitcast(q{k})\n")
            results.append(f"o{k}" if f"  q{k} = " in lines[-1] else f"r{k}")
        shape: Type = F
        if len(results) > 1 or m.chance(4):
            shape = (F,) * len(results)
            lines.append(f"  ROOT t = {text_of(shape)} tuple({', '.join(results)})\n")
        elif results == ["o0"]:
            lines[-1] = lines[-1].replace("  o0", "  ROOT o0")
        else:
            lines[-1] = lines[-1].replace("  r0", "  ROOT r0")
        m.done.append(f"{name} {{\n{''.join(lines)}}}\n\n")
        x, y = self.pick(F), self.pick(F)
        if m.chance(4) and shape == F:
            state = ((F, F), F, "s32[]")
            started = self.hidden(state, f"fusion-start({x}, {y}), kind=kLoop, calls={name}")
            self.add(F, f"fusion-done({started})")
        else:
            self.add(shape, f"fusion({x}, {y}), kind=kLoop, calls={name}")

    def _embedded(self) -> None:
        """A computation of single elements: nothing of it shares a buffer."""
        zero = self.hidden("f32[]", "constant(0)")
        self.hidden("f32[]", f"reduce({self.pick(F)}, {zero}), dimensions={{0}}, to_apply=add")

    def _call(self) -> None:
        m, given, result = self.module, [self.any_type(), F], self.any_type()
        operands = [self.pick(s) for s in given]
        name = m.computation(given, result, self.depth - 1)
        attribute = "to_apply"
        for _ in range(m.draw(st.integers(1, 2))):
            self.add(result, f"call({', '.join(operands)}), {attribute}={name}")
            operands = [self.pick(s) for s in given]

    def _while(self) -> None:
        m, state = self.module, self.any_type()
        body = m.computation([state], state, self.depth - 1)
        cond = m.name("k")
        m.done.append(f"{cond} {{\n  s = {text_of(state)} parameter(0)\n  ROOT k = pred[] constant(false)\n}}\n\n")
        self.add(state, f"while({self.pick(state)}), condition={cond}, body={body}")
        if m.chance(3):
            self.add(state, f"call({self.pick(state)}), to_apply={body}")

    def _branch(self) -> None:
        m, result = self.module, self.any_type()
        given = [self.any_type(), self.any_type()]
        names = [m.computation([s], result, self.depth - 1) for s in given]
        if given[0] == given[1] and m.chance(3):
            names[1] = names[0]
        x, y = (self.pick(s) for s in given)
        if m.chance(2):
            choice = self.hidden("pred[]", "constant(true)")
            said = f"true_computation={names[0]}, false_computation={names[1]}"
        else:
            choice = self.hidden("s32[]", "constant(0)")
            said = f"branch_computations={{{', '.join(names)}}}"
        self.add(result, f"conditional({choice}, {x}, {y}), {said}")

    # -- in flight ----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """The generic form, or a call or another operation in sugar."""
        m = self.module
        kind = m.one_of(("async", "async", "call", "call", "exponential", "reduce-scatter"))
        result: Type = F
        if kind in ("exponential", "reduce-scatter"):
            attributes = ""
            given: list[Type] = [F]
            if kind == "reduce-scatter":
                attributes = ", dimensions={0}, replica_groups={{0}}, to_apply=second"
        else:
            given = [self.any_type() for _ in range(m.draw(st.integers(1, 3)))]
            result = m.one_of((F, F, (F, F), (F, F), G))
            aside = m.chance(4)
            name = m.computation(given, result, 0, ', execution_thread="aside"' if aside else "")
            attributes = f", {'calls' if kind == 'async' else 'to_apply'}={name}"
            attributes += ', async_execution_thread="aside"' if aside and m.chance(2) else ""
        operands = [self.pick(s) for s in given]
        bound = len(given) if m.chance(3) else max(0, len(given) - m.draw(st.sampled_from((1, 1, 2, 2))))
        promised: Type = () if m.chance(2) else result
        if m.chance(2):
            attributes += self._declaration(given, result)
        shape: Type = (tuple(given[:bound]), promised, "s32[]")
        if bound == 1 and len(given) == 1 and m.chance(4):
            shape = (given[0], promised, "s32[]")
        state = self.hidden(shape, f"{kind}-start({', '.join(operands[:bound])}){attributes}")
        self.flying.append(_Flying(state, shape, kind, result, operands[bound:]))
        self.flying[-1].late = [f"{text_of(s)} {o}" for s, o in zip(given[bound:], operands[bound:], strict=True)]

    def _declaration(self, given: Sequence[Type], result: Type) -> str:
        m = self.module
        k = m.draw(st.integers(0, len(given)))
        inside = m.one_of(tree(given[k])) if k < len(given) else ()
        within = m.one_of([*tree(result), *(b for b in tree(result) if b)])
        same = [b for b in tree(given[k]) if part(given[k], b) == part(result, within)] if k < len(given) else []
        inside = m.one_of(same) if same and not m.chance(5) else inside
        at = (1, *within) if not m.chance(6) else m.one_of(((0, 0), (2,), ()))
        return f", output_to_operand_aliasing={{{braces(at)}: ({k}, {braces(inside)})}}"

    def _advance(self) -> None:
        """An update: with what is bound late, or nothing; or the state goes through a barrier or a tuple."""
        m = self.module
        f = m.one_of(self.flying)
        if m.chance(3):
            if m.chance(2):
                f.state = self.hidden(f.shape, f"opt-barrier({f.state})")
            else:
                whole = self.hidden((f.shape, F), f"tuple({f.state}, {self.pick(F)})")
                f.state = self.hidden(f.shape, f"get-tuple-element({whole}), index=0")
            return
        assert isinstance(f.shape, tuple)
        now = f.late[: m.draw(st.sampled_from((1, 2, 2)))]
        held = f.shape[0]
        if now:
            f.late = f.late[len(now) :]
            further = tuple(_typed(n.rsplit(" ", 1)[0]) for n in now)
            held = (*held, *further) if isinstance(held, tuple) else (held, *further)
        promised = f.result if m.chance(2) else f.shape[1]
        f.shape = (held, promised, "s32[]")
        operands = "".join(f", {n.rsplit(' ', 1)[1]}" for n in now)
        f.state = self.hidden(f.shape, f"{f.kind}-update({f.state}{operands})")

    def _land(self) -> None:
        f = self.module.one_of(self.flying)
        # Where the operation stands in the opcode, a reader sees what is missing.
        while f.late and (f.kind not in ("async", "call") or not self.module.chance(8)):
            self.flying, kept = [f], self.flying
            self._advance()
            self.flying = kept
        self.flying.remove(f)
        self.add(f.result, f"{f.kind}-done({f.state})")

    def land(self) -> None:
        while self.flying:
            self._land()

    def _own(self) -> None:
        """A pair with opcodes of its own."""
        m, x, y = self.module, self.pick(F), self.pick(F)
        u, groups, pairs = "u32[]", "dimensions={0}, replica_groups={{0}}", "source_target_pairs={{0,0}}"
        match m.draw(st.integers(0, 9)):
            case 0:
                s = self.hidden((F, F, u), f"copy-start({x})")
                self.add(F, f"copy-done({s})")
            case 1:
                s = self.hidden((F, F), f"all-gather-start({x}), {groups}")
                self.add(F, f"all-gather-done({s})")
            case 2:
                s = self.hidden(((F, F), (F, F)), f"all-gather-start({x}, {y}), {groups}")
                self.add((F, F), f"all-gather-done({s})")
            case 3:
                shape: Type = m.one_of(((F, F), (F, F, u, u)))
                s = self.hidden(shape, f"collective-permute-start({x}), {pairs}")
                self.add(F, f"collective-permute-done({s})")
            case 4:
                s = self.hidden(((F, F), (F, F)), f"collective-permute-start({x}, {y}), {pairs}")
                self.add((F, F), f"collective-permute-done({s})")
            case 5:
                a, b = self.hidden(u, "constant(0)"), self.hidden(u, "constant(0)")
                inside = f"{x}, {y}, {a}, {b}" if not m.chance(4) else x
                s = self.hidden((F, F, u, u), f"collective-permute-start({inside}), {pairs}, slice_sizes={{{{4}}}}")
                self.add(F, f"collective-permute-done({s})")
            case 6:
                s = self.hidden(F, f"all-reduce-start({x}), replica_groups={{{{0}}}}, to_apply=second")
                self.add(F, f"all-reduce-done({s})")
            case 7:
                s = self.hidden((F, F), f"all-reduce-start({x}, {y}), replica_groups={{{{0}}}}, to_apply=add")
                self.add((F, F), f"all-reduce-done({s})")
            case 8:
                channel = m.name("")
                token = self.hidden("token[]", "after-all()")
                s = self.hidden((F, u, "token[]"), f"send({x}, {token}), channel_id={channel}")
                self.hidden("token[]", f"send-done({s}), channel_id={channel}")
            case _:
                channel = m.name("")
                token = self.hidden("token[]", "after-all()")
                s = self.hidden((F, u, "token[]"), f"recv({token}), channel_id={channel}")
                end = self.hidden((F, "token[]"), f"recv-done({s}), channel_id={channel}")
                self.add(F, f"get-tuple-element({end}), index=0")

    def _odd(self) -> None:
        """Tuples in flight, older text, and shapes that do not fit what is given."""
        m, x, y, t = self.module, self.pick(F), self.pick(F), self.pick((F, F))
        u, groups, pairs = "u32[]", "dimensions={0}, replica_groups={{0}}", "source_target_pairs={{0,0}}"
        match m.draw(st.sampled_from((0, 1, 2, 3, 4, 4, 5, 6, 7))):
            case 0:
                s = self.hidden(F, f"all-gather-start({x}), {groups}")
                self.add(F, f"all-gather-done({s})")
            case 1:
                self.hidden(((F, F, F), (F, F)), f"all-gather-start({x}, {y}), {groups}")
            case 2:
                self.hidden((F, (F, F)), f"all-gather-start({x}, {y}), {groups}")
            case 3:
                self.hidden(((F, F), F), f"all-gather-start({t}), {groups}")
            case 4:
                self.hidden((((F, F), F), (F, F)), f"all-gather-start({t}, {x}), {groups}")
            case 5:
                a, b, into = self.hidden(u, "constant(0)"), self.hidden(u, "constant(0)"), self.pick((F, F))
                shape = ((F, F), (F, F), u, u)
                s = self.hidden(
                    shape, f"collective-permute-start({t}, {into}, {a}, {b}), {pairs}, slice_sizes={{{{4}},{{4}}}}"
                )
                self.add((F, F), f"collective-permute-done({s})")
            case 6:
                channel, token = m.name(""), self.hidden("token[]", "after-all()")
                s = self.hidden(((F, F), u, "token[]"), f"send({t}, {token}), channel_id={channel}")
                self.hidden("token[]", f"send-done({s}), channel_id={channel}")
            case _:
                channel, token = m.name(""), self.hidden("token[]", "after-all()")
                s = self.hidden(((F, F), u, "token[]"), f"recv({token}), channel_id={channel}")
                end = self.hidden(((F, F), "token[]"), f"recv-done({s}), channel_id={channel}")
                self.add((F, F), f"get-tuple-element({end}), index=0")


def _typed(text: str) -> Type:
    """The type that a text stands for."""
    return next(s for s in (*TYPES, *TYPES) if text_of(s) == text)


@st.composite
def alias_modules(draw: Draw) -> str:
    """One module; calls go two deep."""
    m = _Module(draw)
    body = _Body(m, 2)
    given: list[Type] = [F, draw(st.sampled_from(TYPES)), (F, F)]
    for k in (0, 1, 2) if m.chance(2) else (1, 2, 0):
        body.add(given[k], f"parameter({k})", f"p{k}")
    for _ in range(draw(st.integers(1, 7))):
        body.step()
    body.land()
    result: Type = m.one_of((F, (F, F), ((F, F), F)))
    root = body.made(result)
    declared = []
    for at in draw(st.lists(st.sampled_from(tree(result)), unique=True, max_size=2)):
        k = draw(st.integers(0, 2))
        same = [b for b in tree(given[k]) if part(given[k], b) == part(result, at)]
        if same:  # other places are errors in the text
            kind = m.one_of((", must-alias", ", may-alias", ""))
            declared.append(f"{braces(at)}: ({k}, {braces(m.one_of(same))}{kind})")
    header = f", input_output_alias={{ {', '.join(declared)} }}" if declared else ""
    entry = f"ENTRY e {{\n{body.text(root)}}}\n"
    return f"HloModule {NAME}{header}\n\n{_FIXED}{_ADD2}{''.join(m.done)}{entry}"
