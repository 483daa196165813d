"""What training asks of the device, and leaves as it was."""

import pytest
import torch

from sigmavae.devices import repeatable


@pytest.mark.parametrize("before", [False, True])
def test_repeatable_algorithms_are_used_inside_and_only_there(before: bool):
    torch.use_deterministic_algorithms(before)
    try:
        with repeatable():
            assert torch.are_deterministic_algorithms_enabled()
        assert torch.are_deterministic_algorithms_enabled() == before
    finally:
        torch.use_deterministic_algorithms(False)
