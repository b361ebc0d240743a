"""Where the specs are."""

from __future__ import annotations

from pathlib import Path


def specs_folder() -> Path:
    """The folder `specs`: beside this package's folder, in a checkout as in an installation.

    Raises FileNotFoundError when there is none.
    """
    beside = Path(__file__).resolve().parents[2]
    folder = beside / "specs"
    if folder.is_dir():
        return folder
    raise FileNotFoundError(f"no folder specs in {beside}: the installation is incomplete")
