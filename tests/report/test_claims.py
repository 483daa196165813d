"""The demonstration claims what the numbers show, and another thing when they show another."""

from __future__ import annotations

from sigmavae.report import read_run
from sigmavae.report.claims import Trio, blur, hand_tuning, information, opening


def sentences(folders):
    return opening([read_run(folder) for folder in folders])


def told(folders):
    return Trio.among([read_run(folder) for folder in folders])


def test_a_win_is_claimed_when_it_was_won(trio):
    setting, winner, honesty = sentences(trio)
    assert setting == "Three VAEs share network, data, seed and 710 training steps; only the loss differs."
    assert winner == (
        "The optimal sigma, with nothing to tune, describes unseen images best: -536 nats an image, "
        "against -302 for beta by hand and 737 for MSE loss; lower is better."
    )
    assert honesty == (
        "On pixels between 0 and 1 the MSE loss expects to be off by 1.00 and is off by 0.170; "
        "the optimal sigma expects 0.113 and is off by 0.114."
    )


def test_a_loss_is_told_as_a_loss(trio, edit):
    edit(trio[1], nll=-900.0, bits_per_dim=4.0)
    winner = sentences(trio)[1]
    assert winner.startswith("Beta by hand describes unseen images best, better than the optimal sigma: -900")
    edit(trio[0], nll=-1000.0, bits_per_dim=3.9)
    assert sentences(trio)[1].startswith("MSE loss describes unseen images best")


def test_a_difference_within_the_error_is_no_win(trio, edit):
    ours = read_run(trio[2]).metric("nll")
    edit(trio[1], nll=ours + 2.0)
    assert "Optimal sigma and beta by hand describe unseen images equally well" in sentences(trio)[1]
    edit(trio[1], nll=ours + 3.0)
    assert "equally" not in sentences(trio)[1]


def test_a_dissenting_second_measure_is_told(trio, edit):
    edit(trio[1], bits_per_dim=4.05)
    assert sentences(trio)[1].endswith(
        "lower is better. On the 8-bit values, though, beta by hand leads: 4.05 bits a value to 4.11."
    )


def test_runs_that_differ_in_more_than_the_loss_say_so(trio):
    path = trio[0] / "experiment.json"
    path.write_text(path.read_text().replace('"epochs": 10', '"epochs": 11'))
    assert "not only these differ" in sentences(trio)[0]


def test_the_theory_is_contradicted_where_the_numbers_do(trio, edit):
    assert "And so it went here: the code of the MSE loss tells 4.9 nats" in information(told(trio))
    assert "The blur in numbers" in blur(told(trio))
    edit(trio[0], rate=80.0, rmse=0.05)
    assert "did not show: the code of the MSE loss tells 80.0 nats" in information(told(trio))
    assert "no closer" in blur(told(trio))


def test_the_picked_beta_stands_beside_the_found_one(trio):
    assert "picked here, 0.100, is a sigma of 0.224; the optimal sigma ended at 0.113, a beta of 0.0257" in hand_tuning(
        told(trio)
    )


def test_missing_numbers_leave_their_sentence_out(trio, edit):
    edit(trio[2], nll=None, sigma=None, rate=None, beta=None)
    assert len(sentences(trio)) == 1
    assert (information(told(trio)), blur(told(trio)), hand_tuning(told(trio))) == ("", "", "")


def test_nothing_is_concluded_before_all_have_finished(trio):
    (trio[1] / "result.json").unlink()
    assert sentences(trio) == ["Not all three runs have finished, so there is nothing to conclude yet."]
