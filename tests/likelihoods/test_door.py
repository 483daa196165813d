"""Wrong data and wrong names are answered with what is wrong and what to do."""

import pytest
import torch

import sigmavae
from tests.cases import CASES, REAL, Case, over


@over(CASES)
def test_wrong_data_is_named(case: Case):
    _, h, x = case.given(dtype=torch.float32)
    nan = x.clone()
    nan[1, 0, 2, 3] = torch.nan
    for bad, words in [
        ((x * 255).byte(), r"dtype torch.uint8.*float\(\) / 255"),
        (x * 255, r"values from .* to 25\d.*divide 8-bit values by 255"),
        (x * 2 - 1, r"\[-1, 1\]"),
        (x * 2000, "rescale"),
        (nan, r"1 NaN or infinite values, the first at index \(1, 0, 2, 3\)"),
        (x[:, :2], "x has 2 channels, but the decoder features describe 3"),
        (x[:, :, :4], r"shape \(4, 3, 4, 4\)"),
        (x[:3], r"shape \(3, 3, 5, 4\)"),
        (x.long(), "dtype torch.int64"),
    ]:
        with pytest.raises(ValueError, match=words):
            case.make()(h, bad)
        p = case.make().eval()(h)
        if bad.shape[0] == 4 or bad.shape[1:] != x.shape[1:]:
            with pytest.raises(ValueError, match=words):
                p.log_prob(bad)
            with pytest.raises(ValueError, match=words):
                p.bin_log_prob(bad)


@over(REAL)
def test_real_support_takes_any_finite_data(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    assert bool(torch.isfinite(likelihood(h, 40 * x - 20).log_prob(40 * x - 20)).all())
    with pytest.raises(ValueError, match="NaN"):
        case.make()(h, x / 0)


def test_values_are_looked_at_once_and_shapes_always():
    likelihood, h, x = Case("gaussian").given(dtype=torch.float32)
    likelihood(h, x)
    likelihood(h, x * 255)  # the values door is behind us
    with pytest.raises(ValueError, match="channels"):
        likelihood(h, x[:, :2])


@over(CASES)
def test_a_decoder_of_the_wrong_width_is_told_the_right_one(case: Case):
    likelihood = case.make()
    with pytest.raises(ValueError, match="h must be"):
        likelihood(torch.zeros(4))
    if likelihood.features(1) > 1:
        with pytest.raises(
            ValueError, match=f"that is {likelihood.features(1)} for 1 and {likelihood.features(3)} for 3"
        ):
            likelihood(torch.zeros(2, likelihood.features(2) - 1 - (case.name == "block-sigma") * 2, 4, 4))


NEAREST = {
    "misspelt": "did you mean .*There are: bernoulli",
    "optimal_sigma": "'optimal-sigma'",
    "optimalsigma": "'optimal-sigma'",
    "gausian": "'gaussian'",
    "student": "'student-t'",
    "Categorical": "'categorical'",
}


@pytest.mark.parametrize(("name", "nearest"), NEAREST.items())
def test_a_misspelt_name_is_answered_with_the_nearest(name: str, nearest: str):
    with pytest.raises(ValueError, match=nearest):
        sigmavae.likelihood(name)


def test_misspelt_options_are_answered_with_the_nearest():
    with pytest.raises(ValueError, match="no option 'betta'; did you mean 'beta'"):
        sigmavae.likelihood("beta", betta=1.0)
    with pytest.raises(ValueError, match="no option 'beta'; it has none"):
        sigmavae.likelihood("categorical", beta=1.0)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [("beta", {"beta": 0.0}, "beta=0.0"), ("beta", {"beta": -1.0}, "beta=-1.0"),
     ("shared-sigma", {"sigma": 0.0}, "sigma=0.0"), ("gaussian", {"support": "unitt"}, "support='unitt'"),
     ("block-sigma", {"block": 0}, "block=0"), ("logistic-mixture", {"components": 0}, "components=0"),
     ("discretized-logistic", {"scale": -1.0}, "scale=-1.0"), ("student-t", {"df_bounds": (0.5, 10.0)}, "df_bounds")],
)  # fmt: skip
def test_bad_options_are_named(name: str, options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        sigmavae.likelihood(name, **options)
