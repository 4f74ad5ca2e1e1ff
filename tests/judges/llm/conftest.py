"""A provider with batches, for the tests of them; each test finds it as new."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fake_provider.running import Provider, running_provider
from tests.judges.llm.batching import clean


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider) -> Iterator[Provider]:
    with clean(running) as provider:
        yield provider
