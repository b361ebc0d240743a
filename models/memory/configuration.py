"""What backends write beside an instruction: the objects of a `backend_config` that is JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator


def objects_of(config: str) -> Iterator[dict[str, object]]:
    """Every object of the JSON text, the outermost first; none where the text is no JSON. What stands in a string of it
    is no object."""
    for text in (config, config.replace('\\"', '"')):  # as it stands, and as it is written inside of quotes
        try:
            pending = [json.loads(text)]
        except (ValueError, RecursionError):
            continue
        while pending:
            match pending.pop():
                case dict() as found:
                    yield found
                    pending += found.values()
                case list() as found:
                    pending += found
        return
