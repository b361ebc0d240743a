"""fft, cholesky, triangular-solve: by their definitions in double precision, or as hashes of what they depend on."""

from __future__ import annotations

import cmath
from collections.abc import Mapping, Sequence
from math import nan, pi, prod
from typing import Final

from hloproof.models.hlo.attributes import Word
from hloproof.models.interpreter.operations.reduction import lines
from hloproof.models.interpreter.semantics import element_type as types
from hloproof.models.interpreter.step import Execute, Step
from hloproof.models.interpreter.value import Array, Element, Value, indices


def fft(step: Step) -> Value:
    """Discrete Fourier transforms along the last `fft_length` dimensions; the inverse divides by the count.

    RFFT gives the first half (and the middle) of the last dimension; IRFFT takes such a half and gives real numbers.
    """
    x, lengths = step.array(0), step.attributes.integers("fft_length")
    kind_of = step.attributes.get("fft_type")
    kind = kind_of.text if isinstance(kind_of, Word) else "FFT"
    if not x.data or not prod(step.shape.dimensions):
        return step.result([step.scalars.constant(step.shape.element_type, 0)] * prod(step.shape.dimensions))
    hidden = _whole_blocks(step, x, len(lengths), f"fft {kind} {lengths}")
    if hidden is not None:
        return hidden
    rank, sizes = len(x.sizes), list(x.sizes)
    axes = range(rank - len(lengths), rank)
    data = [complex(v) for v in x.data]
    if kind == "RFFT":
        data, sizes = _crop(data, sizes, lengths[-1])
    order = list(axes) if kind in ("IFFT", "IRFFT") else list(reversed(axes))
    for axis in order:
        if kind == "IRFFT" and axis == rank - 1:
            data, sizes = _hermitian(data, sizes, lengths[-1])
        data = _transform(data, tuple(sizes), axis, inverse=kind in ("IFFT", "IRFFT"))
    if kind == "RFFT":
        data, sizes = _crop(data, sizes, lengths[-1] // 2 + 1)
    target = step.shape.element_type
    if target not in types.COMPLEX:
        return step.result([types.rounded(target, v.real) for v in data])
    return step.result([types.rounded(target, v) for v in data])


def _crop(data: list[complex], sizes: list[int], size: int) -> tuple[list[complex], list[int]]:
    """The first `size` elements along the last dimension."""
    n = sizes[-1]
    return [v for row in range(0, len(data), n) for v in data[row : row + size]], [*sizes[:-1], size]


def _hermitian(data: list[complex], sizes: list[int], size: int) -> tuple[list[complex], list[int]]:
    """The full line whose first half is given: element n - k is the conjugate of element k. The imaginary parts of
    the first and, for an even size, of the middle element do not count."""
    n, out = sizes[-1], []
    for row in range(0, len(data), n):
        half = [*data[row : row + size // 2 + 1]]
        half += [0j] * (size // 2 + 1 - len(half))
        half[0] = complex(half[0].real, 0)
        if size % 2 == 0:
            half[-1] = complex(half[-1].real, 0)
        out += [half[k] if k < len(half) else half[size - k].conjugate() for k in range(size)]
    return out, [*sizes[:-1], size]


def _transform(data: list[complex], sizes: tuple[int, ...], axis: int, inverse: bool) -> list[complex]:
    n = sizes[axis]
    turn = [cmath.exp((2j if inverse else -2j) * pi * k / n) for k in range(n)]
    out = list(data)
    for line in lines(sizes, axis):
        values = [data[i] for i in line]
        for k, i in enumerate(line):
            total = sum(v * turn[j * k % n] for j, v in enumerate(values))
            out[i] = total / n if inverse else total
    return out


def _whole_blocks(step: Step, x: Array, trailing: int, name: str) -> Value | None:
    """Each trailing block of the result as an uninterpreted function of the same block of the operand."""
    kind = step.shape.element_type
    block = prod(x.sizes[len(x.sizes) - trailing :])
    result = prod(step.shape.dimensions[step.shape.rank - trailing :])
    data: list[Element] = []
    for start in range(0, len(x.data), block):
        for k in range(result):
            element = step.scalars.uninterpreted(name, kind, x.data[start : start + block], k)
            if element is None:
                return None
            data.append(element)
    return step.result(data)


def cholesky(step: Step) -> Value:
    """The triangular factor of each matrix of the last two dimensions, read from its lower or upper triangle; the other
    triangle of the result is zero."""
    x, lower = step.array(0), step.attributes.flag("lower")
    n = x.sizes[-1]
    if not x.data:
        return step.result([])
    triangle = [i * n + j for i in range(n) for j in range(n) if (j <= i if lower else j >= i)]
    data: list[Element] = []
    for start in range(0, len(x.data), n * n):
        matrix = x.data[start : start + n * n]
        read = [matrix[k] for k in triangle]
        zero = step.scalars.constant(step.shape.element_type, 0)
        hashed = [step.scalars.uninterpreted(f"cholesky {lower}", x.element_type, read, k) for k in triangle]
        if None not in hashed:
            block = [zero] * (n * n)
            for k, v in zip(triangle, hashed, strict=True):
                block[k] = v
            data += block
            continue
        full = [complex(v) for v in matrix]
        rows = [[full[i * n + j] if lower else full[j * n + i].conjugate() for j in range(n)] for i in range(n)]
        factor = _factor(rows, n)
        for i in range(n):
            for j in range(n):
                v = factor[i][j] if lower else factor[j][i].conjugate()
                data.append(_number(x.element_type, v))
    return step.result(data)


def _factor(rows: list[list[complex]], n: int) -> list[list[complex]]:
    out = [[0j] * n for _ in range(n)]
    for j in range(n):
        rest = rows[j][j].real - sum(abs(v) ** 2 for v in out[j][:j])
        if not rest > 0:  # not positive definite: everything is NaN
            return [[complex(nan, nan) if k <= i else 0j for k in range(n)] for i in range(n)]
        out[j][j] = complex(rest**0.5)
        for i in range(j + 1, n):
            dot = sum(a * b.conjugate() for a, b in zip(out[i][:j], out[j][:j], strict=True))
            out[i][j] = (rows[i][j] - dot) / out[j][j]
    return out


def _number(element_type: str, v: complex) -> Element:
    return types.rounded(element_type, v if element_type in types.COMPLEX else v.real)


def triangular_solve(step: Step) -> Value:
    """x with op(a) x = b (or x op(a) = b without left_side), where op is nothing, the transpose or the adjoint. Only
    the triangle of `a` that `lower` names is read, its diagonal taken for ones with unit_diagonal."""
    a, b = step.array(0), step.array(1)
    flags = step.attributes
    left, lower, unit = flags.flag("left_side"), flags.flag("lower"), flags.flag("unit_diagonal")
    option = flags.get("transpose_a")
    transpose = option.text if isinstance(option, Word) else "NO_TRANSPOSE"
    n, (rows, columns) = a.sizes[-1], b.sizes[-2:]
    data: list[Element] = []
    for batch, _ in enumerate(indices(b.sizes[:-2])):
        matrix = a.data[batch * n * n : (batch + 1) * n * n]
        right = b.data[batch * rows * columns : (batch + 1) * rows * columns]
        data += _solve(step, matrix, right, n, (rows, columns), (left, lower, unit), transpose)
    return step.result(data)


def _solve(
    step: Step,
    matrix: Sequence[Element],
    right: Sequence[Element],
    n: int,
    size: tuple[int, int],
    flags: tuple[bool, bool, bool],
    transpose: str,
) -> list[Element]:
    left, lower, unit = flags
    rows, columns = size
    kind = step.shape.element_type
    systems = columns if left else rows
    pick = [[right[k * columns + s] if left else right[s * columns + k] for k in range(n)] for s in range(systems)]
    is_lower = (lower == (transpose == "NO_TRANSPOSE")) == left
    order = list(range(n) if is_lower else range(n - 1, -1, -1))
    if step.scalars.name != "real" and (transpose != "ADJOINT" or kind not in types.COMPLEX):
        turned = (transpose != "NO_TRANSPOSE") == left
        solved = [_substituted(step, matrix, values, order, turned, unit) for values in pick]
        return [solved[c][r] if left else solved[r][c] for r in range(rows) for c in range(columns)]

    def entry(i: int, j: int) -> complex:
        if i == j and unit:
            return 1 + 0j
        inside = j <= i if lower else j >= i
        return complex(matrix[i * n + j]) if inside else 0j

    def op(i: int, j: int) -> complex:
        if transpose == "NO_TRANSPOSE":
            return entry(i, j)
        return entry(j, i) if transpose == "TRANSPOSE" else entry(j, i).conjugate()

    m = [[op(i, j) if left else op(j, i) for j in range(n)] for i in range(n)]
    answers: list[list[complex]] = []
    for values in pick:
        x = [0j] * n
        for i in order:
            rest = complex(values[i]) - sum(m[i][j] * x[j] for j in range(n) if j != i)
            x[i] = rest / m[i][i] if m[i][i] else complex(nan, nan)
        answers.append(x)
    flat = [answers[c][r] if left else answers[r][c] for r in range(rows) for c in range(columns)]
    return [_number(kind, v) for v in flat]


def _substituted(
    step: Step, matrix: Sequence[Element], values: Sequence[Element], order: Sequence[int], turned: bool, unit: bool
) -> list[Element]:
    """One system solved row by row in the arithmetic of the semantics: what was solved before is taken off."""
    n, kind = len(values), step.shape.element_type
    subtract, multiply, divide = (step.function(name, kind) for name in ("subtract", "multiply", "divide"))
    x: list[Element] = list(values)
    for k, i in enumerate(order):
        rest = values[i]
        for j in order[:k]:
            rest = subtract(rest, multiply(matrix[j * n + i] if turned else matrix[i * n + j], x[j]))
        x[i] = rest if unit else divide(rest, matrix[i * n + i])
    return x


EXECUTIONS: Final[Mapping[str, Execute]] = {"cholesky": cholesky, "fft": fft, "triangular-solve": triangular_solve}
"""By opcode."""
