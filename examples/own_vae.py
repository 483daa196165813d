"""A VAE of one's own, in plain PyTorch, with a calibrated decoder: the likelihood is one line.

Try `python examples/own_vae.py --likelihood beta`.
"""

import argparse

import torch
from torch import Tensor, nn

import sigmavae
from sigmavae.config import DataConfig
from sigmavae.data import load
from sigmavae.progress import Silent

LATENT, BATCH = 8, 64


class MyVAE(nn.Module):
    """Two layers either way; only the decoder's width knows that there is a likelihood."""

    def __init__(self, likelihood: sigmavae.Likelihood) -> None:
        super().__init__()
        self.likelihood = likelihood
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 2 * LATENT))
        features = likelihood.features(1)
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, 256), nn.ReLU(), nn.Linear(256, features * 784), nn.Unflatten(1, (features, 28, 28))
        )

    def loss(self, x: Tensor) -> Tensor:
        """Return -ELBO in nats an image: sums over dimensions, mean over the batch."""
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.exp(log_variance / 2) * torch.randn_like(mean)
        kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1)
        p = self.likelihood(self.decoder(z), x)
        return (-p.log_prob(x) + kl + p.rate).mean()  # p.rate is zero but for image-sigma, which pays for its sigma

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        """Return n images from the prior."""
        return self.likelihood(self.decoder(torch.randn(n, LATENT))).mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--likelihood", default="optimal-sigma", help="one of the fourteen names")
    parser.add_argument("--steps", type=int, default=300, help="gradient steps")
    chosen = parser.parse_args()

    torch.manual_seed(0)
    images = torch.tensor(load(DataConfig("fashion"), Silent()).train) / 255
    model = MyVAE(sigmavae.likelihood(chosen.likelihood))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, chosen.steps + 1):
        loss = model.loss(images[torch.randint(len(images), (BATCH,))])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0 or step == chosen.steps:
            print(f"step {step}: {loss.item():.1f} nats an image")
    model.eval()  # sigma is now the running average, as BatchNorm's statistics would be
    print(f"sampled images of shape {tuple(model.sample(4).shape)}")


if __name__ == "__main__":
    main()
