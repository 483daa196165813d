"""Strips and animations of videos, and which futures they show."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageSequence

import sigmavae
from sigmavae.filmstrip import futures_of, marked, write_animation, write_strip
from sigmavae.metrics.similarity import psnr
from sigmavae.models import SVG


def svg(past: int = 2) -> SVG:
    torch.manual_seed(0)
    options = {"past": past, "future": 3, "backbone": "dcgan", "g": 4, "z": 2, "rnn": 4, "width": 2}
    net = SVG((6, 1, 16, 16), sigmavae.likelihood("gaussian"), **options)
    for module in net.modules():  # so that futures differ
        if isinstance(module, torch.nn.Linear | torch.nn.ConvTranspose2d):
            torch.nn.init.normal_(module.weight, 0, 0.5)
    return net.eval()


def test_rows_are_the_truth_the_best_and_three_others():
    net, video = svg(), torch.rand(6, 1, 16, 16)
    torch.manual_seed(1)
    rows = futures_of(net, video, n=8)
    torch.manual_seed(1)
    every = net.predict(video[None], 8)[:, 0]
    assert rows.shape == (5, 6, 1, 16, 16)
    assert torch.equal(rows[0], video)
    assert torch.equal(rows[:, :2], video[:2].expand(5, 2, 1, 16, 16))
    quality = psnr(every, video[2:]).mean(1)
    best = int(quality.argmax())
    assert torch.equal(rows[1, 2:], every[best])
    others = [i for i in range(8) if i != best][:3]
    assert torch.equal(rows[2:, 2:], every[others])
    assert futures_of(net, video, n=2).shape[0] == 3


def test_given_frames_are_marked(tmp_path: Path):
    rows = torch.rand(3, 4, 1, 16, 16)
    sheet = marked(rows, 2)
    assert sheet.shape == (3, 4, 3, 20, 20)
    torch.testing.assert_close(sheet[..., 2:-2, 2:-2], rows.expand(3, 4, 3, 16, 16))
    corner = sheet[..., 0, 0]
    assert torch.equal(corner[:, 0], corner[:, 1])
    assert torch.equal(corner[:, 2], corner[:, 3])
    assert bool((corner[:, 1] != corner[:, 2]).any())
    with Image.open(write_strip(tmp_path / "s.png", rows, 2)) as picture:
        assert picture.size == (4 * 22 - 2, 3 * 22 - 2)


@pytest.mark.parametrize("channels", [1, 3])
def test_an_animation_has_a_picture_a_frame(tmp_path: Path, channels: int):
    rows = torch.linspace(0, 1, 4)[None, :, None, None, None].expand(3, 4, channels, 64, 64)
    with Image.open(write_animation(tmp_path / "a.gif", rows, 2)) as animation:
        frames = [np.array(frame.convert("RGB")) for frame in ImageSequence.Iterator(animation)]
    assert [frame.shape for frame in frames] == [(132, 3 * 132, 3)] * 4
    assert [frame[66, 66, 0] for frame in frames] == pytest.approx([0, 85, 170, 255], abs=4)
    assert tuple(frames[0][0, 0]) != tuple(frames[3][0, 0])
