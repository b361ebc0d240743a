"""From drafts to modules: names, roots, parameter numbers, cycles and shapes are settled and checked here."""

from __future__ import annotations

from hloproof.models.hlo.attributes import Attributes, ComputationRef
from hloproof.models.hlo.draft import DraftComputation, DraftInstruction, DraftModule
from hloproof.models.hlo.finisher import NO_ATTRIBUTES, Finisher
from hloproof.models.hlo.inference.infer import ShapeError, Signature
from hloproof.models.hlo.module import Computation, Module
from hloproof.models.hlo.module_checks import check_aliases, check_devices, check_donors
from hloproof.models.hlo.text.lexer import Scanner


def resolve(draft: DraftModule, scanner: Scanner) -> Module:
    """The module that the draft means. Raises InputError at the offending instruction."""
    by_name: dict[str, DraftComputation] = {}
    for computation in draft.computations:
        if computation.name in by_name:
            raise scanner.error(f"duplicate name: there is already a computation {computation.name}", computation.pos)
        by_name[computation.name] = computation
    entries = [c for c in draft.computations if c.is_entry]
    if len(entries) > 1:
        raise scanner.error("a module has only one ENTRY", entries[1].pos)
    if not entries and _is_printed(draft):
        raise scanner.error("the module ends before its ENTRY computation; the text is cut short", draft.pos)
    entry = entries[0] if entries else [c for c in draft.computations if not c.is_nested][-1]
    signatures: dict[str, Signature] = {}
    finished: dict[str, Computation] = {}
    doubtful: list[tuple[str, DraftInstruction, str]] = []
    for name in _callees_first(draft, by_name, scanner):
        finisher = Finisher(by_name[name], signatures, scanner)
        finished[name] = finisher.finish()
        doubtful.extend((name, tuple_, message) for tuple_, message in finisher.doubtful_tuples)
    if doubtful:
        _refuse_tuples_outside_chains(doubtful, finished, scanner)
    module = Module(
        draft.name,
        tuple(finished[c.name] for c in draft.computations),
        entry.name,
        Attributes(tuple(draft.attributes)) if draft.attributes else NO_ATTRIBUTES,
        tuple(draft.preamble),
        scanner.position(draft.pos),
    )
    _check_header(draft, module, signatures[entry.name], scanner)
    _check_devices(draft, module, scanner)
    return module


def _is_printed(draft: DraftModule) -> bool:
    """A compiler wrote it: that names the shapes of the entry, marks every root, and the entry, which comes last. Who
    writes a module by hand and leaves ENTRY out, as XLA's reader lets one, leaves out one of the others as well."""
    names_entry = any(name == "entry_computation_layout" for name, _ in draft.attributes)
    return names_entry and any(c.roots for c in draft.computations)


def _check_header(draft: DraftModule, module: Module, entry: Signature, scanner: Scanner) -> None:
    """Aliases and donors of the header, held against the entry computation, and numbers of devices."""
    for name in ("replica_count", "num_partitions"):
        count = module.attributes.get(name)
        if isinstance(count, int) and count < 1:
            raise scanner.error(f"{name} is at least 1, found {count}", draft.places.get(name, draft.pos))
    for name, check in (("input_output_alias", check_aliases), ("buffer_donor", check_donors)):
        value = module.attributes.get(name)
        if isinstance(value, tuple):
            try:
                check(value, entry)
            except ShapeError as error:
                raise scanner.error(str(error), draft.places.get(name, draft.pos)) from None


def _check_devices(draft: DraftModule, module: Module, scanner: Scanner) -> None:
    for computation, finished in zip(draft.computations, module.computations, strict=True):
        for i, instruction in enumerate(finished.instructions):
            if instruction.attributes is NO_ATTRIBUTES:
                continue
            try:
                check_devices(instruction, module)
            except ShapeError as error:
                raise scanner.error(str(error), computation.instructions[i].pos) from None


def _refuse_tuples_outside_chains(
    doubtful: list[tuple[str, DraftInstruction, str]], finished: dict[str, Computation], scanner: Scanner
) -> None:
    """A tuple whose declared elements are not its operands is an error, unless it stands for the state or the result of
    an asynchronous operation: what these bind, and when, is judged by the claims about chains."""
    results = {
        name
        for computation in finished.values()
        for instruction in computation.instructions
        if instruction.opcode.endswith("-start")
        for name in instruction.attributes.computations()
    }
    for name, tuple_, message in doubtful:
        computation = finished[name]
        users = {user.opcode.rpartition("-")[2] for user in computation.users[tuple_.name]}
        is_result = name in results and computation.root_name == tuple_.name
        if not is_result and not users & {"update", "done"}:
            raise scanner.error(message, tuple_.pos)


def _called(instruction: DraftInstruction) -> list[str]:
    names: list[str] = []
    for _, value in instruction.attributes:
        if isinstance(value, ComputationRef):
            names.append(value.name)
        elif isinstance(value, tuple):
            names.extend(v.name for v in value if isinstance(v, ComputationRef))
    return names


def _callees_first(draft: DraftModule, by_name: dict[str, DraftComputation], scanner: Scanner) -> list[str]:
    """All computations, each behind those it calls. Raises where a called one does not exist or calls form a cycle."""
    calls: dict[str, list[tuple[str, DraftInstruction]]] = {}
    for computation in draft.computations:
        found: dict[str, DraftInstruction] = {}
        for instruction in computation.instructions:
            if not instruction.attributes:
                continue
            for name in _called(instruction):
                if name not in by_name:
                    raise scanner.error(f"the computation {name} is not defined", instruction.pos)
                found.setdefault(name, instruction)
        calls[computation.name] = list(found.items())
    order: list[str] = []
    state: dict[str, int] = {}
    for first in by_name:
        if first in state:
            continue
        state[first] = 1
        stack = [(first, iter(calls[first]))]
        while stack:
            name, remaining = stack[-1]
            step = next(remaining, None)
            if step is None:
                state[name] = 2
                order.append(name)
                stack.pop()
            elif step[0] not in state:
                state[step[0]] = 1
                stack.append((step[0], iter(calls[step[0]])))
            elif state[step[0]] == 1:
                names = [n for n, _ in stack]
                cycle = " -> ".join([*names[names.index(step[0]) :], step[0]][:20])
                raise scanner.error(f"cycle: the computations call each other: {cycle}", step[1].pos)
    return order
