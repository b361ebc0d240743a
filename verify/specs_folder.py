"""Where the specs are."""

from __future__ import annotations

from pathlib import Path


def specs_folder() -> Path:
    """The folder `specs`: inside this package when installed from a wheel, beside it in a checkout or editable install.

    Raises FileNotFoundError when there is none.
    """
    here = Path(__file__).resolve().parent
    for candidate in (here / "specs", here.parent / "specs"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"no folder specs in {here} or in {here.parent}: the installation is incomplete")
