"""Crops, sizes and colours of images and videos."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigmavae.data.resize import SQUARE, WHOLE, centre, from_picture, to_picture, with_channels, with_size
from tests.data.files import pixels, smooth

sides = st.integers(1, 300)


@given(sides, sides)
def test_the_largest_centre_square(height: int, width: int):
    for part, length in zip(SQUARE.box(height, width), (height, width), strict=True):
        assert part.stop - part.start == min(height, width)
        before, after = part.start, length - part.stop
        assert 0 <= after - before <= 1


@given(sides, sides)
def test_the_centre_of_a_row(length: int, kept: int):
    kept = min(length, kept)
    assert len(range(length)[centre(length, kept)]) == kept


def test_without_a_side_nothing_changes():
    image = pixels(5, 7, 3)
    assert with_size(image, None, SQUARE) is image


def test_an_image_of_the_right_size_is_cropped_only():
    image = pixels(10, 7, 3)
    assert np.array_equal(with_size(image, 7, SQUARE), image[1:8])
    assert np.array_equal(with_size(image[:7], 7, WHOLE), image[:7])


@pytest.mark.parametrize(("height", "width", "side"), [(1, 1, 5), (1, 9, 4), (40, 40, 1), (28, 20, 28), (178, 218, 64)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("crop", [SQUARE, WHOLE])
def test_one_colour_stays_that_colour(height: int, width: int, side: int, channels: int, crop):
    image = np.full((height, width, channels), 77, np.uint8)
    assert np.array_equal(with_size(image, side, crop), np.full((side, side, channels), 77))


def triangles(length: int, side: int) -> np.ndarray:
    """Bilinear interpolation along one axis as a matrix; where it shrinks, each triangle covers all it stands for."""
    scale = length / side
    places = (np.arange(side)[:, None] + 0.5) * scale - 0.5
    weights = np.maximum(0, 1 - np.abs(np.arange(length) - places) / max(scale, 1))
    return weights / weights.sum(1, keepdims=True)


@pytest.mark.parametrize(("height", "width", "side"), [(32, 32, 28), (20, 28, 28), (64, 48, 16), (9, 9, 31)])
def test_resizing_is_bilinear(height: int, width: int, side: int):
    image = pixels(height, width, 3)
    expected = np.einsum("ah,bw,hwc->abc", triangles(height, side), triangles(width, side), image)
    assert np.abs(with_size(image, side, WHOLE) - expected).max() <= 1.5  # rounded once an axis


def test_every_frame_of_a_video_is_treated_as_an_image():
    video = pixels(4, 9, 12, 3)
    for channels in (1, 3):
        frames = [with_channels(with_size(frame, 5, SQUARE), channels) for frame in video]
        assert np.array_equal(with_channels(with_size(video, 5, SQUARE), channels), np.stack(frames))


def test_gray_becomes_colour_and_back_without_loss():
    gray = pixels(5, 6, 1)
    colour = with_channels(gray, 3)
    assert colour.shape == (5, 6, 3)
    assert np.array_equal(with_channels(colour, 1), gray)
    assert with_channels(gray, 1) is with_channels(gray, None) is gray


def test_colour_becomes_luma():
    image = smooth(20, 30)
    luma = image @ np.array([0.299, 0.587, 0.114])  # ITU-R 601
    assert np.abs(with_channels(image, 1)[..., 0] - luma).max() <= 1


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_and_arrays_are_the_same(channels: int):
    image = pixels(5, 6, channels)
    assert np.array_equal(from_picture(to_picture(image)), image)
    assert np.array_equal(from_picture(to_picture(image[:, ::-1])), image[:, ::-1])
