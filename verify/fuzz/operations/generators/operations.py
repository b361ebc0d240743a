"""Strategies for modules of one operation each, as text. Sizes are small, so that every element can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hypothesis import strategies as st

from hloproof.fuzz.operations.generators.collectives import (
    collective,
    collective_of_several,
    counted_by_shapes,
    permute,
    permute_shifted,
    ragged_exchange,
    started,
)
from hloproof.fuzz.operations.generators.control import control
from hloproof.fuzz.operations.generators.elementwise import elementwise, scan
from hloproof.fuzz.operations.generators.folds import (
    batch_norm,
    batch_norm_tuple,
    fft,
    mapped,
    reduce,
    reduce_variadic,
    sort,
    sort_variadic,
    topk,
    triangular,
)
from hloproof.fuzz.operations.generators.indexed import (
    dynamic_slice,
    dynamic_update_slice,
    gather,
    scatter,
    scatter_batched,
    scatter_variadic,
)
from hloproof.fuzz.operations.generators.movement import (
    bitcast,
    bitcast_convert,
    bitcast_rows,
    broadcast,
    concatenate,
    copy,
    pad,
    reshape,
    reverse,
    slice_,
    transpose,
)
from hloproof.fuzz.operations.generators.products import dot, ragged_dot, scaled_dot
from hloproof.fuzz.operations.generators.runs import bitcast_of_bits, get_dimension_size, iota, without_meaning
from hloproof.fuzz.operations.generators.windows import convolution, reduce_window, select_and_scatter
from hloproof.models.hlo.parser import parse_module
from hloproof.models.hlo.printer import print_module

BY_NAME: Final[dict[str, Callable[[], st.SearchStrategy[str]]]] = {
    "elementwise": elementwise,
    "broadcast": broadcast,
    "reshape": reshape,
    "transpose": transpose,
    "reverse": reverse,
    "slice": slice_,
    "pad": pad,
    "concatenate": concatenate,
    "dynamic-slice": dynamic_slice,
    "dynamic-update-slice": dynamic_update_slice,
    "reduce": reduce,
    "reduce-window": reduce_window,
    "select-and-scatter": select_and_scatter,
    "convolution": convolution,
    "dot": dot,
    "gather": gather,
    "scatter": scatter,
    "sort": sort,
    "fft": fft,
    "batch-norm": batch_norm,
    "collective": collective,
    "reduce-variadic": reduce_variadic,
    "sort-variadic": sort_variadic,
    "scatter-variadic": scatter_variadic,
    "scatter-batched": scatter_batched,
    "topk": topk,
    "triangular": triangular,
    "batch-norm-tuple": batch_norm_tuple,
    "ragged-dot": ragged_dot,
    "scaled-dot": scaled_dot,
    "bitcast-convert": bitcast_convert,
    "copy": copy,
    "bitcast": bitcast,
    "bitcast-rows": bitcast_rows,
    "collective-of-several": collective_of_several,
    "permute": permute,
    "permute-shifted": permute_shifted,
    "started": started,
    "counted-by-shapes": counted_by_shapes,
    "ragged-exchange": ragged_exchange,
    "iota": iota,
    "bitcast-of-bits": bitcast_of_bits,
    "get-dimension-size": get_dimension_size,
    "without-meaning": without_meaning,
    "control": control,
    "map": mapped,
    "scan": scan,
}
"""Strategies by the kind of operation."""


def unshaped_operations() -> st.SearchStrategy[str]:
    """A module of one operation, as text, which leaves it to the reader to infer shapes."""
    return st.sampled_from(tuple(BY_NAME)).flatmap(lambda name: BY_NAME[name]())


def operations() -> st.SearchStrategy[str]:
    """The same with every shape written, as other readers of such text want it."""
    return unshaped_operations().map(lambda text: print_module(parse_module(text)))
