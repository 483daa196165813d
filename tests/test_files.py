"""Paths and files."""

from pathlib import Path

import pytest

from sigmavae.config import DataConfig
from sigmavae.files import absolute


def test_a_path_means_the_same_from_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert absolute(Path("x")) == tmp_path / "x"
    assert absolute(Path("~/x")) == tmp_path / "me" / "x"
    assert DataConfig(path=Path("~/x")).path == tmp_path / "me" / "x"


def test_a_user_who_does_not_exist_is_an_ordinary_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert absolute(Path("~nobody-of-that-name/x")) == tmp_path / "~nobody-of-that-name" / "x"
