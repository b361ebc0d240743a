"""Two modules with sizes known at run time, against what each reads at every size: an oracle that shares no code with
the maps. Programs are trees of operations, evaluated by hand; what has no meaning at some sizes is left out there."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from hloproof.models.specs.maps import parse_map_specs
from hloproof.pipeline.map_specs import check_map_spec

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
GIVEN = (((3,), (False,)), ((3,), (False,)), ((3,), (True,)), ((2, 2), (False, False)), ((2, 2), (True, False)))
"""The arrays that are given: their bounds, and which of their sizes are known at run time only."""
NUMBERS = (5, 6)
ZERO = 7

Index = tuple[int, ...]
Reads = dict[Index, frozenset[tuple[int, Index]]]


@dataclass(frozen=True)
class Tree:
    """An operation: what it is given, and what it is told."""

    opcode: str
    of: tuple[Tree, ...]
    told: tuple[int, ...]
    bounds: Index
    dynamic: tuple[bool, ...]


def tree(opcode: str, of: tuple[Tree, ...], told: tuple[int, ...] = ()) -> Tree | None:
    """The operation with the form of its result; None where it takes no such operands."""
    first, rank = of[0], len(of[0].bounds)
    bounds, dynamic = list(first.bounds), list(first.dynamic)
    match opcode:
        case "add":
            if any(x.bounds != first.bounds for x in of):
                return None
            dynamic = [any(flags) for flags in zip(*(x.dynamic for x in of), strict=True)]
        case "concatenate":
            if any(len(x.bounds) != rank or x.bounds[1:] != first.bounds[1:] for x in of) or rank < 1:
                return None
            bounds[0] = sum(x.bounds[0] for x in of)
            dynamic = [any(flags) for flags in zip(*(x.dynamic for x in of), strict=True)]
        case "transpose":
            bounds, dynamic = bounds[::-1], dynamic[::-1]
        case "pad":
            if rank != 1:
                return None
            bounds = [bounds[0] + told[0] + told[1]]
        case "reduce" | "set-dimension-size":
            if told[0] >= rank:
                return None
            if opcode == "reduce":
                del bounds[told[0]], dynamic[told[0]]
            else:
                dynamic[told[0]] = True
    return Tree(opcode, of, told, tuple(bounds), tuple(dynamic)) if max(bounds, default=0) <= 6 else None


def read(t: Tree, sizes: tuple[Index, ...], numbers: dict[int, int]) -> tuple[Index, Reads] | None:
    """The sizes of what a tree gives and what each of its elements reads; None where it has no meaning."""
    if t.opcode == "parameter":
        own = sizes[t.told[0]]
        return own, {i: frozenset({(t.told[0], i)}) for i in product(*map(range, own))}
    found = [read(x, sizes, numbers) for x in t.of]
    if None in found:
        return None
    held = [f for f in found if f is not None]
    size, reads = held[0]
    match t.opcode:
        case "add":
            same = all(other == size for other, _ in held)
            return (size, {i: frozenset().union(*(r[i] for _, r in held)) for i in reads}) if same else None
        case "transpose":
            return size[::-1], {i[::-1]: r for i, r in reads.items()}
        case "concatenate":
            if any(other[1:] != size[1:] for other, _ in held):
                return None
            starts = [sum(other[0] for other, _ in held[:k]) for k in range(len(held) + 1)]
            moved = {(s + i[0], *i[1:]): v for s, (_, r) in zip(starts, held, strict=False) for i, v in r.items()}
            return (starts[-1], *size[1:]), moved
        case "pad":
            low, high = t.told
            whole = range(size[0] + low + high)
            return (len(whole),), {(k,): reads.get((k - low,), frozenset({(ZERO, ())})) for k in whole}
        case "reduce":
            kept = [k for k in range(len(size)) if k != t.told[0]]
            sums: Reads = {i: frozenset({(ZERO, ())}) for i in product(*(range(size[k]) for k in kept))}
            for i, r in reads.items():
                sums[tuple(i[k] for k in kept)] |= r
            return tuple(size[k] for k in kept), sums
        case "set-dimension-size":
            at, number = t.told
            if numbers[number] > size[at]:
                return None
            cut = {i: r | {(number, ())} for i, r in reads.items() if i[at] < numbers[number]}
            return (*size[:at], numbers[number], *size[at + 1 :]), cut
    return size, reads


def text(root: Tree) -> str:
    """The tree as a module, indented as a spec has it."""
    lines = [f"p{k} = {shape(*form)} parameter({k})" for k, form in enumerate(GIVEN)]
    lines += [f"n{k} = s32[] parameter({k})" for k in NUMBERS] + [f"z = f32[] parameter({ZERO})"]

    def name(t: Tree) -> str:
        if t.opcode == "parameter":
            return f"p{t.told[0]}"
        of = [name(x) for x in t.of]
        rest = {
            "transpose": f", dimensions={{{','.join(map(str, reversed(range(len(t.bounds)))))}}}",
            "concatenate": ", dimensions={0}",
            "pad": f", padding={'_'.join(map(str, t.told))}",
            "reduce": f", dimensions={{{','.join(map(str, t.told))}}}, to_apply=add",
            "set-dimension-size": f", dimensions={{{','.join(map(str, t.told[:1]))}}}",
        }.get(t.opcode, "")
        of += ["z"] * (t.opcode in ("pad", "reduce")) + [f"n{k}" for k in t.told[1:] if rest.endswith("}")]
        lines.append(f"x{len(lines)} = {shape(t.bounds, t.dynamic)} {t.opcode}({', '.join(of)}){rest}")
        return f"x{len(lines) - 1}"

    last = name(root)
    lines.append(f"ROOT r = {shape(root.bounds, root.dynamic)} copy({last})")
    whole = f"HloModule m\n{ADD}ENTRY e {{\n" + "\n".join(lines) + "\n}"
    return "".join(f"    {line}\n" for line in whole.splitlines())


def shape(bounds: Index, dynamic: tuple[bool, ...]) -> str:
    return f"f32[{','.join('<=' * flag + str(n) for n, flag in zip(bounds, dynamic, strict=True))}]"


def drawn(r: random.Random) -> Tree | None:
    """A tree of a few operations on what is given."""
    pool = [Tree("parameter", (), (k,), *form) for k, form in enumerate(GIVEN)]
    r.shuffle(pool)
    for _ in range(r.randint(2, 5)):
        opcode = r.choice(
            "add add concatenate negate pad reduce set-dimension-size set-dimension-size transpose".split()
        )
        of = tuple(
            r.choice(pool[-3:]) for _ in range(r.randint(1, 2) if opcode == "concatenate" else 1 + (opcode == "add"))
        )
        made = tree(opcode, of, told(r, opcode))
        pool += [] if made is None else [made]
    return pool[-1] if pool[-1].of else None


def told(r: random.Random, opcode: str) -> tuple[int, ...]:
    match opcode:
        case "pad":
            return r.randint(0, 2), r.randint(0, 1)
        case "reduce":
            return (r.randint(0, 1),)
        case "set-dimension-size":
            return r.randint(0, 1), r.choice(NUMBERS)
    return ()


def changed(r: random.Random, t: Tree, often: float) -> Tree | None:
    """The tree with other operands, other numbers or steps that change nothing."""
    if t.opcode == "parameter":
        like = [k for k, form in enumerate(GIVEN) if form == GIVEN[t.told[0]]]
        return Tree("parameter", (), (r.choice(like) if r.random() < often else t.told[0],), *GIVEN[t.told[0]])
    of = [changed(r, x, often) for x in t.of]
    if None in of:
        return None
    r.shuffle(of) if t.opcode == "add" or r.random() < often else None
    same = tree(t.opcode, tuple(x for x in of if x is not None), told(r, t.opcode) if r.random() < often else t.told)
    step = r.choice(("copy", "copy", "concatenate", *[""] * 4))
    return same if same is None or not step or not same.bounds else tree(step, (same,))


def points() -> Iterator[tuple[tuple[Index, ...], dict[int, int]]]:
    sizes = [[range(n + 1) if flag else (n,) for n, flag in zip(*form, strict=True)] for form in GIVEN]
    arrays = [list(product(*axes)) for axes in sizes]
    for chosen in product(*arrays, *[range(3)] * len(NUMBERS)):
        yield chosen[: len(GIVEN)], dict(zip(NUMBERS, (int(n) for n in chosen[len(GIVEN) :]), strict=True))


def test_what_is_said_of_two_modules_is_what_they_read_at_every_size() -> None:
    said: Counter[tuple[bool, str]] = Counter()
    for seed in range(160):
        r = random.Random(seed)
        before = drawn(r)
        after = before and changed(r, before, r.choice((0, 0.2)))
        if before is None or after is None or (before.bounds, before.dynamic) != (after.bounds, after.dynamic):
            continue
        both = [(read(before, *at), read(after, *at)) for at in points()]
        meant = [(one, two) for one, two in both if one is not None and two is not None]
        alike = all(one == two for one, two in meant)
        (spec,) = parse_map_specs(f"map a\n  hlo\n{text(before)}  hlo-after\n{text(after)}", "x.map")
        verdict = check_map_spec(spec, "x.map").verdict.value
        said[alike, verdict] += 1
        # Where no size has a meaning, nothing is to be said.
        assert not meant or verdict == "unknown" or (verdict == "proved") is alike, (seed, text(before), text(after))
    assert said[True, "proved"] > 30 and said[False, "refuted"] > 5, said
