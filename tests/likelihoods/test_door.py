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
    never_drawn = [(x * 2 - 1, r"\[-1, 1\]"), (x * 2000, "rescale")]  # by masses, that is; a density might
    always = [
        ((x * 255).byte(), r"dtype torch.uint8.*float\(\) / 255"),
        (x * 255, r"values from .* to 25\d.*divide 8-bit values by 255"),
        (nan, r"1 NaN or infinite values, the first at index \(1, 0, 2, 3\)"),
        (x[:, :2], "x has 2 channels, but the decoder features describe 3"),
        (x[:, :, :4], r"shape \(4, 3, 4, 4\)"),
        (x[:3], r"shape \(3, 3, 5, 4\)"),
        (x.long(), "dtype torch.int64"),
    ]
    for bad, words in always + never_drawn:
        with pytest.raises(ValueError, match=words):
            case.make()(h, bad)
    for bad, words in always + (never_drawn if case.make().discrete else []):
        p = case.make().eval()(h)
        for score in (p.log_prob, p.bin_log_prob):
            with pytest.raises(ValueError, match=words):
                score(bad)


@over(CASES)
def test_held_out_data_comes_through_the_same_door(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    for bad, words in [((x * 255).byte(), "uint8"), (x[:, :1], "x has 1 channels"), (x / 0, "NaN"), (x * 255, "255")]:
        with pytest.raises(ValueError, match=words):
            likelihood.observe(h, bad)


@over(CASES)
def test_whatever_is_drawn_can_be_scored(case: Case):
    _, h, _ = case.given(dtype=torch.float32, spread=2.0)
    for count in ((), (3,)):
        p = case.make().eval()(h)  # fresh: no data has passed the door
        drawn = p.sample(count)
        assert p.log_prob(drawn).shape == p.bin_log_prob(drawn).shape == (*count, 4)
        assert p.cdf(drawn).shape == drawn.shape
        assert bool(p.support.check(drawn).all())


@over(CASES)
def test_rounding_errors_of_resizing_and_empty_batches_pass(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    likelihood(h, torch.where(x > 0.5, 1 + 4e-7, -4e-7))
    assert likelihood.eval()(h[:0], x[:0]).log_prob(x[:0]).shape == (0,)


@over(CASES)
def test_a_batch_of_another_size_or_rank_is_refused(case: Case):
    likelihood, h, x = case.given(dtype=torch.float32)
    for bad in (x[:1], x[None]):
        with pytest.raises(ValueError, match="x has shape"):
            likelihood(h, bad)


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
     ("discretized-logistic", {"scale": -1.0}, "scale=-1.0"), ("student-t", {"df_bounds": (0.5, 10.0)}, "df_bounds"),
     ("student-t", {"df_bounds": (1.0, float("inf"))}, "df_bounds"),
     ("pixel-sigma", {"bounds": (2.0, -6.0)}, "bounds")],
)  # fmt: skip
def test_bad_options_are_named(name: str, options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        sigmavae.likelihood(name, **options)
