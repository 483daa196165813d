"""What the README shows works as it is written."""

import importlib
import importlib.util
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
import torch

import sigmavae
from sigmavae.cli import VERBS
from sigmavae.likelihoods import CATALOGUE
from sigmavae.recipes import recipe

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPET = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_snippet_trains_a_network_of_ones_own(name: str):
    torch.manual_seed(0)
    likelihood = sigmavae.likelihood(name)
    encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 2 * 4))
    my_decoder = torch.nn.Sequential(
        torch.nn.Linear(4, likelihood.features(3) * 64), torch.nn.Unflatten(1, (likelihood.features(3), 8, 8))
    )
    x = torch.randint(0, 256, (16, 3, 8, 8)) / 255
    parameters = [*encoder.parameters(), *my_decoder.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=3e-3)
    losses = []
    for _ in range(25):
        mean, log_variance = encoder(x).chunk(2, dim=1)
        z = mean + torch.exp(log_variance / 2) * torch.randn_like(mean)
        kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1)
        scope = {"sigmavae": sigmavae, "my_decoder": my_decoder, "z": z, "x": x, "kl": kl}
        exec(SNIPPET.replace('"optimal-sigma"', repr(name)), scope)
        optimiser.zero_grad()
        scope["loss"].backward()
        optimiser.step()
        losses.append(float(scope["loss"].detach()))
    assert losses[-1] < losses[0]


def test_the_example_trains(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["own_vae.py", "--likelihood", "optimal-sigma", "--steps", "101"])
    runpy.run_path(str(ROOT / "examples" / "own_vae.py"), run_name="__main__")
    *curve, sampled = capsys.readouterr().out.splitlines()
    assert float(re.search(r"(\S+) nats", curve[-1])[1]) < 0  # it begins above 700: sigma is near 0.4 then
    assert sampled == "sampled images of shape (4, 1, 28, 28)"


def test_every_likelihood_is_in_the_table():
    for name in CATALOGUE:
        assert f"`{name}`" in README


def test_every_command_exists():
    for line in re.findall(r"^sigmavae (.*?)(?:  |$)", README, re.MULTILINE):
        verb, argument, *_ = line.split()
        assert verb in VERBS
        if verb == "train":
            assert recipe(argument).name == argument


def commands(document: str) -> list[str]:
    """The commands that a document shows, and one that trains with each option it names; numbers filled in."""
    text = (ROOT / document).read_text(encoding="utf-8")
    shown = re.findall(r"^sigmavae (.*?)(?: +#.*)?$", text, re.MULTILINE)
    options = set(re.findall(r"`(--(?:data|model|likelihood|train)\.[^`]*)`", text)) - FLAGS
    valued = [option if " " in option else f"{option} 3" for option in options]
    return [each.replace(" N", " 3") for each in shown + [f"train bair-svg-optimal {o}" for o in sorted(valued)]]


FLAGS = {"--model.score-past"}


@pytest.mark.parametrize("command", [*commands("docs/video.md"), *(f"train bair-svg-optimal {o}" for o in FLAGS)])
def test_commands_about_videos_can_be_typed(command: str, monkeypatch: pytest.MonkeyPatch):
    def understood(*_: object) -> None:
        raise Stopped

    verb, *words = shlex.split(command)
    module = importlib.import_module(f"sigmavae.verbs.{verb}")
    # Before anything is read, after all words are understood.
    monkeypatch.setattr(module, "run" if verb == "train" else "load_run", understood)
    with pytest.raises(Stopped):
        module.main(words)


class Stopped(BaseException):
    """The words made sense."""


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "CONTRIBUTING.md",
        "docs/likelihoods.md",
        "docs/training.md",
        "docs/data.md",
        "docs/metrics.md",
        "docs/performance.md",
        "docs/video.md",
        "docs/hvae.md",
    ],
)
def test_links_and_pictures_exist(document: str):
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{document} links to {target}"


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/likelihoods.md",
        "docs/data.md",
        "docs/metrics.md",
        "docs/performance.md",
        "docs/video.md",
        "docs/hvae.md",
    ],
)
def test_tables_are_what_was_measured(document: str):
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    text = (ROOT / document).read_text(encoding="utf-8")
    assert tables.rewritten(text) == text, "run python benchmarks/tables.py"
