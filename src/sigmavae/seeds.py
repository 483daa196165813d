"""Random streams that are functions of where one is, not of what was drawn before.

Step 1,000 of a run draws the same numbers whether or not the run was interrupted, evaluated or watched on the way:
there is no generator state to save.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What a stream of random numbers is for; distinct purposes never share one."""

    INIT = 0
    ORDER = 1
    NOISE = 2
    HELD_OUT = 3
    EVALUATION = 4
    PICTURES = 5
    CLIPS = 6
    SCENES = 7


def seed_for(seed: int, stream: Stream, *where: int) -> int:
    """Return a 63-bit seed for a place in a stream, such as (step, rank)."""
    words = np.random.SeedSequence([seed, int(stream), *where]).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))
