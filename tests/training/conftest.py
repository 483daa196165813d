"""One uninterrupted run that several tests compare with."""

from pathlib import Path

import pytest

from tests.training.runs import finish, tiny


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    finish(tiny(), folder)
    return folder
