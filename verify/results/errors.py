"""What is told to users as their own error, with exit status 2."""

from __future__ import annotations


class BadInput(Exception):
    """A path or a file that cannot be checked: one sentence, the path in it."""
