"""Freed memory that is kept costs no page faults the next time."""

import platform
import subprocess
import sys

import pytest

ROUNDS = """
import resource, sys
from sigmavae.memory import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory() and keep_freed_memory()
import torch
torch.set_num_threads(1)

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(64 << 20, dtype=torch.uint8)  # written to, and freed at once
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for _ in range(40):  # at first small objects may settle between large blocks, which then do not fit again
    faults()
print(sum(faults() for _ in range(20)))
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", ROUNDS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's allocator is tuned")
def test_large_blocks_come_back_without_page_faults():
    usual = faults("usual")
    if not usual:
        pytest.skip("page faults are not counted here, or large blocks are kept anyway")
    assert faults("kept") < usual / 4
