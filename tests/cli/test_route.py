"""`labeler route` with a target: the plan beforehand, the audit, what is accepted and why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from labeler.cli.app import run
from labeler.labels import Grade
from labeler.records import table
from labeler.records.queue import Assignment, VotePurpose
from labeler.store.database import Store, open_store
from labeler.store.location import Location
from tests.scored import judged_pool, score, vote, wanted_votes

NOT = Grade.NOT_RELEVANT


def opened(folder: Path) -> Store:
    return open_store(Location(str(folder / "queue.db")), create=True)


@pytest.fixture
def calibrated(own_folder: Path) -> Path:
    with opened(own_folder) as store:
        items = judged_pool(store, own_folder)
        score(store, items, lambda place: 0.999 - 0.3 * (place / 400) ** 6)
    return own_folder


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run(list(words)) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(capsys, *words, "--json"))
    return found


def answer_audit(folder: Path) -> int:
    with opened(folder) as store:
        drawn = [
            item for item, why in wanted_votes(store).items() if why == VotePurpose.AUDIT.value
        ]
        vote(store, drawn, lambda _: NOT)
    return len(drawn)


def test_from_the_plan_to_the_accepted_labels(
    calibrated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = as_json(capsys, "route", "p", "--plan")
    assert (plan["is_frozen"], plan["accepted_now"], plan["to_people"]) == (False, {}, 400)
    human = told(capsys, "route", "p", "--plan")
    assert "votes without error" in human
    assert "nothing can be accepted" in human  # of the grades that no score names
    assert "not drawn yet" in human

    routed = as_json(capsys, "route", "p")
    assert routed["policy"] == "nine-of-ten"
    assert "awaits_audit" in routed["reasons"]
    assert "drawn already" in told(capsys, "route", "p", "--plan")
    assert "nothing changed" in told(capsys, "route", "p")

    answered = answer_audit(calibrated)
    done = told(capsys, "route", "p")
    assert "all parts are accepted" in done
    assert f"{answered:,} of {answered:,} drawn" in done
    assert "which no rate is computed from" in done
    after = as_json(capsys, "route", "p", "--plan")
    assert after["accepted_now"] == plan["accepted_later"]


def test_without_scores_it_says_why_the_plain_policy_stays(
    own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(own_folder) as store:
        judged_pool(store, own_folder, queries=1, passages=12)
    assert run(["route", "p"]) == 0
    found = capsys.readouterr()
    assert "plain threshold 0.95, not calibrated" in found.out
    assert "can't be applied yet" in found.err
    assert "labeler calibrate" in found.err


def test_a_policy_file_with_a_target(calibrated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = calibrated / "policy.toml"
    policy.write_text(
        'name = "negatives"\naccept = ["not_relevant"]\n'
        "[target]\nagreement = 0.8\nvotes = 40\n[target.by_grade]\nnot_relevant = 0.85\n"
    )
    plan = as_json(capsys, "route", "p", "--plan", "--policy", str(policy))
    (need,) = plan["needs"]
    assert (need["grade"], need["target"], plan["policy"]) == ("not_relevant", 0.85, "negatives")
    assert 40 <= plan["audit_votes"] <= 48  # rounded up in each part


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("agreement = 1.5", "lies between 0 and 1, not 1.5"),
        ("confidence = 0.5", "0.75 or more"),
        ("looks = 0", "whole number from 1 to 10"),
        ("votes = true", "whole number of 1 or more"),
        ("by_grade = 3", "'by_grade' is a table"),
        ("pover = 0.8", "'pover' is unknown"),
    ],
)
def test_a_policy_file_with_faults(
    own_folder: Path, capsys: pytest.CaptureFixture[str], line: str, fault: str
) -> None:
    path = own_folder / "bad.toml"
    path.write_text(f'name = "bad"\n[target]\n{line}\n')
    assert run(["route", "p", "--policy", str(path)]) == 1
    assert fault in capsys.readouterr().err


def test_a_policy_says_how_it_accepts(own_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own_folder / "bad.toml"
    path.write_text('name = "neither"\n')
    assert run(["route", "p", "--policy", str(path)]) == 1
    assert "either a [target] or a threshold" in capsys.readouterr().err
    path.write_text('name = "both"\nthreshold = 0.9\n[target]\nagreement = 0.9\n')
    assert run(["route", "p", "--policy", str(path)]) == 1
    assert "no threshold" in capsys.readouterr().err


def test_orders_and_double_review(calibrated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["route", "p", "--order", "alphabet"]) == 2
    assert "there is no order 'alphabet'" in capsys.readouterr().err
    found = as_json(capsys, "route", "p", "--order", "margin", "--overlap", "influence")
    assert found["order"] == "margin"
    counts = as_json(capsys, "queue", "--pool", "p")
    assert counts["wanted_votes"]["waiting"] == 440  # a tenth of 400 twice
    assert counts["orders"] == {"p": "margin"}
    assert counts["drawn"] == found["audited"] > 0
    lines = told(capsys, "queue").splitlines()
    assert lines[0].split(";")[0].split() == ["asked", "in", "order", "of", "margin"]
    assert "route POOL --order" in lines[0]
    assert lines[1].split() == ["drawn", "at", "random,", "waiting", str(found["audited"])]


def test_another_order_is_recorded_and_stays_and_the_same_one_changes_nothing(
    calibrated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = as_json(capsys, "route", "p")["revision"]
    assert first is not None
    assert as_json(capsys, "route", "p")["revision"] is None
    other = as_json(capsys, "route", "p", "--order", "oldest")["revision"]
    assert other > first
    # It stays until another is asked for.
    again = as_json(capsys, "route", "p")
    assert (again["order"], again["revision"]) == ("oldest", None)
    assert as_json(capsys, "queue")["orders"] == {"p": "oldest"}


def further_votes(folder: Path) -> int:
    slot = table(Assignment)
    with opened(folder) as store, store.read() as connection:
        further = sa.select(sa.func.count()).where(slot.c.purpose == VotePurpose.OVERLAP.value)
        return int(connection.execute(further).scalar_one())


def test_the_file_makes_double_review_stand_and_the_option_comes_before_it(
    calibrated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["route", "p", "--overlap", "influence"]) == 0
    assert further_votes(calibrated) == 40
    # Without the file, the next call takes them back.
    assert run(["route", "p"]) == 0
    assert further_votes(calibrated) == 0
    (calibrated / "labeler.toml").write_text("[review]\noverlap_influence = 3\n")
    for _ in range(2):
        assert run(["route", "p"]) == 0
        assert further_votes(calibrated) == 80
    assert run(["route", "p", "--overlap", "influence"]) == 0
    assert further_votes(calibrated) == 80
    assert run(["route", "p", "--overlap", "none"]) == 0
    assert further_votes(calibrated) == 0


def test_the_forecast(calibrated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = as_json(capsys, "queue", "--forecast")["forecasts"]
    assert one["votes"]["low"] <= one["votes"]["middle"] <= one["votes"]["high"] <= 400
    assert one["minutes"] is None
    assert "90%" in one["promise"]
    lines = told(capsys, "queue", "--forecast", "--pool", "p").splitlines()
    facts = dict(line.split("  ", 1) for line in lines if "  " in line)
    assert "90% of each grade's accepted labels agree with people" in facts["policy"]
    assert " to " in facts["votes until nothing waits"]
    assert facts["minutes of one person for them"].strip() == "unknown until votes are given"
    assert "nine of ten futures" in lines[-1]
    assert run(["queue", "--policy", "x.toml"]) == 2
    assert "--forecast" in capsys.readouterr().err
