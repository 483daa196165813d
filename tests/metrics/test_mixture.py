"""Mixtures of Gaussians: their density, their growth, and that they are honest."""

import pytest
import torch
from torch.distributions import Categorical, MixtureSameFamily, MultivariateNormal

from sigmavae.metrics.mixture import Mixture, gaussian, grow, held_out_log_prob, refine
from tests.metrics.codes import normal, two_modes


def moments(mixture: Mixture) -> tuple[torch.Tensor, torch.Tensor]:
    weight, covariance = mixture.log_weight.exp(), mixture.root @ mixture.root.mT
    mean = weight @ mixture.mean
    deviation = mixture.mean - mean
    return mean, torch.tensordot(weight, covariance + deviation[:, :, None] * deviation[:, None], 1)


def peaked() -> torch.Tensor:
    return normal(2000, 3, 0) * (1 + 2 * (normal(2000, 1, 1) > 1))


def parted() -> torch.Tensor:
    one = two_modes(2000, 1, away=0.95, variance=0.01).sample(lambda like: normal(*like.shape, 3))
    return torch.cat([one, normal(2000, 2, 4)], 1) @ normal(3, 3, 5)


def test_its_density_is_that_of_torch():
    mixture = refine(gaussian(parted()).split(parted()), parted())
    parts = MultivariateNormal(mixture.mean, scale_tril=mixture.root)
    torch.testing.assert_close(mixture.log_weight.exp().sum(), torch.tensor(1.0, dtype=torch.float64))
    want = MixtureSameFamily(Categorical(logits=mixture.log_weight), parts).log_prob(peaked())
    torch.testing.assert_close(mixture.log_prob(peaked()), want)


@pytest.mark.parametrize("samples", [peaked, parted])
def test_a_split_keeps_mean_and_covariance_and_leads_to_a_better_fit(samples):
    z = samples()
    one = gaussian(z)
    two = one.split(z)
    for found, want in zip(moments(two), moments(one), strict=True):
        torch.testing.assert_close(found, want)
    assert refine(two, z).log_prob(z).mean() > one.log_prob(z).mean() + 0.1


def test_samples_of_a_gaussian_need_no_second():
    assert len(grow(normal(2000, 5, 0), normal(500, 5, 1)).mean) == 1


def test_a_sample_does_not_see_itself():
    # Of white noise nothing can be learned: a density fitted on its own samples would rate them above the true one.
    z = normal(300, 10, 0)
    truth = MultivariateNormal(torch.zeros(10, dtype=torch.float64), torch.eye(10, dtype=torch.float64)).log_prob(z)
    assert held_out_log_prob(z).mean() < truth.mean() < gaussian(z).log_prob(z).mean()


def test_fewer_samples_than_dimensions_still_have_a_density():
    z = normal(10, 15, 0)
    z[:, 3] += 5
    assert held_out_log_prob(z).isfinite().all()
