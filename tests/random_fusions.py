"""Random computations that move data, by values that they read among others: as text, from a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random

LARGEST = 40
"""Elements of a tensor."""

_SUM = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"
_SCALARS, _VECTOR = ("i", "j"), "k"


def _shape(kind: str, sizes: Sequence[int]) -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"


def _braces(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


class Writer:
    """The instructions of one computation so far; tensors of floats, scalars and vectors of indices."""

    def __init__(self, random: Random, prefix: str = "v") -> None:
        self.random, self.prefix = random, prefix
        self.lines: list[str] = []
        self.tensors: list[tuple[str, list[int]]] = []
        self.scalars: list[str] = []
        self.vectors: list[tuple[str, list[int]]] = []

    def add(self, kind: str, sizes: Sequence[int], text: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"  {name} = {_shape(kind, sizes)} {text}\n")
        return name

    def tensor(self, sizes: Sequence[int], text: str) -> None:
        self.tensors.append((self.add("f32", sizes, text), list(sizes)))

    def pick(self) -> tuple[str, list[int]]:
        return self.random.choice(self.tensors[-3:] if self.random.random() < 0.7 else self.tensors)

    def start(self) -> str:
        """A start index: one that is there, or one computed from them."""
        r = self.random
        if r.random() < 0.4:
            chosen = r.choice(self.scalars)
            text = r.choice(
                [
                    f"negate({chosen})",
                    f"add({chosen}, {r.choice(self.scalars)})",
                    f"subtract({chosen}, {r.choice(self.scalars)})",
                    f"copy({chosen})",
                ]
            )
            self.scalars.append(self.add("s32", [], text))
        elif r.random() < 0.2:
            self.scalars.append(self.add("s32", [], f"constant({r.randint(-1, 5)})"))
        elif r.random() < 0.2:
            name, sizes = r.choice(self.vectors)
            at = [r.randrange(n) for n in sizes]
            piece = self.add(
                "s32", [1] * len(sizes), f"slice({name}), slice={{" + ", ".join(f"[{a}:{a + 1}]" for a in at) + "}"
            )
            self.scalars.append(self.add("s32", [], f"reshape({piece})"))
        return r.choice(self.scalars)

    def vector(self) -> tuple[str, list[int]]:
        """A tensor of indices of rank 2."""
        r = self.random
        name, sizes = r.choice(self.vectors)
        if r.random() < 0.4:
            sizes = sizes[::-1]
            name = self.add("s32", sizes, f"transpose({name}), dimensions={{1,0}}")
        elif r.random() < 0.3:
            name = self.add("s32", sizes, f"reverse({name}), dimensions={{0}}")
        elif r.random() < 0.2:
            name = self.add("s32", sizes, f"iota(), iota_dimension={r.randint(0, 1)}")
        elif r.random() < 0.3:
            rows = r.choice(self.vectors)
            name = self.add(
                "s32",
                [rows[1][0], sizes[1]],
                (
                    f"gather({name}, {self._column(rows)}), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
                    f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{sizes[1]}}}"
                ),
            )
            sizes = [rows[1][0], sizes[1]]
        self.vectors.append((name, list(sizes)))
        return self.vectors[-1]

    def _column(self, rows: tuple[str, list[int]]) -> str:
        return self.add("s32", [rows[1][0], 1], f"slice({rows[0]}), slice={{[0:{rows[1][0]}], [0:1]}}")


def _transpose(w: Writer) -> None:
    name, sizes = w.pick()
    order = w.random.sample(range(len(sizes)), len(sizes))
    w.tensor([sizes[k] for k in order], f"transpose({name}), dimensions={_braces(order)}")


def _reshape(w: Writer) -> None:
    name, sizes = w.pick()
    result, left = [], prod(sizes)
    for f in (2, 3, 2, 5):
        if left % f == 0 and w.random.random() < 0.6:
            result.append(f)
            left //= f
    result.insert(w.random.randint(0, len(result)), left)
    w.tensor(result, f"reshape({name})")


def _slice(w: Writer) -> None:
    name, sizes = w.pick()
    bounds, result = [], []
    for n in sizes:
        start, stride = w.random.randint(0, n // 2), w.random.choice((1, 1, 2))
        bounds.append(f"[{start}:{n}:{stride}]")
        result.append(-(-(n - start) // stride))
    w.tensor(result, f"slice({name}), slice={{{', '.join(bounds)}}}")


def _pad(w: Writer) -> None:
    name, sizes = w.pick()
    edges = [(w.random.randint(0, 1), w.random.randint(0, 1)) for _ in sizes]
    result = [n + a + b for n, (a, b) in zip(sizes, edges, strict=True)]
    if sizes and prod(result) <= LARGEST:
        w.tensor(result, f"pad({name}, z), padding={'x'.join(f'{a}_{b}' for a, b in edges)}")


def _broadcast(w: Writer) -> None:
    name, sizes = w.pick()
    at, size = w.random.randint(0, len(sizes)), w.random.randint(1, 3)
    result = [*sizes[:at], size, *sizes[at:]]
    if prod(result) <= LARGEST and len(result) < 5:
        w.tensor(result, f"broadcast({name}), dimensions={_braces([k for k in range(len(result)) if k != at])}")


def _concatenate(w: Writer) -> None:
    name, sizes = w.pick()
    if sizes and 2 * prod(sizes) <= LARGEST:
        axis = w.random.randrange(len(sizes))
        other = w.random.choice([t for t, s in w.tensors if s == sizes])
        result = [2 * n if d == axis else n for d, n in enumerate(sizes)]
        w.tensor(result, f"concatenate({name}, {other}), dimensions={{{axis}}}")


def _add(w: Writer) -> None:
    name, sizes = w.pick()
    w.tensor(sizes, f"add({name}, {w.random.choice([t for t, s in w.tensors if s == sizes])})")


def _reduce(w: Writer) -> None:
    name, sizes = w.pick()
    if sizes:
        axis = w.random.randrange(len(sizes))
        kept = [n for k, n in enumerate(sizes) if k != axis]
        w.tensor(kept, f"reduce({name}, z), dimensions={{{axis}}}, to_apply=add")


def _dynamic_slice(w: Writer) -> None:
    name, sizes = w.pick()
    if sizes:
        window = [w.random.randint(1, n) for n in sizes]
        starts = ", ".join(w.start() for _ in sizes)
        w.tensor(window, f"dynamic-slice({name}, {starts}), dynamic_slice_sizes={_braces(window)}")


def _dynamic_update_slice(w: Writer) -> None:
    name, sizes = w.pick()
    fitting = [t for t, s in w.tensors if len(s) == len(sizes) and all(a <= b for a, b in zip(s, sizes, strict=True))]
    if sizes:
        update, starts = w.random.choice(fitting), ", ".join(w.start() for _ in sizes)
        w.tensor(sizes, f"dynamic-update-slice({name}, {update}, {starts})")


def _gather(w: Writer) -> None:
    name, sizes = w.pick()
    vectors, shape = w.vector()
    if len(sizes) < shape[1]:
        return
    dims = w.random.sample(range(len(sizes)), shape[1])
    window = [w.random.randint(1, n) for n in sizes]
    collapsed = [d for d in sorted(dims) if window[d] == 1 and w.random.random() < 0.7]
    own = [window[d] for d in range(len(sizes)) if d not in collapsed]
    at = w.random.randint(0, len(own))
    result = [*own[:at], shape[0], *own[at:]]
    if prod(result) <= LARGEST:
        w.tensor(
            result,
            (
                f"gather({name}, {vectors}), offset_dims={_braces([k for k in range(len(result)) if k != at])}, "
                f"collapsed_slice_dims={_braces(collapsed)}, start_index_map={_braces(dims)}, index_vector_dim=1, "
                f"slice_sizes={_braces(window)}"
            ),
        )


def _scatter(w: Writer) -> None:
    name, sizes = w.pick()
    vectors, shape = w.vector()
    if len(sizes) < shape[1]:
        return
    dims = w.random.sample(range(len(sizes)), shape[1])
    window = [w.random.randint(1, n) for n in sizes]
    inserted = [d for d in range(len(sizes)) if window[d] == 1 and w.random.random() < 0.5]
    own = [window[d] for d in range(len(sizes)) if d not in inserted]
    updates = [shape[0], *own]
    if prod(updates) > LARGEST:
        return
    source, having = w.pick()
    flat = w.add("f32", [prod(having)], f"reshape({source})")
    if prod(having) < prod(updates):
        flat = w.add("f32", [prod(updates)], f"pad({flat}, z), padding=0_{prod(updates) - prod(having)}")
    else:
        flat = w.add("f32", [prod(updates)], f"slice({flat}), slice={{[0:{prod(updates)}]}}")
    given = w.add("f32", updates, f"reshape({flat})")
    w.tensor(
        sizes,
        (
            f"scatter({name}, {vectors}, {given}), update_window_dims={_braces(range(1, len(updates)))}, "
            f"inserted_window_dims={_braces(inserted)}, scatter_dims_to_operand_dims={_braces(dims)}, "
            f"index_vector_dim=1, to_apply=add"
        ),
    )


_MOVES: tuple[Callable[[Writer], None], ...] = (
    _transpose,
    _reshape,
    _slice,
    _pad,
    _broadcast,
    _concatenate,
    _add,
    _reduce,
)
_READS: tuple[Callable[[Writer], None], ...] = (_dynamic_slice, _dynamic_update_slice, _gather, _scatter)


def _steps(w: Writer, count: int) -> None:
    for _ in range(count):
        w.random.choice(_READS if w.random.random() < 0.45 else _MOVES)(w)


def _state(random: Random) -> tuple[list[int], list[int]]:
    sizes = [random.choice((1, 2, 3, 4)) for _ in range(random.randint(1, 3))]
    return sizes, [random.randint(1, 3), random.randint(1, 2)]


def _parameters(w: Writer, sizes: list[int], vector: list[int]) -> list[str]:
    given = [("x", "f32", sizes), ("i", "s32", []), ("j", "s32", []), ("k", "s32", vector)]
    w.tensors.append(("x", sizes))
    w.scalars += _SCALARS
    w.vectors.append((_VECTOR, vector))
    return [f"{name} = {_shape(kind, s)}" for name, kind, s in given]


def fusion_text(seed: int) -> str:
    """A computation of up to nine operations; half of the time the last of them are called, once or twice."""
    random = Random(seed)
    sizes, vector = _state(random)
    w = Writer(random)
    lines = [f"  {p} parameter({n})\n" for n, p in enumerate(_parameters(w, sizes, vector))]
    lines.append("  z = f32[] constant(0)\n")
    _steps(w, random.randint(1, 5))
    called = ""
    if random.random() < 0.5:
        name, own = w.tensors[-1]
        inner = Writer(random, "c")
        indices = w.vectors[-1]
        head = [f"  {p} parameter({n})\n" for n, p in enumerate(_parameters(inner, own, indices[1]))]
        _steps(inner, random.randint(1, 4))
        root = inner.add("f32", inner.tensors[-1][1], f"negate({inner.tensors[-1][0]})")
        body = "".join([*head, "  z = f32[] constant(0)\n", *inner.lines]).replace(f"  {root} =", f"  ROOT {root} =")
        called = f"called {{\n{body}}}\n"
        for _ in range(random.randint(1, 2)):
            w.tensor(inner.tensors[-1][1], f"call({name}, {w.start()}, {w.start()}, {indices[0]}), to_apply=called")
        if random.random() < 0.5:
            _add(w)
    name, own = w.tensors[-1]
    return (
        f"HloModule m\n{_SUM}{called}ENTRY e {{\n{''.join([*lines, *w.lines])}"
        f"  ROOT root = {_shape('f32', own)} negate({name})\n}}\n"
    )


def loop_text(seed: int) -> str:
    """A loop of up to four turns over a tensor, a counter and indices, some of which change."""
    random = Random(seed)
    sizes, vector = _state(random)
    state = f"(s32[], {_shape('f32', sizes)}, s32[], {_shape('s32', vector)}, {_shape('f32', sizes)})"
    w = Writer(random)
    parts = _parameters(w, sizes, vector)
    names = {"i": 0, "x": 1, "j": 2, "k": 3, "y": 4}
    lines = [f"  s = {state} parameter(0)\n"]
    for part in [*parts, f"y = {_shape('f32', sizes)}"]:
        lines.append(f"  {part} get-tuple-element(s), index={names[part[0]]}\n")
    w.tensors.append(("y", sizes))
    lines.append("  z = f32[] constant(0)\n  step = s32[] constant(1)\n  next = s32[] add(i, step)\n")
    _steps(w, random.randint(1, 4))
    fitting = [t for t, s in w.tensors if s == sizes]
    tensor, again = fitting[-1], random.choice([*fitting, "y", "y"])
    scalar = random.choice(["j", "j", *w.scalars])
    indices = random.choice([t for t, s in w.vectors if s == vector])
    body = "".join([*lines, *w.lines])
    body += f"  ROOT t = {state} tuple(next, {tensor}, {scalar}, {indices}, {again})\n"
    first, turns = random.randint(-1, 2), random.randint(0, 4)
    return f"""HloModule m
{_SUM}body {{
{body}}}
condition {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({first + turns})
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  x = {_shape("f32", sizes)} parameter(0)
  j = s32[] parameter(1)
  k = {_shape("s32", vector)} parameter(2)
  y = {_shape("f32", sizes)} parameter(3)
  first = s32[] constant({first})
  t = {state} tuple(first, x, j, k, y)
  w = {state} while(t), condition=condition, body=body
  ROOT r = {_shape("f32", sizes)} get-tuple-element(w), index=1
}}
"""
