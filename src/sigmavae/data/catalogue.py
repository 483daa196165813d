"""The data sets by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sigmavae.config import DataConfig
from sigmavae.data.fashion import load_fashion
from sigmavae.data.splits import Splits
from sigmavae.errors import ConfigError

READERS: dict[str, Callable[[DataConfig], Splits]] = {
    "fashion": lambda _: load_fashion(),
}
"""Every data set: a name, and what reads it as the configuration asks."""


def load(config: DataConfig) -> Splits:
    """Return the data that the configuration names."""
    if config.name not in READERS:
        (near,) = difflib.get_close_matches(config.name, list(READERS), n=1, cutoff=0.0)
        raise ConfigError(f"data.name={config.name!r}: did you mean {near!r}? There are: {', '.join(READERS)}")
    return READERS[config.name](config)
