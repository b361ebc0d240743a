"""Closed integer intervals. Both bounds are inclusive; an interval with lower > upper is empty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """All integers from `lower` to `upper`, both inclusive."""

    lower: int
    upper: int

    @classmethod
    def of_size(cls, size: int) -> Interval:
        """The indices of a dimension of `size` elements: [0, size - 1]; empty for size 0."""
        return cls(0, size - 1)

    @classmethod
    def point(cls, value: int) -> Interval:
        return cls(value, value)

    @property
    def is_empty(self) -> bool:
        return self.lower > self.upper

    @property
    def is_point(self) -> bool:
        return self.lower == self.upper

    @property
    def count(self) -> int:
        return max(0, self.upper - self.lower + 1)

    def __contains__(self, value: int) -> bool:
        return self.lower <= value <= self.upper

    def contains(self, other: Interval) -> bool:
        """Every integer of `other` is in this interval."""
        return other.is_empty or (self.lower <= other.lower and other.upper <= self.upper)

    def intersect(self, other: Interval) -> Interval:
        return Interval(max(self.lower, other.lower), min(self.upper, other.upper))

    def hull(self, other: Interval) -> Interval:
        if self.is_empty:
            return other
        if other.is_empty:
            return self
        return Interval(min(self.lower, other.lower), max(self.upper, other.upper))

    def __str__(self) -> str:
        return f"[{self.lower}, {self.upper}]"
