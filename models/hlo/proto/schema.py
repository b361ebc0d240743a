"""The messages of a module, as XLA's hlo.proto and xla_data.proto number their fields.

One line a field: number, name, kind; `*` behind the kind for a list, `-` in front of the name for what is left out,
since it says nothing of what is computed (profiles, statistics, ids of no further use).
"""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.proto.wire import Field, Schema

_TABLE: Final = """
Hlo: 1 module Module; 3 -buffer_assignment bytes
Module: 1 name text; 2 -entry_name text; 3 computations Computation*; 4 host_program_shape ProgramShape; 5 -id int
  6 entry_id int; 7 schedule Schedule; 8 input_output_alias Aliases; 10 -cross_program_prefetches bytes*
  11 is_dynamic bool; 12 -spmd_output_sharding bytes; 13 -profile_info bytes*; 14 -spmd_parameters_shardings bytes*
  15 device_assignment Devices; 16 -use_auto_spmd_partitioning bool; 17 frames Frames; 18 buffer_donor Donors
  19 frontend Attributes; 20 -recovery_table bytes; 21 -device_type text; 22 -payloads bytes*; 23 -pjrt_id int
Devices: 1 replicas int; 2 computations int; 3 -each bytes*
Aliases: 1 entries Alias*
Alias: 1 output int*; 2 parameter int; 3 parameter_index int*; 4 kind int
Donors: 1 entries Donor*
Donor: 1 parameter int; 2 parameter_index int*
Frames: 1 files text*; 2 functions text*; 3 locations Location*; 4 frames Frame*
Location: 1 file int; 2 function int; 3 line int; 4 column int; 5 -end_line int; 6 -end_column int
Frame: 1 location int; 2 parent int
Schedule: 1 sequences Sequence*
Sequence: 1 computation int; 2 order Order
Order: 1 ids int*
ProgramShape: 1 parameters Shape*; 2 result Shape; 3 -names text*
Computation: 1 name text; 2 instructions Instruction*; 4 -program_shape ProgramShape; 5 id int; 6 root_id int
  7 -is_fusion bool; 8 thread text
Shape: 2 type int; 3 dimensions int*; 4 elements Shape*; 5 layout Layout; 6 dynamic bool*
Layout: 1 minor_to_major int*; 6 tiles Tile*; 7 element_bits int; 8 memory_space int; 9 level_types int*
  10 physical_shape Shape; 11 index_type int; 12 pointer_type int; 13 -unique bool*; 14 -ordered bool*
  15 prefix_bytes int; 16 tail_padding int; 17 splits Split*
Tile: 1 dimensions int*
Split: 1 dimension int; 2 indices int*
Instruction: 1 name text; 2 opcode text; 3 shape Shape; 7 metadata Metadata; 8 literal Literal; 9 parameter int
  11 fusion_kind text; 13 tuple_index int; 14 dimensions int*; 15 window Window; 16 conv Conv; 17 slices Slice*
  18 exponent_bits int; 19 mantissa_bits int; 20 dynamic_slice_sizes int*; 21 padding Padding; 22 outfeed_config bytes
  23 distribution int; 24 epsilon float; 25 feature_index int; 26 channel_id int; 27 infeed_config bytes
  28 target text; 29 outfeed_shape Shape; 30 dot Dot; 31 fft_type int; 32 fft_length int*; 33 gather Gather
  34 gather_sizes int*; 35 id int; 36 operands int*; 37 predecessors int*; 38 called int*; 40 sharding Sharding
  43 backend_config bytes; 45 all_reduce_id int; 47 is_host_transfer bool; 48 scatter Scatter; 49 groups Group*
  50 feature_groups int; 51 precision Precision; 52 pairs Pair*; 54 domain_entry bytes; 55 domain_exit bytes
  56 constrain_layout bool; 57 operand_shapes Shape*; 58 batch_groups int; 59 triangular Triangular; 60 is_stable bool
  61 replication Replication; 62 cholesky Cholesky; 63 comparison text; 65 side_effect bool; 66 delta int
  67 indices_are_sorted bool; 68 frontend Attributes; 69 unique_indices bool; 70 rng_algorithm int
  71 use_global_device_ids bool; 72 comparison_type text; 73 is_prefetch bool; 74 aliasing OutputAlias*
  75 padding_type int; 76 custom_schedule int; 77 api_version int; 79 thread text; 80 prefetch_index int; 81 k int
  82 -statistics bytes; 85 largest bool; 86 sparsity bytes*; 87 device_list DeviceList; 88 -original_value bytes
  89 -is_composite bool; 90 ragged bytes; 91 accuracy Accuracy
  92 iota_groups Iota; 93 mesh_groups MeshGroups; 98 sparsity_config bytes
Metadata: 1 op_type text; 2 op_name text; 3 source_file text; 4 source_line int; 5 -profile int*; 8 -size int
  9 -working_set int; 10 -profile_info bytes; 12 -deduplicated text; 15 stack_frame_id int; 16 -scheduling_name text
  17 -end_line int; 18 -column int; 19 -end_column int; 20 -payload bytes
Literal: 1 shape Shape; 2 pred bool*; 3 u8 bytes; 4 s32 int*; 5 s64 int*; 6 u32 uint*; 7 u64 uint*; 8 f32 bits32*
  9 f64 bits64*; 10 elements Literal*; 11 f16 bytes; 12 c64 bits32*; 13 bf16 bytes; 14 sparse int*; 15 s8 bytes
  16 u16 bytes; 17 s16 bytes; 18 c128 bits64*; 19 f8e5m2 bytes; 20 f8e4m3fn bytes; 21 s4 bytes; 22 u4 bytes
  23 f8e4m3b11fnuz bytes; 24 f8e5m2fnuz bytes; 25 f8e4m3fnuz bytes; 26 s2 bytes; 27 u2 bytes; 28 f8e4m3 bytes
  29 f8e3m4 bytes; 30 s1 bytes; 31 u1 bytes; 32 f4e2m1fn bytes; 33 f8e8m0fnu bytes
Window: 1 dimensions WindowDimension*
WindowDimension: 1 size int; 2 stride int; 3 low int; 4 high int; 5 window_dilation int; 6 base_dilation int
  7 reversal bool
Conv: 3 kernel_input int; 4 kernel_output int; 6 kernel_spatial int*; 7 input_batch int; 8 input_feature int
  9 output_batch int; 10 output_feature int; 11 input_spatial int*; 12 output_spatial int*
Slice: 1 start int; 2 limit int; 3 stride int
Padding: 1 dimensions PaddingDimension*
PaddingDimension: 1 low int; 2 high int; 3 interior int
Dot: 1 lhs_contracting_dims int*; 2 rhs_contracting_dims int*; 3 lhs_batch_dims int*; 4 rhs_batch_dims int*
Gather: 1 offset_dims int*; 2 collapsed_slice_dims int*; 3 start_index_map int*; 4 index_vector_dim int
  5 operand_batching_dims int*; 6 start_indices_batching_dims int*
Scatter: 1 update_window_dims int*; 2 inserted_window_dims int*; 3 scatter_dims_to_operand_dims int*
  4 index_vector_dim int; 5 input_batching_dims int*; 6 scatter_indices_batching_dims int*
Group: 1 ids int*
Pair: 1 source int; 2 target int
Precision: 1 operands int*; 2 algorithm int
Triangular: 1 left_side bool; 2 lower bool; 3 unit_diagonal bool; 4 transpose int
Cholesky: 1 lower bool
Attributes: 1 map Entry*
Entry: 1 key text; 2 value text
OutputAlias: 1 output int*; 2 operand int; 3 operand_index int*
Sharding: 1 type int; 2 -tile_shape bytes; 3 dimensions int*; 4 devices int*; 5 parts Sharding*
  6 replicate_last bool; 7 -metadata bytes*; 8 last_tile_dims int*; 9 reshape int*; 10 transpose int*
  11 grouped bool; 12 group int; 13 group_type int
Replication: 1 leaves bool*
Accuracy: 1 mode int; 2 tolerance Tolerance
Tolerance: 1 atol double; 2 rtol double; 3 ulps int
DeviceList: 1 groups Group*; 2 iota Iota
Iota: 1 groups int; 2 size int; 3 reshape int*; 4 transpose int*
MeshGroups: 1 mesh Mesh; 2 axes Axis*
Mesh: 1 axes MeshAxis*; 2 device_ids int*; 3 iota Transposed
MeshAxis: 1 name text; 2 size int
Transposed: 1 reshape int*; 2 transpose int*
Axis: 1 number int; 2 part AxisPart
AxisPart: 1 before int; 2 size int
"""


def _schema(table: str) -> Schema:
    out: dict[str, dict[int, Field]] = {}
    message = ""
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            message, _, line = line.partition(":")
        for text in line.split(";"):
            number, name, kind = text.split()
            field = Field(name.lstrip("-"), kind.rstrip("*"), kind.endswith("*"), name.startswith("-"))
            out.setdefault(message, {})[int(number)] = field
    return out


SCHEMA: Final = _schema(_TABLE)

ELEMENT_TYPES: Final = dict(
    enumerate(
        "invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128 f8e5m2 f8e4m3fn s4 u4 "
        "f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn f8e8m0fnu buffer".split()
    )
)
"""Names of the numbers of PrimitiveType."""
