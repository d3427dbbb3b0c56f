"""Names of DL4J's world that are not here."""
from __future__ import annotations

import pytest

import dl4py
from dl4py.elsewhere import ELSEWHERE


def test_advice_is_for_names_that_are_not_here():
    assert not ELSEWHERE.keys() & {name.lower() for name in dl4py.__all__}


@pytest.mark.parametrize("name", ["Word2Vec", "GymEnv", "IMax", "DL4JInvalidConfigException", "StringToWritablesFunction", "KDTree"])
def test_an_error_says_what_is_written_instead(name):
    with pytest.raises(AttributeError, match=f"dl4py has no '{name}': ") as error:
        getattr(dl4py, name)
    assert ELSEWHERE[name.lower()] in str(error.value)
