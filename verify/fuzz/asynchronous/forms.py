"""Data for asynchronous modules: types, computations with names, and the forms of operations in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hloproof.fuzz.asynchronous.slips import Type

F, G, U, S, TOKEN = "f32[4]", "f32[2,2]", "u32[]", "s32[]", "token[]"
PAIR: Final[tuple[Type, ...]] = (F, F)
TYPES: Final[tuple[Type, ...]] = (F, F, F, PAIR, PAIR, (F,), (PAIR, F), (F, (G, F)), G)

SCATTERED: Final = (
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
)
CONSTANTS: Final[dict[Type, str]] = {
    F: "constant({0,0,0,0})",
    G: "constant({{0,0},{0,0}})",
    U: "constant(0)",
    S: "constant(0)",
    TOKEN: "after-all()",
    "f32[]": "constant(0)",
    "f32[1]": "constant({0})",
    "s32[1,1]": "constant({{0}})",
}
"""What stands for a value where there is none."""

ALIASED: Final = 'custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}'
_PREFIX: Final = """
  a = f32[4] parameter(0)  b = f32[4] parameter(1)  k = s32[] constant(0)  s = f32[1] constant({0})
  i = s32[1,1] constant({{0}})  f = f32[2,2] bitcast(b)  g = f32[4] bitcast(f)"""
FIXED: Final = f"""add {{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }}
second {{ x = f32[] parameter(0)  ROOT y = f32[] parameter(1) }}
add2 {{ x = f32[] parameter(0)  y = f32[] parameter(1)  v = f32[] parameter(2)  w = f32[] parameter(3)
  ROOT z = (f32[], f32[]) tuple(v, w) }}
less {{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = pred[] compare(x, y), direction=LT }}
less2 {{ x = f32[] parameter(0)  y = f32[] parameter(1)  v = f32[] parameter(2)  w = f32[] parameter(3)
  ROOT z = pred[] compare(x, y), direction=LT }}
opaque {{ q = f32[4] parameter(0)  ROOT r = f32[4] custom-call(q), custom_call_target="g" }}
writes {{ q = f32[4] parameter(0)  ROOT r = f32[4] custom-call(q), {ALIASED} }}
reads {{ q = f32[4] parameter(0)  ROOT r = f32[4] negate(q) }}
passes {{ q = f32[4] parameter(0)  ROOT r = f32[4] opt-barrier(q) }}
both {{ q = f32[4] parameter(0)  p = f32[4] parameter(1)  ROOT r = f32[4] custom-call(q, p), custom_call_target="g" }}
more {{ x = f32[4] parameter(0)  n = f32[4] negate(x)  ROOT y = f32[4] abs(n) }}
aside {{ x = f32[4] parameter(0)  n = f32[4] negate(x)  ROOT y = f32[4] abs(n) }}, execution_thread="aside"
kept {{ q = (f32[4], f32[4]) parameter(0)  ROOT r = (f32[4], f32[4]) opt-barrier(q) }}
first {{ q = (f32[4], f32[4]) parameter(0)  given = f32[4] get-tuple-element(q), index=0
  kept1 = f32[4] get-tuple-element(q), index=1  made = f32[4] custom-call(given), {ALIASED}
  ROOT r = (f32[4], f32[4]) tuple(made, kept1) }}
anew {{ q = (f32[4], f32[4]) parameter(0)  one = f32[4] get-tuple-element(q), index=0
  two = f32[4] get-tuple-element(q), index=1  made = f32[4] negate(one)  more = f32[4] negate(two)
  ROOT r = (f32[4], f32[4]) tuple(made, more) }}
never {{ q = f32[4] parameter(0)  ROOT r = pred[] constant(false) }}
never2 {{ q = (f32[4], f32[4]) parameter(0)  ROOT r = pred[] constant(false) }}
fused1 {{{_PREFIX}  n = f32[4] negate(a)  ROOT r = f32[4] dynamic-update-slice(n, s, k) }}
fused2 {{{_PREFIX}  r = f32[4] dynamic-update-slice(g, s, k)  q = f32[2,2] bitcast(r)  ROOT o = f32[4] bitcast(q) }}
fused3 {{{_PREFIX}  ROOT r = f32[4] scatter(a, i, s), {SCATTERED}, to_apply=second }}
fused4 {{{_PREFIX}  ROOT n = f32[4] negate(a) }}
fused5 {{{_PREFIX}  r = f32[4] dynamic-update-slice(b, s, k)  n = f32[4] negate(b)
  ROOT t = (f32[4], f32[4]) tuple(n, r) }}
fused6 {{{_PREFIX}  r = f32[4] dynamic-update-slice(g, s, k)  u = f32[4] dynamic-update-slice(a, s, k)
  p = f32[2,2] bitcast(u)  q = f32[4] bitcast(p)  ROOT t = (f32[4], f32[4]) tuple(r, q) }}
fused7 {{{_PREFIX}  r = f32[4] dynamic-update-slice(a, s, k)  ROOT t = (f32[4]) tuple(r) }}
"""
"""Computations that any module may call by name."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of operation is started and finished."""

    opcode: str
    given: tuple[Type, ...]
    result: Type
    attributes: str = ""
    state: Type | None = None
    """What the start returns; None where that follows from what it binds."""
    bound: int | None = None
    """So many operands are bound by the start, the others by updates; None: all."""
    promised: Type | None = None
    """What the start says of the result; None: the result."""
    flat: bool = False
    """The state holds the only operand itself, as in older text."""
    finished: bool = True

    @property
    def updates(self) -> bool:
        """Whether the operation has updates: opcodes with starts of their own have none."""
        return self.state is None

    def opcode_of(self, role: str) -> str:
        return self.opcode if role == "start" and self.opcode in ("send", "recv") else f"{self.opcode}-{role}"

    def started(self) -> Type:
        bound = self.given if self.bound is None else self.given[: self.bound]
        held = bound[0] if self.flat else bound
        return self.state or (held, self.result if self.promised is None else self.promised, S)


_DIMENSIONS, _PAIRS = "dimensions={0}, replica_groups={{0}}", "source_target_pairs={{0,0}}"
_SLICED: Final = _PAIRS + ", slice_sizes={{4}}"
_SUM: Final = "replica_groups={{0}}, to_apply=add"
OWN: Final[tuple[Form, ...]] = (
    Form("copy", (F,), F, "", (F, F, U)),
    Form("all-gather", (F,), F, _DIMENSIONS, (F, F)),
    Form("collective-permute", (F,), F, _PAIRS, (F, F)),
    Form("all-reduce", (F,), F, _SUM, F),
    Form("send", (F, TOKEN), TOKEN, "channel_id={n}", (F, U, TOKEN)),
    Form("recv", (TOKEN,), (F, TOKEN), "channel_id={n}", (F, U, TOKEN)),
)
"""Opcodes with starts of their own, one array each."""
ASIDE: Final = ', async_execution_thread="aside"'
ONE: Final[tuple[Form, ...]] = (
    Form("async", (F,), F, "calls=opaque"),
    Form("async", (F,), F, "calls=opaque, output_to_operand_aliasing={{1}: (0, {})}"),
    Form("async", (F,), F, "calls=writes"),
    Form("exponential", (F,), F),
    Form("call", (F,), F, "to_apply=reads"),
    Form("async", PAIR, F, "calls=both"),
    Form("async", (F,), F, "calls=opaque", bound=0),
    Form("async", PAIR, F, "calls=both", bound=1),
)
"""The generic form and what is written like it, one array each."""
SILENT: Final[tuple[Form, ...]] = (
    Form("async", (F,), F, "calls=aside" + ASIDE),
    Form("async", (F,), F, "calls=opaque", promised=()),
    Form("call", (F,), F, "to_apply=reads", promised=()),
)
BUSY: Final = Form("async", (F,), F, "calls=more" + ASIDE)
ODD: Final[tuple[Form, ...]] = (
    Form("all-gather", PAIR, PAIR, _DIMENSIONS, (PAIR, PAIR)),
    Form("collective-permute", (F,), F, _PAIRS, (F, F, U, U)),
    Form("collective-permute", PAIR, PAIR, _PAIRS, (PAIR, PAIR)),
    Form("collective-permute", (F, F, U, U), F, _SLICED, (F, F, U, U)),
    Form("collective-permute", (F,), F, _SLICED, (F, F, U, U)),
    Form("all-reduce", PAIR, PAIR, _SUM, PAIR),
    Form("all-gather", (F,), F, _DIMENSIONS, F),
    Form("all-gather", PAIR, PAIR, _DIMENSIONS, ((F, F, F), PAIR), finished=False),
    Form("all-gather", PAIR, PAIR, _DIMENSIONS, (F, PAIR), finished=False),
    Form("all-gather", (PAIR,), F, _DIMENSIONS, (PAIR, F), finished=False),
    Form("all-gather", (PAIR, F), PAIR, _DIMENSIONS, ((PAIR, F), PAIR), finished=False),
    Form("collective-permute", (PAIR, PAIR, U, U), PAIR, _PAIRS + ", slice_sizes={{4},{4}}", (PAIR, PAIR, U, U)),
    *(Form("fusion", PAIR, F, f"kind=kLoop, calls=fused{n}") for n in (1, 2, 3, 4)),
    Form("send", (PAIR, TOKEN), TOKEN, "channel_id={n}", (PAIR, U, TOKEN)),
    Form("recv", (TOKEN,), (PAIR, TOKEN), "channel_id={n}", (PAIR, U, TOKEN)),
)
"""Several arrays or tuples in flight, older text, and shapes that do not fit what is given."""
