"""The learned numbers as functions: logits, probabilities, calibration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.score.evidence import load_models, sigmoid

LOGITS = st.lists(st.floats(-40, 40), min_size=1, max_size=60).map(np.array)


def test_sigmoid_takes_any_number():
    with np.errstate(all="raise"):
        assert sigmoid(np.array([-1e9, 0.0, 1e9])) == pytest.approx([0, 0.5, 1])


@pytest.mark.parametrize("name", ["words", "static", "encoder"])
@given(logits=LOGITS)
def test_calibration_gives_probabilities_and_keeps_the_order(name, logits):
    probability = load_models()[name].calibration.probability(logits)
    assert np.all((probability > 0) & (probability < 1))
    order = np.argsort(logits)
    assert np.all(np.diff(probability[order]) >= 0)


@pytest.mark.parametrize("name", ["words", "static", "encoder"])
def test_among_rivals_a_segment_is_less_likely_needed(name):
    calibration = load_models()[name].calibration
    alone = calibration.probability(np.array([3.0, *[-5.0] * 30]))[0]
    rivalled = calibration.probability(np.array([3.0, *[2.5] * 10, *[-5.0] * 20]))[0]
    assert rivalled < alone
