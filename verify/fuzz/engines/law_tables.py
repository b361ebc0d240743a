"""Laws that engines have to prove, and what is nearly one, as tables of statements with letters."""

from __future__ import annotations

from typing import Final

# f, g: sums of multiples of variables; a, b > 1, p >= 0, n < 0 and k: constants

OUTRIGHT_LAWS: Final = (
    "(f * a + k) / a == f + k / a",
    "(f * a + k) / (a * b) == (f + k / a) / b",
    "(f / a + k) / b == (f + a * k) / (a * b)",
    "(f / a + k) / b / 2 == (f + a * k) / (a * b * 2)",
    "f / (a * -1) == (f * -1) / a",
    "f mod (a * -1) == ((f * -1) mod a) * -1",
    "f ceildiv a == ((f * -1) / a) * -1",
    "f ceildiv (a * -1) == (f / a) * -1",
    "f mod a + f / a * a == f",
    "f / a / b * b + f / a mod b == f / a",
    "(max(f, g) + g) / a == max((f + g) / a, (g + g) / a)",
    "(g - min(f, g)) / a == max((g - f) / a, (g - g) / a)",
    "max(f, f) == f",
    "min(f, f) <= f",
)
"""Those that isl's encoder settles by itself."""

OTHERS: Final = (
    "(min(f, g) * p + g) / a == min((f * p + g) / a, (g * p + g) / a)",
    "(min(f, g) * n + g) / a == max((f * n + g) / a, (g * n + g) / a)",
    "(max(f, g) * p + p) / (a * -1) == min(((f * p + p) * -1) / a, ((g * p + p) * -1) / a)",
    "(max(f, g) * n + k) / (a * -1) == max(((f * n + k) * -1) / a, ((g * n + k) * -1) / a)",
    "(f + g * a) mod a == f mod a",
    "max(f, g) + min(f, g) <= f + g",
    "f < max(f, max(g, f / a)) + 1",
)
"""Those that isl is asked for."""

# a: a variable; b: a digit below m; x: a sum of both; m, k, c, f, s, t: constants

DIGIT_LAWS: Final = (
    "(a * m + b) / (m * k) == a / k",
    "(a * m + b) mod (m * k) == a mod k * m + b",
    "(a * m + b) / m == a",
    "(a * m + b) mod m == b",
    "x / c * (c * f) + x mod c * f + a == x * f + a",
    "a / s / t == a / (s * t)",
)
"""An index taken apart by its last digit, one put together again, quotients of quotients."""

# x, y: any variables; k, j: divisors; e: a digit below k; c, f: constants

ALWAYS: Final = (
    "x mod k + k * (x / k) == x",
    "(x * k + y) / k == x + y / k",
    "(x * k) / k == x",
    "(x * k) mod k == 0",
    "(x / k) * (k * j) + x mod k * j == x * j",
    "(x * k + y) mod k == y mod k",
    "(x * j) / (j * k) == (j * x) / (k * j)",
    "(x * (c * 2) * k + y) / (k * 2) == x * c + y / (k * 2)",
    "(x * f + y + k) / k == (y + x * f) / k + 1",
    "x / k + x / k == x / k * 2",
    "(x * k * j + y * k) / (j * k) == x + (y * k) / (k * j)",
    "(x + k * f) * (y - j) + x / j * 0 + y mod k == x * y - x * j + k * f * y - k * j * f + y mod k",
    "(x * 3 * k + y) / (k * 2) == (y + k * x * 3) / (k * 2)",
    "(x + 6) / 3 == x / 3 + 2",
    "(x + 5) / 3 == (x + 5) / 3",
)
"""Laws of symbolic divisors that are not zero, which do not ask how large a digit is."""
WHERE_POSITIVE: Final = (
    "(x / k) / j == x / (k * j)",
    "(x + k * f) / k / j == (x / k + f) / j",
    "(x / k + j * c) / j == x / (k * j) + c",
    "x / 2 / k / j == x / (k * 2 * j)",
)
NO_LAWS: Final = ("x / k == y / k", "x / k == x / j", "x mod k == y mod k", "x / k == x / k / j")

PRODUCTS: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("0 <= x mod k",), ("0 < k",)),
    (("x mod k < k",), ("0 < k",)),
    (("(x * k + e) / k == x",), ("0 <= e", "e < k")),
    (("x / k * k <= x",), ("k != 0", "0 < k")),
    (("0 <= x / k", "x / k <= x"), ("0 <= x", "0 < k")),
    (("k < x mod k",), ("k < 0",)),
)
"""What is so, by products of inequalities, where all of the conditions are met."""

CONTRADICTIONS: Final[tuple[tuple[str, bool], ...]] = (
    ("a; -1", True),
    ("1; 0; a", False),
    ("a - s; s - 1 - a", True),
    ("a - s; s - a", False),
    ("2 * a - 1; 1 - 2 * a", True),
    ("a - 1; b - 1; 0 - a * b", True),
    ("a; b; 0 - a * b", False),
    ("3 * a - 1; 3 * b - 1; 0 - a * b", True),
    ("a * b - c; c - a * b; (a * b - c) * b - 1", True),
    ("a * b - c; c - a * b; 0 - (a * b - c) * a - 1", True),
    ("a * b - c; c - a * b; (a * b - c) * b", False),
    ("a - 1; b - 1; c - 1; 0 - a * b * c", True),
    ("a; b; c; 0 - a * b * c", False),
    ("a; b; c; 0 - a * b * c - 1", True),
    ("; ".join(("a + s", *(f"a + {9 + n}" for n in range(45)), "0 - a - s - 1")), True),
)
"""Polynomials that are not negative, and whether they contradict one another, by one more step than the last each."""
