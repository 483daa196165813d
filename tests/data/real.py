"""Real files where they are at hand: in shared/data beside the repository, or where SIGMAVAE_REAL_DATA says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("SIGMAVAE_REAL_DATA", Path(__file__).parents[3] / "shared" / "data"))


def real(name: str) -> Path:
    """Return a real file or folder; the test is skipped where it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"real data is not at hand: no {path}")
    return path
