"""JSON of users and strangers read: everything that can be wrong with it is their error, with the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hloproof.results.errors import BadInput
from hloproof.results.files import read_file


def read_json(path: Path) -> Any:
    """The value in a file. Raises BadInput when it cannot be read, is no UTF-8, is no JSON, nests too deeply or has an
    integer of more digits than Python reads."""
    return value_of(read_file(path), str(path))


def value_of(data: bytes | str, name: str) -> Any:
    """The value of a JSON text; `name` says in errors where it came from. Raises BadInput."""
    try:
        return json.loads(data.decode("utf-8-sig") if isinstance(data, bytes) else data)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: not UTF-8 text, at byte {error.start}") from error
    except RecursionError as error:
        raise BadInput(f"{name}: not JSON: nested too deeply") from error
    except ValueError as error:
        raise BadInput(f"{name}: not JSON: {str(error).partition(';')[0]}") from error
