"""A VAE as it is often written: PIL transforms in a DataLoader, ConvTranspose2d, Adam, and .item() at every step.

    python benchmarks/contenders/plain.py IMAGES.npy STEPS

prints the seconds of every step. Layers, batch and loss are those of the paper's small VAE; sigma is the batch's own.
The images are 32 x 32, as SVHN's, and are brought to 28 x 28 in the DataLoader, as the paper's released code does.
"""

import sys
import time

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, path: str) -> None:
        self.images = np.load(path)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> torch.Tensor:
        picture = Image.fromarray(self.images[index]).resize((28, 28), Image.Resampling.BILINEAR)
        return torch.from_numpy(np.asarray(picture).copy()).permute(2, 0, 1).float() / 255


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(64, 128, 5, stride=2, padding=2), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        self.mu, self.logvar = nn.Linear(6272, 20), nn.Linear(6272, 20)
        self.decoder = nn.Sequential(
            nn.Linear(20, 6272), nn.Unflatten(1, (128, 7, 7)),
            nn.ConvTranspose2d(128, 64, 6, stride=2, padding=2), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 6, stride=2, padding=2), nn.ReLU(),
            nn.ConvTranspose2d(32, 3, 5, padding=2), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(logvar)
        return self.decoder(z), mu, logvar


def main(path: str, steps: int) -> None:
    torch.manual_seed(0)
    model, loader = VAE(), DataLoader(Images(path), batch_size=128, shuffle=True, drop_last=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches, total = iter(loader), 0.0
    for _ in range(steps):
        began = time.perf_counter()
        try:
            x = next(batches)
        except StopIteration:
            batches = iter(loader)
            x = next(batches)
        optimizer.zero_grad()
        xh, mu, logvar = model(x)
        log_sigma = ((x - xh) ** 2).mean([0, 1, 2, 3], keepdim=True).sqrt().log()
        nll = (((x - xh) / log_sigma.exp()) ** 2 / 2 + log_sigma + 0.5 * np.log(2 * np.pi)).sum()
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = (nll + kl) / len(x)
        loss.backward()
        total += loss.item()
        optimizer.step()
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
