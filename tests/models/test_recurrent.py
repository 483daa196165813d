"""Recurrent networks: at once and step by step are one; divergences are those of torch."""

import torch

from sigmavae.models.recurrent import Gaussians, Predictor, kl_of_gaussians, log_ratio_of_gaussians


def test_a_sequence_at_once_is_its_steps():
    torch.manual_seed(0)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    for net in (Predictor(3, 4, 6, 2).double(), Gaussians(3, 4, 6, 1).double()):
        whole, _ = net(x)
        state, steps = None, []
        for t in range(5):
            found, state = net(x[:, t : t + 1], state)
            steps.append(found if isinstance(found, tuple) else (found,))
        whole = whole if isinstance(whole, tuple) else (whole,)
        for each, parts in zip(whole, zip(*steps, strict=True), strict=True):
            torch.testing.assert_close(each, torch.cat(parts, 1))


def test_divergence_and_ratio_are_those_of_torch():
    torch.manual_seed(0)
    q, p = ((torch.randn(4, 3).double(), torch.randn(4, 3).double()) for _ in range(2))
    normals = [torch.distributions.Normal(mean, torch.exp(v / 2)) for mean, v in (q, p)]
    torch.testing.assert_close(kl_of_gaussians(q, p), torch.distributions.kl_divergence(*normals))
    z = torch.randn(4, 3).double()
    torch.testing.assert_close(log_ratio_of_gaussians(z, q, p), normals[0].log_prob(z) - normals[1].log_prob(z))


def test_the_divergence_of_nearly_equal_gaussians_keeps_its_digits():
    q = (torch.tensor([0.3]), torch.tensor([0.5]))
    p = (torch.tensor([0.3]), torch.tensor([0.5 + 2**-12]))
    exact = 0.5 * (torch.expm1(torch.tensor(-(2.0**-12), dtype=torch.float64)) + 2.0**-12)
    torch.testing.assert_close(kl_of_gaussians(q, p)[0].double(), exact, rtol=1e-4, atol=0)
