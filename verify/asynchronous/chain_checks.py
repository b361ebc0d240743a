"""Claims about the course of a chain: every start is followed by one done, every done goes back to a start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from models.async_chain import AsyncChains, Link
from models.value_flow import Place, branches, called
from verify.asynchronous.judgement import Context, Judgement

_Push = Callable[[Place], None]


def async_chain(context: Context) -> Iterator[Judgement]:
    """A start reaches at most one done on every path, and one unless a while loop carries it on; every update and
    done continues starts and updates of its own kind."""
    chains = context.chains
    ends = _Ends(chains)
    for place, link in chains.links.items():
        if link.role == "start":
            yield Judgement("async-chain", place, _open_or_doubled(chains, ends, place))
        else:
            yield _traced(chains, place, link)


def _open_or_doubled(chains: AsyncChains, ends: _Ends, start: Place) -> str | None:
    worst = ends.after(start)
    if len(worst) > 1:
        shown = " and ".join(f"{p.instruction} ({p.computation})" for p in worst[:2])
        return f"{start.instruction} is finished twice on one path: by {shown}"
    if any(chains.links[p].role == "done" for p in chains.members[start]):
        return None
    if is_wrapped(chains, start.computation):
        return None
    carried = _carried_by_while(chains, start)
    return None if carried else f"{start.instruction} has no matching done, and no while loop carries it on"


def is_wrapped(chains: AsyncChains, computation: str) -> bool:
    """The computation is what an asynchronous operation computes; its send or recv is finished by that one's done."""
    found = chains.flow.callers[computation]
    return any(Place(c.name, i.name) in chains.links for c, i in found)


def _carried_by_while(chains: AsyncChains, start: Place) -> bool:
    seen, stack = {start}, [start, *(p for p in chains.members[start] if chains.links[p].role == "update")]
    while stack:
        for target in chains.flow.targets(stack.pop()):
            if chains.flow.instruction(target).opcode == "while":
                return True
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def _traced(chains: AsyncChains, place: Place, link: Link) -> Judgement:
    origins = chains.previous[place]
    if not origins:
        return Judgement("async-chain", place, unknown=f"nothing calls {place.computation}: its operand has no origin")
    for origin in sorted(origins):
        before = chains.links.get(origin) if not origin.index else None
        if before is None or before.role == "done":
            problem = f"{place.instruction} does not go back to a start: its operand may be {origin}"
            return Judgement("async-chain", place, f"{problem} of {origin.computation}")
        explicit = "explicit" in (link.form, before.form)
        sugared = link.form == before.form == "sugared"
        if (explicit and (link.form, link.opcode) != (before.form, before.opcode)) or (
            sugared and link.opcode != before.opcode
        ):
            problem = f"{place.instruction} finishes a {link.opcode}, but its operand may be {origin}"
            return Judgement("async-chain", place, f"{problem}, the start of a {before.opcode}")
    return Judgement("async-chain", place)


class _Ends:
    """Which dones one value can meet on one path of execution, the longest list of them."""

    def __init__(self, chains: AsyncChains) -> None:
        self.chains, self.flow = chains, chains.flow
        self._busy: set[Place] = set()
        self._known: dict[Place, tuple[Place, ...]] = {}

    def after(self, origin: Place) -> tuple[Place, ...]:
        """All dones that the value made at `origin` meets, in its computation and after it leaves through the root."""
        inside, escapes = self._inside(origin)
        best: tuple[Place, ...] = ()
        for index in escapes:
            for computation, caller in self.flow.callers[origin.computation]:
                out = Place(computation.name, caller.name, index)
                outside: tuple[Place, ...] = ()
                if caller.opcode == "while" and called(caller, "body") == origin.computation:
                    body = self.flow.module.by_name[origin.computation]
                    param = Place(body.name, body.parameters[0].name, index)
                    met, passes = self._entering(param)
                    outside = max(met + (self._guarded(out) if passes else ()), self._guarded(out), key=len)
                elif caller.opcode in ("call", "fusion", "conditional"):
                    outside = self._guarded(out)
                best = max(best, outside, key=len)
        return inside + best

    def _guarded(self, place: Place) -> tuple[Place, ...]:
        """`after` for a value that arrives from elsewhere; a value that comes round again meets nothing new."""
        if place in self._known:
            return self._known[place]
        if place in self._busy:
            return ()
        self._busy.add(place)
        found = self.after(place)
        self._busy.discard(place)
        self._known[place] = found
        return found

    def _entering(self, parameter: Place) -> tuple[tuple[Place, ...], bool]:
        """The dones that a body's parameter meets inside, twice over when it also goes round again; and whether it
        leaves again at the same position."""
        if parameter in self._busy:
            return (), False
        self._busy.add(parameter)
        inside, escapes = self._inside(parameter)
        self._busy.discard(parameter)
        passes = parameter.index in escapes
        return (inside + inside if passes else inside), passes

    def _inside(self, origin: Place) -> tuple[tuple[Place, ...], tuple[tuple[int, ...], ...]]:
        """The dones met in the computation of `origin`, and the root's positions at which the value leaves it."""
        computation = self.flow.module.by_name[origin.computation]
        met: tuple[Place, ...] = ()
        escapes: list[tuple[int, ...]] = []
        seen, stack = {origin}, [origin]

        def push(place: Place) -> None:
            if place not in seen:
                seen.add(place)
                stack.append(place)

        while stack:
            at = stack.pop()
            if at.instruction == computation.root_name:
                escapes.append(at.index)
            for user in computation.users[at.instruction]:
                here = Place(computation.name, user.name)
                link = self.chains.links.get(here)
                if link is not None and link.role != "start":
                    if not at.index and user.operands[0] == at.instruction:
                        if link.role == "done":
                            met += (here,)
                        else:
                            push(here)
                    continue
                met += self._through(user.name, computation.name, at, push)
        return met, tuple(escapes)

    def _through(self, user: str, computation: str, at: Place, push: _Push) -> tuple[Place, ...]:
        """What the value meets inside one user; values that come out again are pushed."""
        i = self.flow.module.by_name[computation].by_name[user]
        if i.opcode == "while":
            out = Place(computation, user, at.index)
            body = self.flow.module.find(called(i, "body"))
            if body is None or not body.parameters:
                return ()
            met, passes = self._entering(Place(body.name, body.parameters[0].name, at.index))
            if passes or not met:
                push(out)  # it comes out again, or the loop may run no time and nothing inside finished it
            return met
        if i.opcode == "conditional":
            best: tuple[Place, ...] = ()
            for k, name in enumerate(branches(i)):
                branch = self.flow.module.find(name)
                if branch is None or not branch.parameters or k + 1 >= len(i.operands):
                    continue
                if i.operands[k + 1] == at.instruction:
                    best = max(best, self._called(i.name, computation, branch.name, 0, at, push), key=len)
            return best
        if i.opcode in ("call", "fusion"):
            callee = called(i, "to_apply") or called(i, "calls")
            found: tuple[Place, ...] = ()
            for n, name in enumerate(i.operands):
                if name == at.instruction and callee is not None:
                    found += self._called(i.name, computation, callee, n, at, push)
            return found
        for target in self.flow.targets(at):
            if target.instruction == user and target.computation == computation:
                push(target)
        return ()

    def _called(
        self, caller: str, computation: str, callee: str, number: int, at: Place, push: _Push
    ) -> tuple[Place, ...]:
        body = self.flow.module.find(callee)
        if body is None or number >= len(body.parameters):
            return ()
        parameter = Place(callee, body.parameters[number].name, at.index)
        if parameter in self._busy:
            return ()
        self._busy.add(parameter)
        met, escapes = self._inside(parameter)
        self._busy.discard(parameter)
        for index in escapes:
            push(Place(computation, caller, index))
        return met


def async_linear(context: Context) -> Iterator[Judgement]:
    """Every start and update has exactly one user, and it is the next link of its chain."""
    chains = context.chains
    for place in chains.of_role("start", "update"):
        users = chains.module.by_name[place.computation].users[place.instruction]
        if len(users) != 1:
            problem: str | None = f"{place.instruction} has {len(users)} users; one is expected"
        else:
            link = chains.links.get(Place(place.computation, users[0].name))
            follows = link is not None and link.role != "start"
            problem = None if follows else f"the user of {place.instruction} is {users[0].name}, a {users[0].opcode}"
        yield Judgement("async-linear", place, problem)
