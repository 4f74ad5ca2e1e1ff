from __future__ import annotations

import pytest

from tests.cases.project import Project


@pytest.fixture
def project(capsys: pytest.CaptureFixture[str]) -> Project:
    """An empty project in an empty folder."""
    return Project(capsys)
