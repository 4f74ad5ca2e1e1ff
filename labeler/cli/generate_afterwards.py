"""`labeler generate admit`, `refit`, `pack` and `blind`: what is done with generated questions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from labeler.cli.generate_questions import states_of
from labeler.cli.output import print_facts, print_json, print_table
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import UsageError
from labeler.formats.atomic import replacing

__all__ = ["admit_command", "blind_command", "pack_command", "refit_command"]


def admit_command(
    *, split: str | None = None, db: Database = None, json: JsonOutput = False
) -> None:
    """Make queries of the questions that passed and that people, where they were asked, accepted.

    What a person wrote anew goes through the filters again first.

    Parameters
    ----------
    split
        The split's name; the newest by default.
    """
    from labeler.cli.generate import ground_of
    from labeler.cli.generate_summary import print_admitted
    from labeler.synthesis.admission import admit

    with open_project(db) as store:
        admitted = admit(store, ground_of(store, split))
    if json:
        print_json(asdict(admitted))
        return
    print_facts({"queries made": len(admitted.queries)})
    print_admitted(admitted)


def refit_command(
    *,
    target: float = 0.8,
    generator: str | None = None,
    split: str | None = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Fit the filters' thresholds to what people said, and put them in force for later questions.

    An edited question counts as not good as it was generated. Questions that exist already keep
    what was found about them.

    Parameters
    ----------
    target
        The share of good questions wanted among those that pass.
    generator
        The generator, as `labeler generate list --json` names it; the only one by default.
    split
        The split's name; the newest by default.
    dry_run
        Only tell what would be put in force.
    """
    from labeler.synthesis.refit import LEAST_ANSWERS, fit_thresholds
    from labeler.synthesis.store import store_thresholds, thresholds_in_force
    from labeler.synthesis.summary import judged_questions

    if not 0 < target < 1:
        raise UsageError("--target is a share between 0 and 1")
    with open_project(db) as store:
        with store.read() as connection:
            states = states_of(connection, split)
            named = sorted({one.generator for one in states if generator in {None, one.generator}})
            if len(named) != 1:
                raise UsageError(
                    "name one generator by --generator" if named else "there are no such questions",
                    hint=f"there is {', '.join(named)}" if named else None,
                )
            before = thresholds_in_force(connection, named[0])
        judged = judged_questions([one for one in states if one.generator == named[0]])
        if len(judged) < LEAST_ANSWERS:
            raise UsageError(
                f"people said something of {len(judged)} questions; {LEAST_ANSWERS} are the least",
                hint="`labeler review` shows the questions that wait for people",
            )
        fit = fit_thresholds(judged, before, target)
        if not dry_run:
            with store.write(f"generate refit --generator {named[0]}") as tx:
                details = {"answers": fit.answers, "target": target, "good": fit.good}
                store_thresholds(tx, named[0], fit.thresholds, details)
    if json:
        print_json(asdict(fit) | {"generator": named[0], "in_force": not dry_run})
        return
    print_facts({"generator": named[0], "answers of people": fit.answers})
    print_table(
        ["", "log-probability", "similarity", "answerable", "kept", "good of those kept"],
        [
            _row("before", before, fit.before_kept, fit.before_good),
            _row("now", fit.thresholds, fit.kept, fit.good),
        ],
    )
    if not fit.is_reached:
        print(f"no thresholds were shown to reach {target:g}; these come nearest")


def _row(name: str, one: Any, kept: float, good: float | None) -> list[Any]:
    shown = "undefined" if good is None else f"{good:.3f}"
    numbers = (one.log_probability, one.window_similarity, one.answerable, kept)
    return [name, *(f"{value:.3f}" for value in numbers), shown]


def pack_command(
    path: Path, /, *, split: str | None = None, db: Database = None, json: JsonOutput = False
) -> None:
    """Write the safe pack, the texts of train and dev and nothing else, as JSON lines.

    Parameters
    ----------
    path
        The file; one that is there is written over.
    split
        The split's name; the newest by default.
    """
    from labeler.synthesis.frozen import make_pack, split_to_use

    with open_project(db) as store, store.read() as connection:
        pack, _, _, withheld = make_pack(connection, split_to_use(connection, split))
    with replacing(path) as file:
        file.write(pack.content)
    facts = {
        "digest": pack.digest,
        "chunks": len(pack.chunks),
        "queries": len(pack.queries),
        "withheld": len(withheld),
    }
    if json:
        print_json({"path": str(path), **facts})
    else:
        print_facts(facts)


def blind_command(
    path: Path,
    /,
    *,
    accepted: int = 40,
    rejected: int = 20,
    seed: int = 0,
    split: str | None = None,
    db: Database = None,
    json: JsonOutput = False,
) -> None:
    """Write questions that passed and that were turned down, mixed, with their evidence.

    The file says nothing of filters; PATH.key has the number and the outcome of each line.

    Parameters
    ----------
    path
        The file, JSON lines.
    accepted
        How many that passed every filter.
    rejected
        How many that a filter turned down.
    seed
        Decides which ones, and their order.
    split
        The split's name; the newest by default.
    """
    import json as form

    from labeler.synthesis.summary import blind_sample

    with open_project(db) as store, store.read() as connection:
        drawn = blind_sample(states_of(connection, split), accepted, rejected, seed)
    rows = [
        {
            "line": line,
            "question": one.text,
            "passages": [source.text for source in one.sources],
            "evidence": [source.evidence for source in one.sources],
        }
        for line, one in enumerate(drawn, 1)
    ]
    keys = [
        {
            "line": line,
            "number": one.question_id,
            "turned_down_by": [each.name for each in one.failed],
        }
        for line, one in enumerate(drawn, 1)
    ]
    key_path = path.with_name(path.name + ".key")
    for target, lines in ((path, rows), (key_path, keys)):
        text = "".join(form.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        with replacing(target) as file:
            file.write(text.encode())
    facts = {
        "passed": sum(not one.failed for one in drawn),
        "turned down": sum(bool(one.failed) for one in drawn),
        "key": str(key_path),
    }
    if json:
        print_json(facts)
    else:
        print_facts(facts)
