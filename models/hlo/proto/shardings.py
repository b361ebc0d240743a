"""Shardings out of protocol buffers: which devices hold what, as the text that the parser reads."""

from __future__ import annotations

from typing import Final

from hloproof.models.hlo.proto.wire import Message

_WORDS: Final = {0: "replicated", 4: "manual", 5: "unknown", 6: "unreduced"}
"""Kinds of a whole sharding, and of the last dimensions of its tiles."""


def sharding_text(m: Message) -> str:
    """`{replicated}`, `{devices=[2,1]<=[2]}` and the like. Raises ValueError for kinds that are not read."""
    kind = m.get("type", 0)
    group = f" shard_{'like' if m.get('group_type', 0) else 'as'} {m.get('group', 0)}" if m.get("grouped") else ""
    match kind:
        case 2:
            return "{" + ", ".join(map(sharding_text, m.get("parts", []))) + "}"
        case 1:
            return f"{{maximal device={_listed(m.get('devices', [0]))}{group}}}"
        case 3:
            return f"{{devices={_tiles(m)}{group}}}"
    if kind not in _WORDS:
        raise ValueError(f"a sharding of kind {kind} is not read from protocol buffers; give the text")
    return f"{{{_WORDS[kind]}{group}}}"


def _tiles(m: Message) -> str:
    """The tiles, the devices that hold them, and what the last dimensions of the tiles stand for."""
    out = f"[{_listed(m.get('dimensions', []))}]"
    if "reshape" in m:
        out += f"<=[{_listed(m['reshape'])}]"
        if len(m["reshape"]) > 1:
            out += f"T({_listed(m.get('transpose', []))})"
    else:
        out += _listed(m.get("devices", []))
    if m.get("replicate_last"):
        out += " last_tile_dim_replicate"
    if m.get("last_tile_dims"):
        if not all(n in _WORDS for n in m["last_tile_dims"]):
            raise ValueError("the last dimensions of a sharding's tiles are not read; give the text")
        out += f" last_tile_dims={{{', '.join(_WORDS[n] for n in m['last_tile_dims'])}}}"
    return out


def _listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))
