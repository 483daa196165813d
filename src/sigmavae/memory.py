"""The C library's allocator, told to keep what it is given back.

Every training step frees and asks for the same large blocks. By default glibc hands a large block back to the system
when it is freed, and the next step pays for every page of it anew. Two settings end that. The heap grows for the first
steps, until every block finds a place; from then on a training was seen to hold the same memory to its end.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX in malloc.h
_NEVER = 2**31 - 1  # bytes at the top of the heap before any are returned: the largest that fits the call


@cache
def keep_freed_memory() -> bool:
    """Set glibc's malloc to take large blocks from the heap and to keep them; return whether that was possible.

    Call it before the first large allocation. Elsewhere than with glibc on Linux it does nothing.
    """
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, _NEVER))
