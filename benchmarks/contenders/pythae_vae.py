"""pythae (Chadebec et al., 2022) with the layers of the small VAE, trained by its own trainer.

    python benchmarks/contenders/pythae_vae.py IMAGES.npy STEPS

prints the seconds of every step. It takes arrays that are ready, here 28 x 28 of the images' pixels. pythae is imported
from where PYTHONPATH says.
"""

import sys
import tempfile
import time

import numpy as np
import torch
from pythae.models import VAE, VAEConfig
from pythae.models.base.base_utils import ModelOutput
from pythae.models.nn import BaseDecoder, BaseEncoder
from pythae.trainers import BaseTrainer, BaseTrainerConfig
from torch import nn


class Encoder(BaseEncoder):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(64, 128, 5, stride=2, padding=2), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        self.embedding, self.log_var = nn.Linear(6272, 20), nn.Linear(6272, 20)

    def forward(self, x: torch.Tensor) -> ModelOutput:
        h = self.layers(x)
        return ModelOutput(embedding=self.embedding(h), log_covariance=self.log_var(h))


class Decoder(BaseDecoder):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(20, 6272), nn.Unflatten(1, (128, 7, 7)),
            nn.ConvTranspose2d(128, 64, 6, stride=2, padding=2), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 6, stride=2, padding=2), nn.ReLU(),
            nn.ConvTranspose2d(32, 3, 5, padding=2), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, z: torch.Tensor) -> ModelOutput:
        return ModelOutput(reconstruction=self.layers(z))


class Timed(BaseTrainer):
    """The trainer, with a clock before each of its steps."""

    def _optimizers_step(self, model_output: ModelOutput) -> None:
        super()._optimizers_step(model_output)
        now = time.perf_counter()
        print(now - getattr(self, "_last", now), flush=True)
        self._last = now


def main(path: str, steps: int) -> None:
    images = np.load(path)[: 128 * (steps + 1), :28, :28].transpose(0, 3, 1, 2).astype(np.float32) / 255
    config = VAEConfig(input_dim=(3, 28, 28), latent_dim=20, reconstruction_loss="mse")
    model = VAE(config, encoder=Encoder(), decoder=Decoder())
    with tempfile.TemporaryDirectory() as folder:
        settings = BaseTrainerConfig(
            output_dir=folder, num_epochs=1, learning_rate=1e-3, per_device_train_batch_size=128, no_cuda=True
        )
        from pythae.data.datasets import BaseDataset

        data = BaseDataset(torch.from_numpy(images), torch.zeros(len(images)))
        Timed(model, data, training_config=settings).train()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
