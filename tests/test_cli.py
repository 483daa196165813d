"""The program as a user meets it: help, errors without a traceback, and what each verb writes."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from sigmavae.cli import OVERVIEW, VERBS, main
from sigmavae.data.catalogue import NAMES
from sigmavae.likelihoods import SHORT_NAMES
from sigmavae.recipes import names

SMALL = ["--model.width", "4", "--model.latent", "4", "--train.steps", "4", "--train.batch", "16"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "mine"
    assert main(["train", "fashion-optimal", *SMALL, "--out", str(folder)]) == 0
    return folder


def test_the_overview_names_every_verb_and_imports_no_torch():
    code = "import sys; from sigmavae.cli import main; main(['--help']); sys.exit('torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == OVERVIEW
    assert all(f"sigmavae {verb}" in shown for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_screen_and_shows_an_example(verb: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as left:
        main([verb, "--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) <= 40
    assert f"Example: sigmavae {verb}" in shown
    assert "\n\n\n" not in shown


def test_train_help_lists_the_parts_of_every_recipe(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["train"])
    shown = set(capsys.readouterr().out.split())
    assert {f"{data}-{short}" for data in NAMES for short in SHORT_NAMES.values()} == names().keys()
    assert shown >= {*NAMES, *SHORT_NAMES.values()}


def test_train_writes_a_run_and_says_so(trained: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["train", "fashion-optimal", *SMALL, "--out", str(trained)]) == 0
    shown = capsys.readouterr()
    assert "left alone" in shown.err
    assert "fashion-optimal" in shown.out
    assert str(trained) in shown.out
    result = json.loads((trained / "result.json").read_text())
    assert result["command"].startswith("sigmavae train fashion-optimal --model.width 4")
    assert result["experiment"]["likelihood"]["name"] == "optimal-sigma"


def test_evaluate_leaves_what_is_measured_alone_and_repeats_it_when_asked(trained: Path, capsys):
    before = json.loads((trained / "result.json").read_text())
    assert main(["evaluate", str(trained), "--metrics", "bound"]) == 0
    assert "measured before" in capsys.readouterr().out
    assert main(["evaluate", str(trained), "--metrics", "bound", "--again"]) == 0
    shown = capsys.readouterr().out
    assert "measured before" not in shown
    assert f"wrote {trained / 'result.json'}" in shown
    after = json.loads((trained / "result.json").read_text())
    assert after["metrics"] == before["metrics"]
    assert after | {"measured": 0} == before | {"measured": 0}


def test_evaluate_another_split_merges_one_metric_after_another(trained: Path):
    path = trained / "evaluation-validation.json"
    assert main(["evaluate", str(trained), "--split", "validation", "--metrics", "bound"]) == 0
    first = json.loads(path.read_text())
    assert first["images"] == 1000
    assert main(["evaluate", str(trained), "--split", "validation", "--metrics", "importance", "--k", "2"]) == 0
    both = json.loads(path.read_text())
    assert both["metrics"].items() > first["metrics"].items()
    assert both["metrics"]["importance_samples"] == 2
    assert both["measured"]["importance"]["settings"] == {"split": "validation", "seed": 0, "k": 2}


def test_sample_and_reconstruct_write_pictures(trained: Path, tmp_path: Path):
    assert main(["sample", str(trained), "--n", "9", "--out", str(tmp_path / "s.png")]) == 0
    assert main(["sample", str(trained), "--n", "9", "--noise", "--out", str(tmp_path / "n.png")]) == 0
    assert main(["reconstruct", str(trained), "--n", "5", "--out", str(tmp_path / "r.png")]) == 0
    for name in "snr":  # nine images, and five pairs, in rows of eight
        with Image.open(tmp_path / f"{name}.png") as picture:
            assert picture.size == (8 * 30 - 2, 2 * 30 - 2)
    assert (tmp_path / "s.png").read_bytes() != (tmp_path / "n.png").read_bytes()


def test_report_writes_a_page(trained: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(trained.parent), "--title", "Mine"]) == 0
    page = trained.parent / "report.html"
    assert "Mine" in page.read_text()
    assert f"wrote {page}" in capsys.readouterr().out


def test_demo_writes_three_runs_and_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    import dataclasses

    from sigmavae import demo, recipes

    def short(likelihood, seed):
        made = recipes.demo(likelihood, seed)
        return dataclasses.replace(made, train=dataclasses.replace(made.train, steps=20))

    monkeypatch.setattr(demo, "demo_recipe", short)
    assert main(["demo", "--out", str(tmp_path), "--seed", "1"]) == 0
    assert sorted(p.parent.name for p in tmp_path.glob("*/result.json")) == ["beta", "gaussian", "optimal"]
    page = (tmp_path / "index.html").read_text()
    assert "https://" not in page.replace("http://www.w3.org", "")
    assert str(tmp_path / "index.html") in capsys.readouterr().out.replace("\n", "")


ERRORS = {
    "no verb is called 'trian'": ["trian"],
    "no recipe is called 'fashion-optimum': did you mean 'fashion-optimal'": ["train", "fashion-optimum"],
    "train.batch=0: must be 1 or more": ["train", "fashion-optimal", "--train.batch", "0"],
    "data.name='fashon': did you mean 'fashion'": ["train", "fashion-optimal", "--data.name", "fashon"],
    "'gaussian' has no option 'beta'": ["train", "fashion-gaussian", "--likelihood.beta", "1"],
    "likelihood.frames=3: is for models of videos": ["train", "fashion-optimal", "--likelihood.frames", "3"],
    "is not a run folder": ["evaluate", "nowhere"],
    "--metrics bond: did you mean 'bound'": ["evaluate", "nowhere", "--metrics", "bond"],
    "--batch 0: must be 1 or more": ["evaluate", "nowhere", "--batch", "0"],
    "k=0: must be 1 or more": ["evaluate", "nowhere", "--k", "0"],
    "--n 0: must be 1 or more": ["sample", "nowhere", "--n", "0"],
    "nowhere": ["report", "nowhere"],
    "a file/run: Not a directory": ["train", "fashion-optimal", *SMALL, "--out", "a file/run"],
}


@pytest.mark.parametrize("words", ERRORS)
def test_errors_are_one_line_and_exit_with_two(words: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a file").touch()
    assert main(ERRORS[words]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert len(shown.err.splitlines()) == 1
    assert shown.out == ""
    assert not list(Path().rglob("experiment.json"))


@pytest.mark.parametrize("words", [["--train.lr", "abc"], ["--train.lrr", "1"], ["--likelihood.source", "test"]])
def test_errors_of_the_command_line_name_the_field(words: list[str], capsys):
    with pytest.raises(SystemExit) as left:
        main(["train", "fashion-optimal", *words])
    assert left.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_a_damaged_run_is_an_error_of_one_line(trained: Path, tmp_path: Path, capsys):
    folder = tmp_path / "damaged"
    shutil.copytree(trained, folder)
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:100])
    assert main(["sample", str(folder)]) == 2
    assert re.match(r"sigmavae: .*model\.safetensors cannot be used", capsys.readouterr().err)


def test_no_words_at_all_shows_the_overview_and_fails(capsys):
    assert main([]) == 2
    assert capsys.readouterr().out == OVERVIEW


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"sigmavae \d+\.\d+\.\d+\n", capsys.readouterr().out)
