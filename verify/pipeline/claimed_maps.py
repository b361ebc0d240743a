"""What a map spec says of an instruction or of two modules: held against the definition, the composition, the other
module. Each is about the union of the maps: a claim of two maps where the composition has one says the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from hloproof.claims.maps.defined_readings import owed_values, require_elements
from hloproof.claims.maps.equality import same_relation
from hloproof.claims.maps.rewrite import providers_of
from hloproof.claims.operations.definition import Subject, definition_parts
from hloproof.claims.operations.in_bounds import in_bounds_parts
from hloproof.claims.statements.contents import of_positions
from hloproof.claims.statements.held_values import ShapeOf, of_types, require_sizes_by_number, shapes_in
from hloproof.claims.statements.statement import Part
from hloproof.claims.statements.witness import asked
from hloproof.definitions import define
from hloproof.definitions.variables import array_in, arrays_of
from hloproof.engines.door import Prove
from hloproof.models.errors import NotModelled
from hloproof.models.expressions.evaluate import UndefinedValue
from hloproof.models.expressions.expr import Const, Expr, Var, substitute
from hloproof.models.hlo.body_use import body_uses, ignores_unfollowed
from hloproof.models.hlo.module import Computation, Instruction, Module, Operation, device_counts
from hloproof.models.hlo.shape import ArrayShape, Shape, ShapeIndex, leaves
from hloproof.models.hlo.text.shapes import print_shape
from hloproof.models.indexing import OperandMaps
from hloproof.models.indexing.composition.sizes import operand_number, within_sizes
from hloproof.models.interpreter.maps import domain_points
from hloproof.models.interpreter.semantics.element_type import INTEGERS
from hloproof.models.maps.indexing_map import (
    READER,
    Constraint,
    IndexingMap,
    RuntimeVariable,
    array_of_sizes,
    boxed,
    instruction_of,
    provider_called,
    sizes_of,
    with_devices,
)
from hloproof.models.specs.maps import ClaimedMaps, MapSpec
from hloproof.pipeline.run_time_sizes import dynamic_dimensions, require_one_form, require_one_size
from hloproof.queries.indexing import answer, find_instruction
from hloproof.results.verdict import Found, Verdict

_CONSTANT: Final = re.compile(r"constant\(")
_EACH_ONCE: Final = frozenset(
    "add bitcast copy get-tuple-element negate reshape reverse slice subtract transpose".split()
)
_FEW_POINTS: Final = 10_000
_GROUPS: Final = "collectives on the way group the devices differently; positions in their groups are not compared"


# --- one instruction ---------------------------------------------------------------------------------------------


def as_defined(
    spec: MapSpec, computation: Computation, instruction: Instruction, claimed: ClaimedMaps, ask: Prove
) -> Found:
    """The claimed maps are the relation that the operation means, on the devices of its module. Raises NotModelled."""
    assert spec.module is not None
    # What the operation reads depends on how many devices there are, and on what its body uses.
    op = Operation.of(instruction, computation, *device_counts(spec.module), body_uses(spec.module, instruction))
    if not 0 <= claimed.operand < len(op.operands):
        raise NotModelled(f"no operand {claimed.operand} of {instruction.name}")
    operand = op.operands[claimed.operand]
    if not isinstance(operand, ArrayShape):
        raise NotModelled("maps to an operand that is a tuple")
    place = _array_output(instruction, spec.output or 0)
    arrays = arrays_of(op.shape)
    output = [at for at, _ in arrays].index(place)  # definitions count the arrays alone
    definition = define(op, output, claimed.operand)
    about = Subject(op, output, claimed.operand, arrays[output][1], operand, claimed.direction)
    given = [m for m in claimed.maps if not _speaks_nowhere(m)]  # all empty maps are one: no map
    if any(m.replica is not None and len(m.replica.results) != 1 for m in given):
        raise NotModelled("a map of one operation that does not take one step between devices")
    ranks = (arrays[output][1].rank, operand.rank)
    form = ranks if claimed.direction == "output-to-input" else ranks[::-1]
    misfits = [m for m in given if _coordinates(m) != form]
    if misfits and not any(map(_has_a_point, misfits)):
        raise NotModelled("maps of other numbers of coordinates than the arrays, which may have no point")
    if not definition.group_size:
        stepping = [m for m in given if m.replica is not None]
        alone = prod(device_counts(spec.module)) == 1
        if _of_reader(given) or (stepping and (alone or not any(map(_has_a_point, stepping)))):
            raise NotModelled("steps between devices, perhaps to the reader's own, at an operation that takes none")
    said = [of_positions(m, definition.group_size) for m in given]
    said = [of_types(_by_operand(m, computation, instruction), _shapes_of_operands(op)) for m in said]
    require_sizes_by_number(said)
    own, of_many = (
        OperandMaps(claimed.operand, definition.kind, tuple(maps)) for maps in (said, map(_of_many_values, said))
    )
    parts = [p for m in said for p in owed_values(m)]
    found = _proved(parts, ask)
    if found.verdict is Verdict.PROVED:
        # Where only a bound is known, all that is judged is that the maps stay inside of the arrays.
        owed = [] if definition.kind == "bound" else definition_parts(about, of_many, definition)
        found = _proved([*in_bounds_parts(about, own, definition.group_size), *owed], ask)
    if definition.kind == "bound" and found.verdict is Verdict.PROVED:
        raise NotModelled(f"only a bound of what {op.opcode} reads is known")
    # An array that a body ignores is read nowhere; to read a part of one is wrong whatever the body does. Not so of a
    # scan, whose body may hand nothing from slice to slice.
    could_be_less = not given or op.opcode == "scan"
    if found.verdict is Verdict.REFUTED and could_be_less and ignores_unfollowed(spec.module, instruction):
        return Found(Verdict.UNKNOWN, reason=f"the body of {op.opcode} ignores some of what it is given")
    numbers = {r.operand for r in definition.runtime}
    beside = {k for m in said for k in _read_operands(m) if k < len(instruction.operands)} - numbers
    numbers |= beside
    if found.verdict is Verdict.REFUTED and len({instruction.operands[k] for k in numbers}) < len(numbers):
        return Found(Verdict.UNKNOWN, reason="one array is two operands that are read at run time: one value, not two")
    fixed = next(
        (instruction.operands[k] for k in sorted(numbers) if _is_fixed(computation, instruction.operands[k])), ""
    )
    if found.verdict is Verdict.REFUTED and fixed:
        return Found(
            Verdict.UNKNOWN, reason=f"the maps differ for some contents of {fixed}, which follows from constants"
        )
    # What an array holds that the operation itself reads is judged for all contents, but not how large it is.
    asked = numbers if beside else {r.operand for r in definition.runtime if r.of_sizes}
    computed = next((o for o in (instruction.operands[k] for k in sorted(asked)) if not _is_given(computation, o)), "")
    if found.verdict is Verdict.REFUTED and computed:
        told = f"the maps differ for some contents of {computed}, which is computed and may not hold all there are"
        return Found(Verdict.UNKNOWN, reason=told)
    return found


def _speaks_nowhere(m: IndexingMap) -> bool:
    return m.is_trivially_empty or with_devices(m).is_trivially_empty


def _coordinates(m: IndexingMap) -> tuple[int, int]:
    """From how many it leads, and to how many."""
    return len(m.dims), len(m.results)


def _has_a_point(m: IndexingMap) -> bool:
    """Whether there is a point where the map speaks, whatever is read; not for all that have one."""
    flat = with_devices(m)
    if flat.runtime or (flat.constraints and prod(i.count for _, i in flat.intervals()) > _FEW_POINTS):
        return False
    try:
        return next(domain_points(flat), None) is not None
    except UndefinedValue:
        return False


def _of_many_values(m: IndexingMap) -> IndexingMap:
    """The map without runtime variables of one value: what is read is cut to it, so that it does not matter which
    element that is, and no read of the operation has to be found for it."""
    if m.replica is not None:
        return m
    kept: list[RuntimeVariable] = []
    into: dict[str, Expr] = {}
    for k, v in enumerate(m.runtime):
        if v.interval.is_point:
            into[f"rt{k}"] = Const(v.interval.lower)
        else:
            into[f"rt{k}"] = Var(f"rt{len(kept)}")
            kept.append(v)
    return replace(
        m,
        results=tuple(substitute(e, into) for e in m.results),
        constraints=tuple(Constraint(substitute(c.expr, into), c.interval) for c in m.constraints),
        runtime=tuple(kept),
    )


def _is_fixed(computation: Computation, name: str) -> bool:
    """Whether a value follows from constants alone, so that not all contents are to be thought of."""
    seen, stack = {name}, [name]
    while stack:
        i = computation.by_name[stack.pop()]
        if not i.operands and i.opcode not in ("constant", "iota"):
            return False
        new = set(i.operands) - seen
        seen |= new
        stack += new
    return True


def _is_given(computation: Computation, name: str) -> bool:
    return computation.by_name[name].opcode == "parameter"


def _shapes_of_operands(op: Operation) -> ShapeOf:
    def shape_of(provider: str) -> Shape | None:
        number = operand_number(provider)
        return None if number is None or number >= len(op.operands) else op.operands[number]

    return shape_of


def _array_output(instruction: Instruction, output: int) -> ShapeIndex:
    """Where output number `output` lies in the result: outputs count the leaves, tokens among them.

    Raises NotModelled where there is no such output, or it is no array.
    """
    found = dict(enumerate(leaves(instruction.shape))).get(output)
    if found is None or array_in(found[1]) is None:
        raise NotModelled(f"no output {output} of {instruction.name}" + (" that is an array" if found else ""))
    return found[0]


def _by_operand(m: IndexingMap, computation: Computation, instruction: Instruction) -> IndexingMap:
    """The map with its providers as `operand(n)`: an operand's name or `parameter(n)`, as maps of a module print them,
    stand for the operands in order; a provider of one element needs no map."""
    left: dict[str, list[int]] = {}
    for k, name in enumerate(instruction.operands):
        found = computation.by_name[name]
        left.setdefault(provider_called(name), []).append(k)
        if found.opcode == "parameter":
            left.setdefault(f"parameter({found.parameter_number})", []).append(k)
    runtime: list[RuntimeVariable] = []
    for v in m.runtime:
        sized = array_of_sizes(v.provider or "")
        if sized is not None and left.get(sized):
            v = replace(v, provider=sizes_of(f"operand({left[sized][0]})"))
        elif v.provider is not None and operand_number(v.provider) is None and left.get(v.provider):
            numbers = left[v.provider]
            v = replace(v, provider=f"operand({numbers.pop(0) if len(numbers) > 1 else numbers[0]})")
        runtime.append(_of_one_element(v, m, computation, instruction))
    return replace(m, runtime=tuple(runtime))


def _of_one_element(
    v: RuntimeVariable, m: IndexingMap, computation: Computation, instruction: Instruction
) -> RuntimeVariable:
    number = operand_number(v.provider or "")
    if v.index is not None or number is None or number >= len(instruction.operands):
        return v
    shape = computation.by_name[instruction.operands[number]].shape
    if not isinstance(shape, ArrayShape) or shape.rank:
        return v
    return replace(v, index=IndexingMap(boxed([d.interval.upper + 1 for d in m.dims]), ()))


def _read_operands(m: IndexingMap) -> set[int]:
    """The operands whose elements, or sizes, the map reads at run time."""
    providers = [array_of_sizes(p) or p for p in providers_of(m)]
    return {n for n in map(operand_number, providers) if n is not None}


def _proved(parts: Sequence[Part], ask: Prove) -> Found:
    engines: set[str] = set()
    unknown: Found | None = None
    for part in parts:
        outcome = asked(part, ask)
        engines |= set(outcome.engines)
        if outcome.verdict == "refuted":
            return Found(Verdict.REFUTED, outcome.engines, part.describe(dict(outcome.model)))
        if outcome.verdict != "proved":
            unknown = unknown or Found(Verdict(outcome.verdict), reason=outcome.reason)
    return unknown or Found(Verdict.PROVED, tuple(sorted(engines)))


# --- compositions ------------------------------------------------------------------------------------------------


def composed_as_said(
    spec: MapSpec, module: Module, claimed: ClaimedMaps, ask: Prove, again: Prove | None = None
) -> Found:
    """The claimed maps together are the maps of the composition together. Raises NotModelled."""
    output = spec.output or 0
    computation, about = find_instruction(module, spec.instruction)
    _array_output(about, output)
    if claimed.direction == "output-to-input":
        sets = answer(module, spec.instruction, claimed.direction, output, fused=spec.follow)
        wanted = claimed.operand
        if all(s.operand != wanted for s in sets):
            raise NotModelled(f"no {'parameter' if spec.follow else 'operand'} {wanted} that is an array")
    elif spec.follow:
        name = _followed_parameter(module, spec.instruction, claimed.operand)
        sets = answer(module, name, claimed.direction, fused=True)
        wanted = output
    elif not 0 <= claimed.operand < len(about.operands):
        raise NotModelled(f"no operand {claimed.operand} of {about.name}")
    else:
        sets = answer(module, spec.instruction, claimed.direction, input=claimed.operand)
        wanted = output
    chosen = [s for s in sets if s.operand == wanted]
    unclear = next((s.unknown for s in chosen if s.unknown), "") or _unclear(chosen)
    if unclear:
        raise NotModelled(unclear)
    composed = [m for s in chosen for m in s.maps]
    if _of_reader(claimed.maps) and not _of_reader(composed) and any(READER in c.by_name for c in module.computations):
        raise NotModelled(f"{READER!r} is the reader's own place, and the instruction of this name is %{READER}")
    # What is said of the reader's own position is said of the positions that there are.
    places = {v.interval for m in composed for v in m.runtime if v.provider == READER}
    size = next(iter(places)).count if len(places) == 1 else 0
    said = [of_positions(m, size) for m in claimed.maps]
    shape_of = shapes_in(module, computation)
    said, composed = ([of_types(m, shape_of) for m in side] for side in (said, composed))
    require_sizes_by_number((*said, *composed))
    known = {v for m in composed for v in m.runtime}
    require_elements([m for m in said if not _speaks_nowhere(m)], known, shape_of, ask)
    found = _same(said, composed, ("what is said", "the composition"), ask, again)
    if found.verdict is Verdict.REFUTED and not size and _of_reader(said):
        return Found(Verdict.UNKNOWN, reason="the reader's own position, and how many there are is not known")
    told = _not_any_contents(module, computation, said, composed) if found.verdict is Verdict.REFUTED else ""
    return Found(Verdict.UNKNOWN, reason=told) if told else found


def _not_any_contents(
    module: Module, computation: Computation, said: Sequence[IndexingMap], composed: Sequence[IndexingMap]
) -> str:
    """Why a difference of maps in a computation may be one of contents that cannot be; empty where it is one."""
    read = sorted({p for m in (*said, *composed) for p in providers_of(m)})
    for p in read:
        name = instruction_of(array_of_sizes(p) or p)
        if _CONSTANT.match(p) or any(name in c.by_name and _is_fixed(c, name) for c in module.computations):
            return f"the maps differ for some contents of {p}, which follows from constants"
    if any(map(_is_input, read)) and computation is not module.entry:
        return f"the maps differ for some contents of what {computation.name} is given, and not all are given to it"
    # The operand that is asked for is none of these: it may be any of the names.
    named = next((p for p in read if p != READER and not _is_input(p)), None)
    if named is None:
        return ""
    # One value may have two names, or be computed from what has the other.
    if len(read) > 1:
        return f"what {named} holds is not compared with what else is read"
    name = instruction_of(named)
    if sum(name in c.by_name for c in module.computations) > 1:
        return f"the maps differ for some contents of {named}, of which there are several in the module"
    if computation is module.entry and _holds_anything(computation, name):
        return ""
    return f"the maps differ for some contents of {named}, which is computed and may not hold all there are"


def _is_input(provider: str) -> bool:
    """A parameter, or the sizes of one."""
    return operand_number(array_of_sizes(provider) or provider, "parameter") is not None


def _holds_anything(computation: Computation, name: str) -> bool:
    """Whether an array is made of different elements of one parameter, whole numbers of one type, each plus or minus a
    constant at most: each may be any number, whatever the others are."""
    i = computation.by_name.get(name)
    types: set[str] = set()
    while i is not None:
        if isinstance(i.shape, ArrayShape):
            types.add(i.shape.element_type)
        if i.opcode == "parameter":
            return len(types) == 1 and types <= INTEGERS
        open_ones = [o for o in i.operands if not _is_fixed(computation, o)]
        if i.opcode not in _EACH_ONCE or len(open_ones) != 1 or not isinstance(i.shape, ArrayShape):
            return False
        i = computation.by_name[open_ones[0]]
    return False


def _of_reader(maps: Sequence[IndexingMap]) -> bool:
    return any(v.provider == READER for m in maps for v in m.runtime)


def _followed_parameter(module: Module, instruction: str, number: int) -> str:
    """The name of a parameter of the entry, whose maps lead on to the root: followed from there, an instruction in the
    middle is not where they end. Raises NotModelled."""
    computation, found = find_instruction(module, instruction)
    if computation is not module.entry or found is not computation.root:
        raise NotModelled("maps from a parameter are followed to the root of the entry only")
    parameter = next((p for p in computation.parameters if p.parameter_number == number), None)
    if parameter is None or not isinstance(parameter.shape, ArrayShape):
        raise NotModelled(f"no parameter {number} of the entry that is an array")
    return parameter.name


def _unclear(sets: Sequence[OperandMaps]) -> str:
    """Why the maps are not to be compared with what is said; empty where they are."""
    if len({s.position for s in sets}) > 1:
        return "several arrays of one tuple, and the claim does not say which"
    if any(s.kind == "bound" for s in sets):
        return "the composition is only a bound of what is read"
    if len({t for s in sets for t in s.tables if t}) > 1:
        return _GROUPS
    return ""


def same_modules(
    spec: MapSpec, before: Module, after: Module, ask: Prove, again: Prove | None = None
) -> Iterator[Found]:
    """Both modules read the same elements of each parameter, for every array that they give (or for the one asked).

    Raises NotModelled.
    """
    results = [[leaf for _, leaf in leaves(m.entry.root.shape)] for m in (before, after)]
    counts = [len(r) for r in results]
    if counts[0] != counts[1]:
        told = f"the module before gives {counts[0]} arrays, the module after {counts[1]}"
        yield Found(Verdict.REFUTED, counterexample=told)
        return
    # An element that one of them alone has reads nothing perhaps, and then no map would tell.
    for number, (one, two) in enumerate(zip(*results, strict=True)):
        if _sizes_of(one) != _sizes_of(two) and spec.output in (None, number):
            gives = [print_shape(shape, layout=False) for shape in (one, two)]
            told = f"output {number}: the module before gives {gives[0]}, the module after {gives[1]}"
            yield Found(Verdict.REFUTED, counterexample=told)
            return
    # A device that only one of them has reads nothing in the other; which of them stand for each other nobody says.
    if device_counts(before) != device_counts(after):
        raise NotModelled("the modules run on different numbers of devices")
    _require_one_input(before, after)
    if spec.output is not None:
        _array_output(before.entry.root, spec.output)
    ignoring = next(
        (i for m in (before, after) for c in m.computations for i in c.instructions if ignores_unfollowed(m, i)), None
    )
    outputs = range(counts[0]) if spec.output is None else (spec.output,)
    require_one_form(before, after, outputs)
    for output in outputs:
        sides = [
            {
                (s.operand, s.position): _in_the_array(s, m, output)
                for s in answer(m, "", "output-to-input", output, fused=True)
            }
            for m in (before, after)
        ]
        for place in sorted({*sides[0], *sides[1]}):
            found = _same_reads([side.get(place) for side in sides], output, counts[0], ask, again)
            if found.verdict is Verdict.REFUTED and ignoring is not None:
                told = f"the body of {ignoring.opcode} ignores some of what it is given"
                found = Found(Verdict.UNKNOWN, reason=told)
            yield found
    # Last, since what reads other elements is refuted however long the arrays are.
    require_one_size(before, after, outputs)


def _in_the_array(found: OperandMaps, module: Module, output: int) -> OperandMaps:
    """The maps by the types of what they read, of elements that there are: those below sizes known at run time.

    Raises NotModelled.
    """
    entry, shape_of = module.entry, shapes_in(module, module.entry)
    array, place = entry.root, _array_output(entry.root, output)
    while array.opcode == "tuple" and place:
        array, place = entry.by_name[array.operands[place[0]]], place[1:]
    maps = [of_types(m, shape_of) for m in found.maps]
    held = array_in(dict(leaves(array.shape))[place])
    if held is not None and dynamic_dimensions(held):
        if array.shape != held:
            raise NotModelled(f"how long the arrays of {array.name} are")
        maps = [within_sizes(m, array, entry) for m in maps]
    return replace(found, maps=tuple(maps))


def _require_one_input(before: Module, after: Module) -> None:
    """Both modules can be given the same: arrays of the same sizes, and integers, which may say where something is
    read, of the same type. Raises NotModelled."""
    theirs = {p.parameter_number: dict(leaves(p.shape)) for p in after.entry.parameters}
    for p in before.entry.parameters:
        found = theirs.get(p.parameter_number)
        for at, one in leaves(p.shape) if found is not None else ():
            if _kind_of(one) != _kind_of(None if found is None else found.get(at)):
                raise NotModelled(f"parameter {p.parameter_number} has other sizes or another type in the other module")


def _sizes_of(shape: Shape) -> object:
    """The sizes of an array, or which kind of thing it is."""
    held = array_in(shape)
    return type(shape) if held is None else held.dimensions


def _kind_of(shape: Shape | None) -> object:
    """The sizes of an array, which of them are known at run time only, and the type of its elements where these are
    integers; None of what is no array."""
    if not isinstance(shape, ArrayShape):
        return None
    kind = shape.element_type if shape.element_type[0] in "su" else ""
    return shape.dimensions, dynamic_dimensions(shape), kind


def _same_reads(
    sides: Sequence[OperandMaps | None], output: int, outputs: int, ask: Prove, again: Prove | None
) -> Found:
    one, two = ((() if s is None else s.maps) for s in sides)
    for s in sides:
        if s is not None and s.unknown:
            raise NotModelled(s.unknown)
    if any(s is not None and s.kind == "bound" for s in sides):
        raise NotModelled("only a bound of what is read is known of one of the modules")
    tables = {t for s in sides if s is not None for t in s.tables if t}
    if len(tables) > 1:
        raise NotModelled(_GROUPS)
    providers = {p for m in (*one, *two) for p in providers_of(m)}
    for p in sorted(providers):
        if not _is_input(p) and not _CONSTANT.match(p):
            raise NotModelled(f"what {p} holds in one module is not compared with what it holds in the other")
    found = _same(one, two, ("the module before", "the module after"), ask, again)
    if found.verdict is Verdict.REFUTED and any(_CONSTANT.match(p) for p in providers):
        return Found(Verdict.UNKNOWN, reason="the maps differ for some contents of what is a constant")
    if found.verdict is Verdict.REFUTED and outputs > 1:
        return replace(found, counterexample=f"output {output}: {found.counterexample}")
    return found


def _same(
    one: Sequence[IndexingMap], two: Sequence[IndexingMap], names: tuple[str, str], ask: Prove, again: Prove | None
) -> Found:
    one, two = ([m for m in side if not _speaks_nowhere(m)] for side in (one, two))
    given = (*one, *two)
    forms = set(map(_coordinates, given))
    if len(forms) > 1:
        if len({_coordinates(m) for m in given if _has_a_point(m)}) < 2:
            raise NotModelled("maps of several numbers of coordinates, of which some may have no point")
        told = " and ".join(f"from {a} to {b} coordinates" for a, b in sorted(forms))
        return Found(Verdict.REFUTED, counterexample=f"the maps lead {told}")
    defined = _proved([p for m in given for p in owed_values(m)], ask)
    if defined.verdict is not Verdict.PROVED:
        return defined
    return same_relation(one, two, ask, names, again)
