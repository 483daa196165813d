"""Likelihoods of videos: time is one more dimension, and every frame may be looked at by itself."""

import pytest
import torch

import sigmavae
from tests.cases import CASES, Case, over

EVENT = (3, 5, 4, 6)


@over(CASES)
def test_frames_sum_to_the_sequence(case: Case):
    likelihood, h, x = case.given(EVENT)
    p = likelihood(h, x)
    for whole, frames in ((p.log_prob(x), p.frame_log_prob(x)), (p.bin_log_prob(x), p.frame_bin_log_prob(x))):
        assert frames.shape == (4, 5)
        torch.testing.assert_close(frames.sum(1), whole)


@over(CASES)
def test_a_frame_is_what_it_is_alone(case: Case):
    if case.name in ("image-sigma", "block-sigma"):
        pytest.skip("its scale is shared by frames")
    likelihood, h, x = case.given(EVENT)
    likelihood.eval()
    frames = likelihood(h, x).frame_log_prob(x)
    for t in range(5):
        torch.testing.assert_close(frames[:, t], likelihood(h[:, :, t], x[:, :, t]).log_prob(x[:, :, t]))


def off_by(errors: torch.Tensor, batch: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and data (B, 1, T, 3, 3) whose frames differ by so much from the means."""
    h = torch.zeros(batch, 1, len(errors), 3, 3)
    return h, 0.5 + errors[None, None, :, None, None].expand_as(h)


def test_sigma_of_every_frame_is_its_error_and_the_last_serves_all_later_ones():
    likelihood = sigmavae.likelihood("optimal-sigma", frames=3)
    errors = torch.tensor([0.1, 0.2, 0.3, 0.1])
    p = likelihood(*off_by(errors))
    want = torch.tensor([0.1, 0.2, ((0.09 + 0.01) / 2) ** 0.5])
    torch.testing.assert_close(p.scale.flatten(), want[[0, 1, 2, 2]])
    torch.testing.assert_close(likelihood.sigma, want)
    likelihood.eval()
    longer = likelihood(torch.zeros(2, 1, 6, 3, 3))
    torch.testing.assert_close(longer.scale.flatten(), want[[0, 1, 2, 2, 2, 2]])
    h, x = off_by(errors)
    torch.testing.assert_close(longer.scale.square().mean(), longer.variance.mean())
    normal = torch.distributions.Normal(torch.full_like(x, 0.5), longer.scale[:4].expand_as(x))
    torch.testing.assert_close(likelihood(h, x).log_prob(x), normal.log_prob(x).flatten(1).sum(1))


def test_a_shorter_video_leaves_the_other_frames_sigma():
    likelihood = sigmavae.likelihood("optimal-sigma", frames=3, decay=0.0)
    likelihood(*off_by(torch.tensor([0.1, 0.2, 0.3])))
    likelihood(*off_by(torch.tensor([0.2, 0.1])))
    torch.testing.assert_close(likelihood.sigma, torch.tensor([0.2, 0.1, 0.3]))


def test_frames_never_seen_take_the_sigma_of_the_last_one_seen():
    likelihood = sigmavae.likelihood("optimal-sigma", frames=5)
    likelihood(*off_by(torch.tensor([0.1, 0.2])))
    want = torch.tensor([0.1, 0.2, 0.2, 0.2, 0.2])
    torch.testing.assert_close(likelihood.sigma, want)
    loaded = sigmavae.likelihood("optimal-sigma", frames=5)
    loaded.load_state_dict(likelihood.state_dict())
    for each in (likelihood, loaded):
        each.eval()
        torch.testing.assert_close(each(torch.zeros(2, 1, 7, 3, 3)).scale.flatten(), want[[0, 1, 2, 3, 4, 4, 4]])


def test_a_frame_first_seen_late_has_its_own_error_at_once():
    likelihood = sigmavae.likelihood("optimal-sigma", frames=3)
    for _ in range(6):
        likelihood(*off_by(torch.tensor([0.1, 0.2])))
    likelihood(*off_by(torch.tensor([0.1, 0.2, 0.3])))
    torch.testing.assert_close(likelihood.sigma, torch.tensor([0.1, 0.2, 0.3]))


def test_held_out_sigma_of_every_frame():
    likelihood = sigmavae.likelihood("optimal-sigma", frames=2, source="validation")
    likelihood.observe(*off_by(torch.tensor([0.1, 0.2])))
    p = likelihood(*off_by(torch.tensor([0.3, 0.3])))
    torch.testing.assert_close(p.scale.flatten(), torch.tensor([0.1, 0.2]))


@pytest.mark.parametrize("options", [{"frames": 0}, {"frames": 2, "split": True}], ids=str)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match="frames="):
        sigmavae.likelihood("optimal-sigma", **options)


def test_images_have_no_frames():
    with pytest.raises(ValueError, match="is for videos"):
        sigmavae.likelihood("optimal-sigma", frames=2)(torch.zeros(2, 1, 3, 3), torch.zeros(2, 1, 3, 3))


@pytest.mark.parametrize("name", ["categorical", "bitwise", "logistic-mixture"])
def test_frames_behind_a_fused_head_are_those_of_the_likelihood(name: str):
    likelihood, _, x = Case(name).given(EVENT)
    head = sigmavae.FusedHead(likelihood, 2, 3, memory=7 * likelihood.features(3) * 8).double()
    inputs = torch.randn(4, 2, *EVENT[1:], dtype=torch.float64)
    p, q = head(inputs), likelihood(head.apply_layer(inputs))
    torch.testing.assert_close(p.frame_log_prob(x), q.frame_log_prob(x))
    torch.testing.assert_close(p.frame_bin_log_prob(x), q.frame_bin_log_prob(x))
