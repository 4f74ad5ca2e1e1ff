"""The process that asks: its gates, and that nothing leads from it to a database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labeler.providers.chat import AnswerMode
from labeler.records.questions import QuestionKind
from labeler.synthesis.limits import GenerateLimits
from labeler.synthesis.orders import Order
from labeler.synthesis.pack import PackChunk, SafePack
from labeler.synthesis.process import WorkerProcess, environment_without_database
from labeler.synthesis.rendering import Model
from labeler.synthesis.sealed import SealedSet
from labeler.synthesis.tasks import QuestionTask
from tests.fake_provider.running import running_provider
from tests.synthesis.projects import words

SAFE, LEAKED = words("safe", 30), words("leaked", 30)


def test_the_environment_loses_what_leads_to_a_database_and_keeps_keys() -> None:
    before = {
        "LABELER_DB": "queue.db",
        "PGPASSWORD": "secret",
        "DATABASE_URL": "postgresql://me:secret@host/db",
        "OPENAI_API_KEY": "sk-x",
    }
    kept = environment_without_database(before)
    assert kept["OPENAI_API_KEY"] == "sk-x"
    assert not {"LABELER_DB", "PGPASSWORD", "DATABASE_URL"} & set(kept)


def test_it_never_loads_the_store() -> None:
    code = (
        "import sys, labeler.synthesis.worker;"
        "print([name for name in sys.modules if name.startswith('labeler.store')])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def heard_until(process: WorkerProcess, key: int) -> list[dict[str, object]]:
    """Listen until an order has ended, granting nothing."""
    found: list[dict[str, object]] = []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for message in process.heard(0.5):
            found.append(message)
            if key in {message.get(name) for name in ("answered", "dropped", "quarantined")}:
                return found
            if "expose" in message:
                return found
    raise AssertionError(found)


def test_sealed_words_are_never_sent_and_nothing_is_before_its_exposure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    # A pack that is wrong: one of its chunks holds what is sealed.
    sealed = SealedSet.of([LEAKED])
    chunks = tuple(
        PackChunk(name, name, 0, "train", text) for name, text in (("a", SAFE), ("b", LEAKED))
    )
    pack = SafePack("v1", "root", sealed.digest, chunks, ())
    sealed.save(tmp_path / "sealed.bin")
    with running_provider(keep=50) as provider:
        model = Model("openai/asks", AnswerMode.JSON_SCHEMA, {}, provider.address)
        with WorkerProcess(
            pack=pack.write(tmp_path),
            pack_digest=pack.digest,
            sealed=tmp_path / "sealed.bin",
            journal=tmp_path / "journal.jsonl",
            models={"generator": model},
            limits=GenerateLimits(),
            environment=os.environ,
            lock=None,
        ) as process:
            task = QuestionTask(QuestionKind.FACTUAL, ("b",))
            process.order({7: Order("generator", task)})
            assert [m for m in heard_until(process, 7) if m.get("quarantined") == 7]
            process.order({8: Order("generator", QuestionTask(QuestionKind.FACTUAL, ("a",)))})
            assert [m for m in heard_until(process, 8) if m.get("expose") == 8]
            assert provider.requests() == []
            process.grant([8])
            assert [m for m in heard_until(process, 8) if m.get("answered") == 8]
            sent = str(provider.requests())
    assert SAFE in sent
    assert LEAKED not in sent
