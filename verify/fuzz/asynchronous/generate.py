"""Strategies for asynchronous modules of every kind, as text. Each kind is known by the name of its modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hypothesis import assume
from hypothesis import strategies as st

from hloproof.fuzz.asynchronous.forms import (
    ALIASED,
    ASIDE,
    BUSY,
    ODD,
    ONE,
    OWN,
    PAIR,
    SCATTERED,
    SILENT,
    TYPES,
    F,
    Form,
    G,
    S,
)
from hloproof.fuzz.asynchronous.slips import SLIPS, Type
from hloproof.fuzz.asynchronous.structure import Body, Drawn, Flying, Style, part, tree
from hloproof.fuzz.drawing import Draw

SLIP: Final = "// a slip: "
"""Opens the first line of a module that a reader may refuse."""
BREAKS: Final = "// breaks "
"""Opens a line that tells a claim and where it does not hold."""

_TWO_IN_ONE: Final = ALIASED.replace("{}: (0, {})", "{0}: (0, {}), {1}: (0, {})")
_TEMPLATES: Final[dict[str, tuple[tuple[Type | None, str], ...]]] = {
    "pass": (
        (None, "opt-barrier(<T>)"),
        (None, "copy(<T>)"),
        (None, "add-dependency(<T>, <token[]>)"),
        (G, "bitcast(<F>)"),
        (None, "domain(<T>)"),
    ),
    "update": (
        (F, "dynamic-update-slice(<F>, <f32[1]>, <s32[]>)"),
        (F, f"scatter(<F>, <s32[1,1]>, <f32[1]>), {SCATTERED}, to_apply=second"),
        (PAIR, f"scatter(<F>, <F>, <s32[1,1]>, <f32[1]>, <f32[1]>), {SCATTERED}, to_apply=add2"),
        (F, "sort(<F>), dimensions={0}, to_apply=less"),
        (PAIR, "sort(<F>, <F>), dimensions={0}, to_apply=less2"),
        ("f32[<=4]", "set-dimension-size(<F>, <s32[]>), dimensions={0}"),
        ("f32[]", "reduce(<F>, <f32[]>), dimensions={0}, to_apply=add"),
    ),
    "fusion": tuple(
        (shape, f"fusion(<F>, <F>), kind=kLoop, calls=fused{n}")
        for n, shape in enumerate((F, F, F, F, PAIR, PAIR, (F,)), 1)
    ),
    "hand": ((F, "negate(<F>)"), (F, f"custom-call(<F>), {ALIASED}"), (F, "opt-barrier(<F>)")),
    "read": ((F, "negate(<F>)"), (F, "negate(<F>)"), (PAIR, 'custom-call(<F>, <F>), custom_call_target="g"')),
    "write": ((F, f"custom-call(<F>), {ALIASED}"),),
    "replace": ((F, "dynamic-update-slice(<F>, <F>, <s32[]>)"),),
    "body": tuple((F, f"call(<F>), to_apply={body}") for body in ("reads", "writes", "passes")),
    "choice": tuple(
        (F, f"conditional(<s32[]>, <F>, <F>), branch_computations={{{bodies}}}")
        for bodies in ("passes, passes", "passes, reads", "reads, reads", "writes, passes", "reads, writes")
    ),
    "loop": tuple((F, f"while(<F>), condition=never, body={body}") for body in ("reads", "writes", "passes")),
    "loop of two": tuple(
        (PAIR, f"while(<new P>), condition=never2, body={body}") for body in ("kept", "first", "first", "anew")
    ),
    "write two": ((PAIR, f"custom-call(<F>), {_TWO_IN_ONE}"),),
}
"""Kinds of steps that are single instructions, by the types of their results, as `Body.write` takes them."""

_VALUES: Final = Style(
    ("pass",) * 3 + ("start", "own", "odd") * 2 + ("start", "update", "fusion", "declare", "advance", "advance", "land")
)
_BRANCHES: Final = Style(("hand",) * 6, nested=("call", "branch"))
_TOUCHED: Final = ("read", "write", "write", "replace", "replace", "body", "choice")
_UNDER_WAY: Final = ("begin", "begin", "peek", "peek", "advance", "land")
_FORMS: Final = (*OWN, *ONE, *ONE[1:3])
_ORDERED: Final = Style((*((*_TOUCHED, "loop", "loop of two", "write two"),) * 3, *_UNDER_WAY), _FORMS)
_FREE: Final = Style((*((*_TOUCHED, "read", "read", "replace"),) * 3, *_UNDER_WAY), _FORMS)
_CHAINS: Final = Style(
    ("begin", "begin", "advance", "carry", "carry"),
    (*OWN[:4], *ONE, *SILENT, BUSY),
    ("tuple", "barrier", "call", "branch", "while", "while"),
)


def _aliasing(entries: Sequence[tuple[tuple[int, ...], int, tuple[int, ...], str]]) -> str:
    """The text of output positions that lie where positions of operands lie."""
    index = ["{" + ",".join(map(str, at)) + "}" for entry in entries for at in (entry[0], entry[2])]
    said = (f"{index[2 * n]}: ({k}, {index[2 * n + 1]}{kind})" for n, (_, k, _, kind) in enumerate(entries))
    return f"{{ {', '.join(said)} }}"


# -- steps -------------------------------------------------------------------------------------------------------------


def _donated(m: Drawn, given: Sequence[Type], result: Type, places: Sequence[tuple[int, ...]]) -> str:
    """What a module declares of these places of its result: mostly to lie in a parameter."""
    entries: list[tuple[tuple[int, ...], int, tuple[int, ...], str]] = []
    for at in places:
        k = m.number(0, len(given) - 1)
        taken = [inside for _, number, inside, _ in entries if number == k]
        same = [inside for inside in tree(given[k]) if part(given[k], inside) == part(result, at)]
        same = [inside for inside in same if inside not in taken]
        if same:  # other places are errors in the text
            entries.append((at, k, m.one_of(same), m.one_of((", must-alias", ", must-alias", ", may-alias", ""))))
    return f", input_output_alias={_aliasing(entries)}" if entries else ""


def _filled(b: Body, given: Sequence[Type], steps: int) -> None:
    """Gives a computation its parameters and so many steps, and finishes what is in flight."""
    m = b.module
    for k in m.shuffled(range(len(given))) if len(given) > 1 and m.chance(3) else range(len(given)):
        b.add(given[k], f"parameter({k})", f"p{k}")
    for _ in range(steps):
        _step(b)
    while b.flying:
        _land(b, m.one_of(b.flying))


def _computation(b: Body, given: Sequence[Type], result: Type, suffix: str = "", depth: int | None = None) -> str:
    """A computation that is called from here, made and named."""
    m = b.module
    inner = Body(m, m.name("c"), b.style, b.depth - 1 if depth is None else depth)
    _filled(inner, given, m.number(0, 3))
    root = inner.made(result)
    return inner.close(inner.add(result, f"opt-barrier({root})") if m.chance(3) else root, suffix)


def _step(b: Body) -> None:
    """One of the kinds of steps that the computation takes, where it can be taken."""
    m, f = b.module, b.module.one_of(b.flying) if b.flying else None
    kinds = (*b.style.kinds, *b.style.nested * 2 * (b.depth > 0))
    refused = ("begin",) if len(b.flying) > 1 else ("peek", "advance", "carry", "land") if f is None else ()
    kind = m.one_of([k for k in kinds if k not in refused])
    match m.one_of(kind) if isinstance(kind, tuple) else kind:
        case "declare":
            given, result = (b.any_type(), F), b.any_type()
            operands = ", ".join([b.pick(s) for s in given])
            b.add(result, f'custom-call({operands}), custom_call_target="f"{_declared(b, given, result, 2)}')
        case "start":
            _start(b)
        case "begin":
            b.start(m.one_of(b.style.forms))
        case "own":
            b.done(b.start(m.one_of(OWN)))
        case "odd":
            f = b.start(m.one_of(ODD))
            if f.form.finished:
                b.done(f)
            b.flying = [other for other in b.flying if other is not f]
        case "peek" if f is not None:
            at = m.one_of([at for at in tree(f.shape) if part(f.shape, at) == F])
            if at:
                b.element(f.state, f.shape, at)
            else:  # the state is the array itself
                b.add(F, m.one_of((f"negate({f.state})", f"custom-call({f.state}), {ALIASED}")))
        case "advance" if f is not None and f.form.updates and (f.late or m.chance(2)):
            _bind(b, f)
        case "advance" | "carry" if f is not None:
            b.carry(f, m.one_of(b.style.ways))
        case "land" if f is not None:
            _land(b, f)
        case "call" | "while" | "branch" as kind:
            _run(b, kind)
        case kind if kind in _TEMPLATES:
            shape, text = m.one_of(_TEMPLATES[kind])
            made = b.write(shape, text)
            if shape == PAIR:
                b.element(made, PAIR, (m.number(0, 1),))


def _declared(b: Body, given: Sequence[Type], result: Type, most: int, before: tuple[int, ...] = ()) -> str:
    """Where results are said to lie in operands, mostly in a part of their own type. `before`: where the results
    stand."""
    m, entries = b.module, []
    for at in m.shuffled(tree(result), m.number(0, most)):
        k = m.number(0, len(given) - 1) if not m.chance(8) else len(given)
        inside = tree(given[k]) if k < len(given) else [()]
        same = [i for i in inside if k < len(given) and part(given[k], i) == part(result, at)]
        within = m.one_of(same if same and not m.chance(5) else inside)
        odd = before and m.chance(6)
        entries.append((m.one_of(((0, 0), (2,), ())) if odd else (*before, *at), k, within, ""))
    return f", output_to_operand_aliasing={_aliasing(entries)}" if entries else ""


def _start(b: Body) -> None:
    """The generic form, or a call or another operation in sugar, with operands and results of any type."""
    m = b.module
    opcode = m.one_of(("async", "async", "call", "call", "exponential", "reduce-scatter"))
    given: tuple[Type, ...] = (F,)
    result: Type = F
    said = "dimensions={0}, replica_groups={{0}}, to_apply=second" if opcode == "reduce-scatter" else ""
    if opcode in ("async", "call"):
        given = tuple(b.any_type() for _ in range(m.number(1, 3)))
        result = m.one_of((F, F, PAIR, PAIR, G))
        aside = m.chance(4)
        name = _computation(b, given, result, ', execution_thread="aside"' if aside else "", 0)
        said = ("calls=" if opcode == "async" else "to_apply=") + name + (ASIDE if aside and m.chance(2) else "")
    bound = None if m.chance(3) else max(0, len(given) - m.one_of((1, 1, 2, 2)))
    said += _declared(b, given, result, 1, (1,) if opcode == "async" else ())
    said = said.removeprefix(", ")
    flat = len(given) == 1 and bound != 0 and m.chance(4)
    b.start(Form(opcode, given, result, said, bound=bound, promised=() if m.chance(2) else None, flat=flat))


def _bind(b: Body, f: Flying) -> None:
    """An update with one or two of the operands that are missing, or none."""
    b.update(f, b.module.one_of((1, 2, 2)), own="peek" in b.style.kinds and b.module.chance(3))


def _land(b: Body, f: Flying) -> None:
    """Finishes an operation, or leaves it to a loop. What is wrapped may lack operands; elsewhere readers see it."""
    m, place = b.module, f"{b.name}.{f.start}"
    unbound = m.slip == "not bound" and not m.planted
    unbound |= b.style is _VALUES and f.form.opcode in ("async", "call") and m.chance(8)
    while f.late and not unbound:
        _bind(b, f)
    if f.state == f.maker and m.slips("looked at", f"{b.name}.{f.maker}"):
        b.hidden(F, f'custom-call({f.state}), custom_call_target="look"')
    if (f.endless and not m.chance(3)) or (f.state == f.start and not f.late and m.slips("no done", place)):
        b.flying.remove(f)
    elif f.late:
        m.slips("not bound", f"{b.name}.{b.done(f)}")
    else:
        if m.slips("two dones", place):
            b.done(f)
        b.done(f)


def _run(b: Body, kind: str) -> None:
    """A call or two of one computation, a loop, or a branch, with bodies of their own."""
    m, result = b.module, b.any_type()
    given: tuple[Type, ...] = {"call": (b.any_type(), F), "while": (result,)}.get(kind) or (b.any_type(), b.any_type())
    if kind == "branch":
        names = [_computation(b, [s], result) for s in given]
        if given[0] == given[1] and m.chance(3):
            names[1] = names[0]
        b.run(kind, names, [b.pick(s) for s in given], result)
        return
    name = _computation(b, given, result)
    b.run(kind, [name], [b.pick(s) for s in given], result)
    if m.chance(3):
        b.run("call", [name], [b.pick(s) for s in given], result)


# -- kinds of modules --------------------------------------------------------------------------------------------------


@st.composite
def alias_modules(draw: Draw) -> str:
    """Values and buffers go many ways; calls go two deep. Everything is well typed; what asynchronous instructions
    promise is not always what they are given."""
    m = Drawn(draw)
    b, given = Body(m, "e", _VALUES, 2), (F, m.one_of(TYPES), PAIR)
    result: Type = m.one_of((F, PAIR, (PAIR, F)))
    _filled(b, given, m.number(1, 7))
    return m.text("aliases", b, b.made(result), _donated(m, given, result, m.shuffled(tree(result), m.number(0, 2))))


@st.composite
def flight_modules(draw: Draw) -> str:
    """Operations in flight, at most two at a time, finished in the same computation, and who touches their buffers.
    Scheduled modules also run loops, write two results into one buffer, and may donate a parameter."""
    m = Drawn(draw)
    scheduled = m.chance(2)
    b, given = Body(m, "e", _ORDERED if scheduled else _FREE, controlled=True), (F, F, PAIR)[: m.one_of((2, 2, 3))]
    _filled(b, given, m.number(2, 6))
    first, header = b.pick(F), ", is_scheduled=true" if scheduled else ""
    if scheduled and m.chance(2):
        header += _donated(m, given, PAIR, [(0,)])
        first = b.add(F, f"negate({first})")
    return m.text("flights", b, b.add(PAIR, f"tuple({first}, {b.pick(F)})"), header)


@st.composite
def branch_modules(draw: Draw) -> str:
    """Two or three branches that hand on, negate or overwrite the parts of a pair."""
    m = Drawn(draw)
    b = Body(m, "e", _BRANCHES, 1)
    b.add(PAIR, "parameter(0)", "p")
    b.add(S, "parameter(1)", "k")
    shape: Type = m.one_of((PAIR, (F, F, F), (PAIR, F)))
    names = [_computation(b, (PAIR,), shape, depth=m.one_of((0, 0, 1, 2))) for _ in range(m.number(2, 3))]
    text = f"conditional(k{', p' * len(names)}), branch_computations={{{', '.join(names)}}}"
    return m.text("branches", b, b.add(shape, text, "c"), "" if m.chance(6) else ", is_scheduled=true")


@st.composite
def chain_modules(draw: Draw, slips: Sequence[str] = ("",) * 8 + tuple(SLIPS)) -> str:
    """Chains that are right by the way they are made, or have one slip of these. What a slip breaks is known from where
    it was made, and is written in the first lines of the module."""
    m = Drawn(draw)
    m.slip = m.one_of(slips)
    b = Body(m, "e", _CHAINS)
    b.add(F, "parameter(0)", "p")
    where = SLIPS[m.slip].where if m.slip else ""
    b.start(m.one_of([form for form in _CHAINS.forms if where in form.attributes]))
    _filled(b, (), m.number(0, 4))
    assume(m.planted or not m.slip)  # else it is like others, with no slip
    said = f"{SLIP}{m.slip}\n" if m.planted else ""
    said += "".join(f"{BREAKS}{claim} {place}\n" for claim, place in dict.fromkeys(m.broken))
    return said + m.text("chains", b, b.add(F, "negate(p)"))


@st.composite
def order_modules(draw: Draw) -> str:
    """Up to six steps besides the parameter. Data comes before its use; what a control dependency names may stand later
    in the text."""
    m = Drawn(draw)
    b, count = Body(m, "e"), m.one_of((1, 3, 4, 5, 6))
    turn = m.shuffled(range(count))
    """When each instruction runs in one order that is possible."""
    b.add(F, "parameter(0)", "p")
    for k in range(count):
        earlier = ["p", *(f"o{j}" for j in range(k) if turn[j] < turn[k])]
        operands = [m.one_of(earlier[-3:]) for _ in range(m.number(1, 2))]
        # The one right before, often later in the text.
        before = sorted((j for j in range(count) if turn[j] < turn[k]), key=lambda j: -turn[j])[:3]
        after = m.shuffled([f"o{j}" for j in before], m.number(0, 2))
        control = f", control-predecessors={{{', '.join(after)}}}" if after else ""
        b.add(F, f'custom-call({", ".join(operands)}), custom_call_target="f"{control}', f"o{k}")
    return m.text("orders", b, f"o{count - 1}")
