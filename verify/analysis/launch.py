"""Launch shapes: which thread of a GPU kernel makes which output elements.

As XLA's loop emitter distributes them: the output's elements are numbered in the order of its dimensions in memory, and
thread th_x of block bl_x makes, for every chunk and every place in the vector, the element

    ((bl_x + chunk_id * blocks) * threads + th_x) * vector + unroll_id

as far as there are so many. Tiles of the output's layout do not matter for the numbering. Other emitters distribute
them otherwise: then the map from threads to elements is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from hloproof.claims.maps.defined_readings import owed_divisors
from hloproof.engines.door import prove_one
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.expressions.interval import Interval
from hloproof.models.hlo.shape import ArrayShape
from hloproof.models.layouts.physical import physical_dimensions, physical_order
from hloproof.models.layouts.tiling import delinearize
from hloproof.models.maps.indexing_map import Constraint, IndexingMap, Variable, dim, rng
from hloproof.models.maps.text import parse_map

WARP: Final = 32
"""Threads that read together."""
SECTOR: Final = 32
"""Bytes that memory moves at once."""
MOST_TOGETHER: Final = 4096
"""Elements that a warp makes at a time, at most."""


@dataclass(frozen=True)
class Launch:
    """`blocks` of `threads` threads (None: as many as one chunk needs), each making `vector` elements at a time.

    `warp` threads read together, from sectors of memory of `sector` bytes. All at least 1. With a `map` from threads
    and blocks to output elements the numbers are the map's, and a thread makes one element at a time.
    """

    threads: int
    blocks: int | None = None
    vector: int = 1
    warp: int = WARP
    sector: int = SECTOR
    map: IndexingMap | None = None

    def __post_init__(self) -> None:
        for name in ("threads", "blocks", "vector", "warp", "sector"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"a launch needs at least one of {name}, not {value}")
        if self.warp * self.vector > MOST_TOGETHER:
            raise ValueError(
                f"{self.warp} threads with vectors of {self.vector} elements make more than {MOST_TOGETHER} at a time"
            )

    def fits(self, output: ArrayShape) -> bool:
        """The map, if there is one, leads to elements of an array of this rank."""
        return self.map is None or len(self.map.results) == output.rank

    def blocks_for(self, elements: int) -> int:
        """The number of blocks for an output of so many elements."""
        return self.blocks or max(1, -(-elements // (self.threads * self.vector)))

    def chunks_for(self, elements: int) -> int:
        """How often each block goes on to further elements."""
        if self.map is not None:
            return prod(v.interval.count for v in self.map.ranges)
        return max(1, -(-elements // (self.blocks_for(elements) * self.threads * self.vector)))


_ORDER: Final = ("blocks", "threads", "vector")
_NAMES: Final = {"blocks": "blocks", "threads": "threads", "vector": "vector", "unroll": "vector"}


def parse_launch(text: str, warp: int = WARP, sector: int = SECTOR) -> Launch:
    """`8,128`, `8,128,4` (blocks, threads, vector), or the same by names in any order: `threads=128,vector=4`.

    Raises ValueError with what was expected.
    """
    words = [w.strip() for w in text.split(",")]
    named = [w.partition("=") for w in words]
    found: dict[str, int] = {}
    if not any(sign for _, sign, _ in named):
        if not 2 <= len(words) <= len(_ORDER):
            raise ValueError(f"{text!r} is no launch: expected BLOCKS,THREADS or BLOCKS,THREADS,VECTOR")
        named = [(name, "=", w) for name, w in zip(_ORDER, words, strict=False)]
    for key, sign, value in named:
        name = _NAMES.get(key.strip())
        if name is None or not sign:
            raise ValueError(f"{text!r} is no launch: expected blocks=, threads=, vector= (or unroll=), not {key!r}")
        if name in found:
            raise ValueError(f"{text!r} is no launch: {name} is given twice")
        if not value.strip().isdecimal() or int(value) < 1:
            raise ValueError(f"{text!r} is no launch: {name} is a positive number, not {value.strip()!r}")
        found[name] = int(value)
    if "threads" not in found:
        raise ValueError(f"{text!r} is no launch: the number of threads of a block is missing")
    return Launch(found["threads"], found.get("blocks"), found.get("vector", 1), warp, sector)


def parse_thread_map(text: str, warp: int = WARP, sector: int = SECTOR) -> Launch:
    """A launch given by its map, `(th_x, ..., bl_x, ...)[...] -> (output element), domain: ...` as XLA writes it.

    Dims whose names begin with th_ number the threads of a block, the first one fastest; all others tell blocks apart.
    Raises ValueError and InputError, also where the map may have no value.
    """
    m = parse_map(text)
    for part in owed_divisors(m):
        outcome = prove_one(part.obligation)
        if outcome.verdict != "proved":
            point = f": {part.describe(dict(outcome.model))}" if outcome.verdict == "refuted" else ""
            raise ValueError(f"a thread map has a value for every thread{point}")
    threads = _thread_dims(m)
    if not threads or m.runtime or m.replica is not None:
        raise ValueError("a thread map has dims named th_x, th_y, ..., no runtime variables, and one device")
    if any(v.interval.lower or v.interval.is_empty for v in m.dims):
        raise ValueError("the dims of a thread map count from 0")
    sizes = {i: v.interval.count for i, v in enumerate(m.dims)}
    inside = prod(sizes[i] for i in threads)
    return Launch(inside, prod(sizes.values()) // inside, 1, warp, sector, m)


def _thread_dims(m: IndexingMap) -> list[int]:
    return [i for i, v in enumerate(m.dims) if v.name.startswith("th_")]


def thread_map(launch: Launch, output: ArrayShape) -> IndexingMap:
    """(th_x, th_y, th_z, bl_x, bl_y, bl_z)[chunk_id, unroll_id] -> (output element), as XLA writes it."""
    if launch.map is not None:
        return launch.map
    blocks = launch.blocks_for(output.elements)
    sizes = (launch.threads, 1, 1, blocks, 1, 1)
    names = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")
    inner = ((launch.chunks_for(output.elements), "chunk_id"), (launch.vector, "unroll_id"))
    number = ((dim(3) + rng(0) * blocks) * launch.threads + dim(0)) * launch.vector + rng(1)
    return IndexingMap(
        tuple(Variable(Interval.of_size(n), name) for n, name in zip(sizes, names, strict=True)),
        _element(number, output),
        tuple(Variable(Interval.of_size(n), name) for n, name in inner),
        constraints=(Constraint(number, Interval.of_size(output.elements)),),
    )


def request_map(launch: Launch, output: ArrayShape) -> IndexingMap:
    """(..., p) -> (output element) for the p-th of the elements that a warp makes together, thread by thread.

    In front are the numbers that tell the warps apart: one where whole warps fill the blocks, else the block (counting
    on from chunk to chunk) and the warp in it. The elements that a warp makes follow each other.
    """
    place = launch.warp * launch.vector
    return _requests(launch, output, (place,), Var("p"))


def lane_map(launch: Launch, output: ArrayShape) -> IndexingMap:
    """The same with p as the thread's number in its warp and the place in its vector: (..., lane, place)."""
    return _requests(launch, output, (launch.warp, launch.vector), Var("lane") * launch.vector + Var("place"))


def _requests(launch: Launch, output: ArrayShape, sizes: Sequence[int], place: Expr) -> IndexingMap:
    if launch.map is not None:
        return _given(launch, launch.map, sizes)
    elements = output.elements
    together, a_block = launch.warp * launch.vector, launch.threads * launch.vector
    base = first_of_warp(launch)
    if launch.threads % launch.warp:
        outer: tuple[int, ...] = (-(-elements // a_block), -(-launch.threads // launch.warp))
    else:
        outer = (-(-elements // together),)
    inner = dict(zip(("p",) if len(sizes) == 1 else ("lane", "place"), range(len(outer), 8), strict=False))
    place = substitute(place, {name: dim(i) for name, i in inner.items()})
    number = base + place
    limits = [Constraint(number, Interval.of_size(elements))]
    if len(outer) == 2:
        limits.append(Constraint(dim(1) * together + place, Interval.of_size(a_block)))
    variables = tuple(Variable(Interval.of_size(n)) for n in (*outer, *sizes))
    return IndexingMap(variables, _element(number, output), constraints=tuple(limits))


def _given(launch: Launch, m: IndexingMap, sizes: Sequence[int]) -> IndexingMap:
    """The given map over (warp, what else tells blocks apart, ..., lane[, place])."""
    threads = _thread_dims(m)
    others = [i for i in range(len(m.dims)) if i not in threads]
    number = dim(0) * launch.warp + dim(1 + len(others))
    into: dict[str, Expr] = {f"d{i}": dim(1 + k) for k, i in enumerate(others)}
    stride = 1
    for i in threads:
        count = m.dims[i].interval.count
        into[f"d{i}"] = number // stride % count
        stride *= count
    warps = Variable(Interval.of_size(-(-launch.threads // launch.warp)))
    inner = tuple(Variable(Interval.of_size(n)) for n in (launch.warp, *sizes[1:]))
    constraints = [Constraint(number, Interval.of_size(launch.threads))]
    constraints += [Constraint(substitute(c.expr, into), c.interval) for c in m.constraints]
    return IndexingMap(
        (warps, *(m.dims[i] for i in others), *inner),
        tuple(substitute(e, into) for e in m.results),
        m.ranges,
        constraints=tuple(constraints),
    )


def first_of_warp(launch: Launch) -> Expr:
    """The number of the first element that a warp makes, over the numbers that tell the warps apart."""
    together = launch.warp * launch.vector
    if launch.map is not None:
        return Const(0)
    if launch.threads % launch.warp:
        return dim(0) * (launch.threads * launch.vector) + dim(1) * together
    return dim(0) * together


def rows(launch: Launch, output: ArrayShape) -> tuple[int, ...]:
    """How many elements follow each other in memory order before some dimension's index changes, more than one each;
    nothing where a warp makes other elements than such that follow each other."""
    if launch.map is not None:
        return ()
    sizes, found, length = physical_dimensions(output), list[int](), 1
    for n in reversed(sizes):
        length *= n
        if length > 1 and length not in found:
            found.append(length)
    return tuple(found)


def _element(number: Expr, output: ArrayShape) -> tuple[Expr, ...]:
    """The logical index of the element with a number."""
    if not output.elements:
        return (Const(0),) * output.rank
    physical = delinearize(number, physical_dimensions(output))
    order = physical_order(output)
    return tuple(physical[order.index(i)] for i in range(output.rank))
