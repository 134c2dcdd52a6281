"""transformers as the oracle: never on the network, never talking."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(scope="session")
def transformers():
    pytest.importorskip("transformers", reason="needs the extra `oracle`")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers

    transformers.logging.set_verbosity_error()
    return transformers


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
