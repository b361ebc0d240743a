"""The values that instruction attributes take, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of `window={size=.. stride=.. pad=lo_hi lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}`.

    Padding counts elements and may be negative. `base_dilation` (lhs_dilate) spreads the operand, `window_dilation`
    (rhs_dilate) spreads the window; both are at least 1, and 1 changes nothing.
    """

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversal: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """One entry for each dimension that the window moves over, in their order."""

    dimensions: tuple[WindowDimension, ...] = ()


@dataclass(frozen=True, slots=True)
class ConvolutionDimensions:
    """`dim_labels=b01f_01io->b01f`: which dimension of each array is batch, feature or the n-th spatial one."""

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SliceDimension:
    """`[start:limit:stride]`, limit exclusive."""

    start: int
    limit: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class PaddingDimension:
    """`low_high_interior`. Low and high may be negative (they crop); interior is at least 0."""

    low: int
    high: int
    interior: int = 0


@dataclass(frozen=True, slots=True)
class ComputationRef:
    """The name of a computation of the same module, without `%`."""

    name: str


@dataclass(frozen=True, slots=True)
class ReplicaGroups:
    """Groups of device ids, expanded, and the text they were written in (four forms exist)."""

    groups: tuple[tuple[int, ...], ...]
    text: str


@dataclass(frozen=True, slots=True)
class DevicePairs:
    """`source_target_pairs={{0,1},{1,0}}`."""

    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word or other text kept as written: `direction=LT`, `kind=kLoop`, `sharding={replicated}`, JSON."""

    text: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string in double quotes; `text` is what stands between them, escapes as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Aliasing:
    """One entry of `output_to_operand_aliasing={{0}: (1, {})}`, or of a module's
    `input_output_alias={{}: (0, {}, may-alias)}`, where the operand is a parameter number."""

    output_index: tuple[int, ...]
    operand: int
    operand_index: tuple[int, ...]
    kind: str = ""
    """`may-alias`, `must-alias`, or empty where the text does not say."""


@dataclass(frozen=True, slots=True)
class BufferDonor:
    """One entry of a module's `buffer_donor={(0, {1})}`: this part of a parameter may be overwritten."""

    parameter: int
    parameter_index: tuple[int, ...]


AttributeValue = (
    bool
    | int
    | float
    | Word
    | Quoted
    | Window
    | ConvolutionDimensions
    | ReplicaGroups
    | DevicePairs
    | ComputationRef
    | tuple[int, ...]
    | tuple[SliceDimension, ...]
    | tuple[PaddingDimension, ...]
    | tuple[ComputationRef, ...]
    | tuple[Aliasing, ...]
    | tuple[BufferDonor, ...]
    | tuple[Word, ...]
)


@dataclass(frozen=True, slots=True)
class Attributes:
    """Attributes in the order of the text."""

    pairs: tuple[tuple[str, AttributeValue], ...] = ()

    def get(self, name: str) -> AttributeValue | None:
        for key, value in self.pairs:
            if key == name:
                return value
        return None

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.pairs)

    def integers(self, name: str) -> tuple[int, ...]:
        """A list of integers such as `dimensions={0,1}`; () when absent. Raises TypeError when it is something else."""
        value = self.get(name)
        if value is None:
            return ()
        if isinstance(value, tuple) and all(isinstance(v, int) for v in value):
            return value  # type: ignore[return-value]
        raise TypeError(f"attribute {name} is not a list of integers: {value!r}")

    def integer(self, name: str, default: int) -> int:
        """An integer such as `index=1`. Raises TypeError when it is something else."""
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise TypeError(f"attribute {name} is not an integer: {value!r}")

    def flag(self, name: str) -> bool:
        return self.get(name) is True

    def computations(self) -> tuple[str, ...]:
        """The names of all computations called, in the order of the text."""
        out: list[str] = []
        for _, value in self.pairs:
            if isinstance(value, ComputationRef):
                out.append(value.name)
            elif isinstance(value, tuple):
                out.extend(v.name for v in value if isinstance(v, ComputationRef))
        return tuple(out)


NON_SEMANTIC: Final = frozenset(
    {
        "metadata",
        "backend_config",
        "frontend_attributes",
        "sharding",
        "control-predecessors",
        "origin",
        "statistics",
        "original_value",
        "parameter_replication",
        "result_accuracy",
    }
)
"""Attributes that do not change which elements an instruction reads."""
