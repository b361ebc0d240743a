"""Elements of reduce, reduce-window, dot and convolution as folds over boxes.

Trusted. A dot and a convolution are the same fold: a sum of products of two elements. Where a window lies on padding or
in a hole, reduce-window contributes its initial value and a convolution zero.
"""

from __future__ import annotations

from hloproof.elements import folds
from hloproof.elements.movement import Test
from hloproof.equivalence.graph import Node
from hloproof.equivalence.indices import At, Lin, constant, variable
from hloproof.equivalence.placing import guarded
from hloproof.equivalence.terms import Elem, Fold, Term, from_value, has_zero
from hloproof.models.hlo.attributes import ConvolutionDimensions, Window, WindowDimension, Word
from hloproof.models.hlo.library_shapes import why_no_sum
from hloproof.models.interpreter.semantics.element_type import COMPLEX, INTEGERS

IN_ORDER = "in order"
"""Marks a fold whose elements come in row-major order."""
DEFAULT = {"highest": 2, "high": 1, "default": 0}


def reduce(node: Node, at: At, place: int) -> Term | None:
    """reduce of one operand, or one output of a variadic reduce."""
    which = 0
    if node.head == "output":
        assert isinstance(node.key, tuple)
        position = node.key
        (node,) = node.operands
        if len(position) != 1:
            return None
        which = position[0]
        if node.head == "reduce-window":
            return reduce_window(node, at, place, which)
        if node.head != "reduce":
            return None
    count = len(node.operands) // 2
    folded = node.attributes.integers("dimensions")
    source = node.operands[0].sizes
    ranges = [variable(place + k, source[d]) for k, d in enumerate(sorted(folded))]
    index = folds.reduced(at, ranges, folded)
    return Fold(
        ("reduce", node.bodies, which),
        node.operands[which].type,
        place,
        tuple(source[d] for d in sorted(folded)),
        tuple(Elem(o, index) for o in node.operands[:count]),
        tuple(Elem(o, ()) for o in node.operands[count:]),
    )


def windowed(x: Lin, w: Lin, size: int, d: WindowDimension) -> tuple[Lin, tuple[Test[Lin], ...]]:
    """Where output x and window position w read the undilated operand, and that they read it."""
    return folds.windowed(x, w, size, d.stride, d.window_dilation, d.padding_low, d.base_dilation)


def reduce_window(node: Node, at: At, place: int, which: int = 0) -> Term | None:
    """The fold over the window's places inside the operand; None where the window has not the operand's dimensions."""
    window = node.attributes.get("window")
    count = len(node.operands) // 2
    source = node.operands[0].sizes
    dims = window.dimensions if isinstance(window, Window) else (WindowDimension(1),) * len(source)
    if len(dims) != len(source):
        return None
    ranges = tuple(variable(place + k, d.size) for k, d in enumerate(dims))
    tests: list[Test[Lin]] = []
    index: tuple[Lin, ...] = ()
    for x, w, d, size in zip(at, ranges, dims, source, strict=True):
        where, reads = windowed(x, d.size - 1 - w if d.reversal else w, size, d)
        tests += reads
        index += (where,)
    sides = tuple(Elem(o, ()) for o in node.operands[count:])
    bodies = tuple(guarded(tests, Elem(o, index), s) for o, s in zip(node.operands[:count], sides, strict=True))
    head: tuple[object, ...] = ("reduce", node.bodies, which)
    if "in_order" in node.attributes:  # one that stands for an operation whose order is told
        head = (*head, IN_ORDER)
    return Fold(head, node.operands[which].type, place, tuple(d.size for d in dims), bodies, sides)


def precision(node: Node) -> tuple[object, ...]:
    """Attributes of a dot or convolution that say how sums and products are rounded, defaults left out."""
    out: list[object] = []
    value = node.attributes.get("operand_precision")
    if isinstance(value, tuple):
        names = [v.text for v in value if isinstance(v, Word)]
        if any(name != "default" for name in names):
            out.append(tuple(names))
    algorithm = node.attributes.get("algorithm")
    if algorithm is not None:
        out.append(algorithm)
    return tuple(out)


def _loses_parts(type_: str, lhs: Node, rhs: Node) -> bool:
    """Whether a sum of products is of a kind that holds less than the factors do: whether factors, products or the sum
    lose their fractions, imaginary parts, or all but whether they are zero, is not said."""
    given = {lhs.type, rhs.type}
    if type_ == "pred":
        return given != {"pred"}
    if type_ in INTEGERS:
        return not given <= INTEGERS
    return type_ not in COMPLEX and not given.isdisjoint(COMPLEX)


def dot(node: Node, at: At, place: int) -> Term | None:
    """The contraction over the contracting dimensions; None with sparsity, or for a type without zero."""
    if len(node.operands) != 2 or "sparsity" in node.attributes or not has_zero(node.type):
        return None
    lhs, rhs = node.operands
    if _loses_parts(node.type, lhs, rhs):
        return None
    a = node.attributes
    batch = a.integers("lhs_batch_dims"), a.integers("rhs_batch_dims")
    folded = a.integers("lhs_contracting_dims"), a.integers("rhs_contracting_dims")
    sizes = tuple(lhs.sizes[d] for d in folded[0])
    ranges = [variable(place + k, n) for k, n in enumerate(sizes)]
    sides = folds.contracted(at, ranges, batch, folded, (len(lhs.sizes), len(rhs.sizes)))
    head = ("contract", precision(node))
    return Fold(head, node.type, place, sizes, (Elem(lhs, sides[0]), Elem(rhs, sides[1])))


def convolution(
    node: Node, at: At, place: int, type_: str | None = None, operands: tuple[Node, ...] | None = None
) -> Term | None:
    """A convolution, or a call with the attributes of one, whose result type and two operands are given then; None for
    one that is no sum of products."""
    lhs, rhs = operands or node.operands
    a = node.attributes
    labels, window = a.get("dim_labels"), a.get("window")
    if not isinstance(labels, ConvolutionDimensions) or why_no_sum(a) is not None:
        return None
    rank = len(labels.input_spatial)
    dims = window.dimensions if isinstance(window, Window) else ()
    if len(dims) != rank or not (has_zero(lhs.type) and has_zero(type_ or node.type)):
        return None
    if _loses_parts(type_ or node.type, lhs, rhs):
        return None
    groups, batch_groups = a.integer("feature_group_count", 1), a.integer("batch_group_count", 1)
    per_group = rhs.sizes[labels.kernel_input_feature]
    features = rhs.sizes[labels.kernel_output_feature]
    sizes = (per_group, *(d.size for d in dims))
    channel, *positions = [variable(place + k, n) for k, n in enumerate(sizes)]
    out = at[labels.output_feature]
    left = [constant(0)] * len(lhs.sizes)
    right = [constant(0)] * len(rhs.sizes)
    left[labels.input_feature] = (out // (features // groups)) * per_group + channel
    left[labels.input_batch] = at[labels.output_batch]
    if batch_groups > 1:
        width = lhs.sizes[labels.input_batch] // batch_groups
        left[labels.input_batch] = (out // (features // batch_groups)) * width + at[labels.output_batch]
    right[labels.kernel_input_feature] = channel
    right[labels.kernel_output_feature] = out
    tests: list[Test[Lin]] = []
    for k, d in enumerate(dims):
        index, reads = windowed(at[labels.output_spatial[k]], positions[k], lhs.sizes[labels.input_spatial[k]], d)
        tests += reads
        left[labels.input_spatial[k]] = index
        right[labels.kernel_spatial[k]] = d.size - 1 - positions[k] if d.reversal else positions[k]
    zero = from_value(lhs.type, 0)
    body = guarded(tests, Elem(lhs, tuple(left)), zero)
    return Fold(("contract", precision(node)), type_ or node.type, place, sizes, (body, Elem(rhs, tuple(right))))
