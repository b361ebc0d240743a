"""Groups of devices as text: `{{0,1},{2,3}}`, `[2,2]<=[2,2]T(1,0)`, `mesh['a'=4,'b'=2] {'a'}`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Final

from hloproof.models.hlo.attributes import DevicePairs, ReplicaGroups
from hloproof.models.hlo.text.lexer import Scanner

MAX_DEVICES: Final = 1 << 20
_AXIS = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"|([A-Za-z_][A-Za-z0-9_.]*|[0-9]+)", re.ASCII)


def read_replica_groups(scanner: Scanner) -> ReplicaGroups:
    """Reads any of the forms at the cursor."""
    scanner.skip()
    start = scanner.pos
    if scanner.peek() == "{":
        groups = read_integer_lists(scanner)
    elif scanner.peek() == "[":
        groups = _iota_groups(scanner)
    elif scanner.accept("mesh"):
        groups = _mesh_groups(scanner)
    else:
        raise scanner.error(
            f"expected device groups such as {{{{0,1}}}}, [2,2]<=[4] or mesh['a'=4] {{'a'}}, found {scanner.found()}"
        )
    seen: set[int] = set()
    for group in groups:
        for device in group:
            if device < 0 or device in seen:
                what = "is negative" if device < 0 else "appears twice"
                raise scanner.error(f"device {device} {what} in the groups", start)
            seen.add(device)
    return ReplicaGroups(groups, scanner.text[start : scanner.pos].rstrip())


def read_device_pairs(scanner: Scanner) -> DevicePairs:
    """`{{0,1},{1,2}}`."""
    scanner.skip()
    start = scanner.pos
    pairs = read_integer_lists(scanner)
    for pair in pairs:
        if len(pair) != 2:
            raise scanner.error("each source-target pair holds two device ids", start)
    return DevicePairs(tuple((a, b) for a, b in pairs))


def read_integer_lists(scanner: Scanner) -> tuple[tuple[int, ...], ...]:
    """`{{0,1},{2}}` or `{}`."""
    scanner.expect("{", "at the start of a list of lists")
    lists: list[tuple[int, ...]] = []
    while not scanner.accept("}"):
        if lists:
            scanner.expect(",", "or '}' in a list of lists")
        lists.append(read_integers(scanner, "{", "}"))
    return tuple(lists)


def read_integers(scanner: Scanner, opening: str, closing: str) -> tuple[int, ...]:
    """`{0,1}` or `[0,1]`, maybe empty."""
    scanner.expect(opening, "at the start of a list of integers")
    values: list[int] = []
    while not scanner.accept(closing):
        if values:
            scanner.expect(",", f"or '{closing}' in a list of integers")
        values.append(scanner.integer("an entry"))
    return tuple(values)


def iota_order(sizes: Sequence[int], permutation: Sequence[int]) -> list[int]:
    """0, 1, 2, ... laid out row-major over `sizes`, then transposed: the ids in the new row-major order."""
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    order = [(sizes[p], strides[p]) for p in permutation]
    ids = [0]
    for size, stride in order:
        ids = [base + i * stride for base in ids for i in range(size)]
    return ids


def read_iota(scanner: Scanner) -> tuple[tuple[int, ...], list[int]]:
    """`[2,4]<=[4,2]T(1,0)`: the sizes before the arrow, and the device ids in order."""
    scanner.skip()
    start = scanner.pos
    sizes = read_integers(scanner, "[", "]")
    scanner.expect("<=", "between the sizes of an iota of devices")
    source = read_integers(scanner, "[", "]")
    permutation = tuple(range(len(source)))
    if scanner.accept("T"):
        permutation = read_integers(scanner, "(", ")")
        if sorted(permutation) != list(range(len(source))):
            raise scanner.error("the order behind T is no permutation of the sizes before it", start)
    if min((*sizes, *source), default=0) < 1 or prod(sizes) != prod(source):
        raise scanner.error(
            f"the iota of {prod(source)} devices does not match the tile assignment dimensions product {prod(sizes)}",
            start,
        )
    if prod(source) > MAX_DEVICES:
        raise scanner.error(f"more than {MAX_DEVICES} devices", start)
    return sizes, iota_order(source, permutation)


def _iota_groups(scanner: Scanner) -> tuple[tuple[int, ...], ...]:
    scanner.skip()
    start = scanner.pos
    sizes, ids = read_iota(scanner)
    if len(sizes) != 2:
        raise scanner.error("device groups are [number of groups, size of a group]<=[...]", start)
    count, size = sizes
    return tuple(tuple(ids[g * size : (g + 1) * size]) for g in range(count))


def _mesh_groups(scanner: Scanner) -> tuple[tuple[int, ...], ...]:
    """`mesh['a'=4,'b'=2], device_ids=([..]) {'b','a':(1)2}` after its first word."""
    scanner.expect("[", "after mesh")
    names: list[str] = []
    sizes: list[int] = []
    while not scanner.accept("]"):
        if names:
            scanner.expect(",", "or ']' among the axes of a mesh")
        names.append(_axis(scanner))
        scanner.expect("=", "after the name of an axis")
        at = scanner.pos
        sizes.append(scanner.integer("the size of an axis"))
        if sizes[-1] < 1:
            raise scanner.error("an axis has at least one device", at)
    if prod(sizes) > MAX_DEVICES:
        raise scanner.error(f"more than {MAX_DEVICES} devices")
    ids = list(range(prod(sizes)))
    before = scanner.pos
    if scanner.accept(",") and scanner.accept("device_ids="):
        ids = _device_ids(scanner, len(ids))
    else:
        scanner.pos = before
    scanner.expect("{", "before the axes that a group spans")
    # Every axis is cut into parts (pre, size, post) so that a sub-axis `'a':(2)2` can be one of them.
    spanned: list[tuple[int, int]] = []  # (size, stride in row-major position)
    for _ in scanner.separated("}", "among the axes of a group"):
        scanner.skip()
        at = scanner.pos
        name = _axis(scanner)
        if name in names:
            axis = names.index(name)
        elif name.isdecimal() and len(name) < 19 and int(name) < len(names):
            axis = int(name)
        else:
            raise scanner.error(f"'{name}' is not a valid axis name or index; the axes are {', '.join(names)}", at)
        stride = prod(sizes[axis + 1 :])
        if scanner.accept(":"):
            before_size, size = read_integers(scanner, "(", ")"), 0
            size = scanner.integer("the size of a sub-axis")
            if len(before_size) != 1 or before_size[0] < 1 or size < 1 or sizes[axis] % (before_size[0] * size):
                raise scanner.error("the sub-axis does not divide its axis", at)
            spanned.append((size, stride * (sizes[axis] // (before_size[0] * size))))
        else:
            spanned.append((sizes[axis], stride))
    offsets = [
        sum(i * s for i, (_, s) in zip(index, spanned, strict=True))
        for index in product(*(range(size) for size, _ in spanned))
    ]
    taken: set[int] = set()
    groups: list[tuple[int, ...]] = []
    for base in range(len(ids)):
        if base in taken:
            continue
        members = [base + o for o in offsets]
        if any(m >= len(ids) or m in taken for m in members) or len(set(members)) != len(members):
            raise scanner.error("the axes of this group overlap")
        taken.update(members)
        groups.append(tuple(ids[m] for m in members))
    return tuple(groups)


def _axis(scanner: Scanner) -> str:
    found = scanner.match(_AXIS)
    if found is None:
        raise scanner.error(f"expected the name of an axis, found {scanner.found()}")
    return next(g for g in found.groups() if g is not None)


def _device_ids(scanner: Scanner, count: int) -> list[int]:
    """`([4,2]T(1,0))` or `(0,2,1,3)`: the ids at the row-major positions of the mesh."""
    scanner.expect("(", "before the device ids")
    scanner.skip()
    start = scanner.pos
    if scanner.peek() == "[":
        sizes = read_integers(scanner, "[", "]")
        permutation = tuple(range(len(sizes)))
        if scanner.accept("T"):
            permutation = read_integers(scanner, "(", ")")
        if sorted(permutation) != list(range(len(sizes))) or min(sizes, default=1) < 1 or prod(sizes) != count:
            raise scanner.error("the device ids do not fit the mesh", start)
        ids = iota_order(sizes, permutation)
        scanner.expect(")", "after the device ids")
        return ids
    values: list[int] = []
    while not scanner.accept(")"):
        if values:
            scanner.expect(",", "or ')' among the device ids")
        values.append(scanner.integer("a device id"))
    if sorted(values) != list(range(count)):
        raise scanner.error("the device ids do not fit the mesh", start)
    return values
