"""The learned numbers as functions: logits, probabilities, calibration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.score.evidence import load_models

LOGITS = st.lists(st.floats(-40, 40), min_size=1, max_size=60).map(np.array)


@pytest.mark.parametrize("name", ["words", "static", "encoder"])
@given(logits=LOGITS)
def test_calibration_gives_probabilities_and_keeps_the_order(name, logits):
    probability = load_models()[name].calibration.probability(logits)
    assert np.all((probability > 0) & (probability < 1))
    order = np.argsort(logits)
    assert np.all(np.diff(probability[order]) >= 0)
