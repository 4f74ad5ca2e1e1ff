"""`labeler doctor`: check this machine, or find out what a model can do."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from labeler.assessment.visible import visible_line
from labeler.cli.output import print_facts, print_json, program, tell, working
from labeler.cli.project import Database, JsonOutput, open_project
from labeler.errors import ExitCode, NotFoundError, UsageError

if TYPE_CHECKING:
    from labeler.providers.findings import Finding
    from labeler.providers.probing import Probed
    from labeler.store.database import Store

_TIMEOUT = 60.0
_IN_PROCESS_TIMEOUT = 600.0


def doctor(
    *,
    model: str | None = None,
    endpoint: str | None = None,
    timeout: Annotated[float | None, Parameter(show_default=False)] = None,
    db: Database = None,
    json: JsonOutput = False,
) -> int:
    """Check this machine, or find out what a model can do.

    Alone, it looks at Python and the packages, the database, the embedded models, the terminal
    and the names of the keys that are set. With --model, it asks the model about six small
    questions and keeps what it found, for `judge` to use. One of them is about something that
    nobody should do, to see how the model refuses. Exit 1 when something that is needed is bad.

    Parameters
    ----------
    model
        A model as litellm names it: openai/gpt-4o-mini, ollama_chat/llama3.2, hosted_vllm/NAME.
    endpoint
        The address of a server of your own, such as http://127.0.0.1:8080/v1.
    timeout
        Seconds for one request to the model; 60 by default, 600 where it runs in this process.
    """
    if model is None:
        if endpoint is not None or timeout is not None:
            raise UsageError("--endpoint and --timeout go with --model")
        return _check_machine(db, json=json)
    if model == "embedded":
        raise UsageError(
            "the embedded judge isn't asked anything", hint="`labeler doctor` alone checks it"
        )
    if timeout is not None and timeout <= 0:
        raise UsageError("--timeout is more than 0")
    return _probe(model, endpoint, timeout, db, json=json)


def _check_machine(db: str | None, *, json: bool) -> int:
    from labeler.cli.doctor_machine import machine_findings
    from labeler.providers.findings import Rating

    with working("checking"):
        findings = machine_findings(db)
    bad = any(one.rating is Rating.BAD for one in findings)
    if json:
        print_json({"ok": not bad, "checks": _as_json(findings)})
    else:
        _print_findings(findings)
    return ExitCode.ERROR if bad else ExitCode.DONE


def _probe(
    model: str, endpoint: str | None, timeout: float | None, db: str | None, *, json: bool
) -> int:
    from labeler.judges.llm.setup import endpoint_of
    from labeler.providers import embedded_language_model
    from labeler.providers.probing import probe_model
    from labeler.providers.profiles import write_profile
    from labeler.store.database import utc_now

    address = endpoint_of(model, endpoint, os.environ)
    # Before anything is paid for: a database that can't be used ends it here.
    store = _project(db)
    default = _TIMEOUT
    if embedded_language_model.is_embedded(model):
        embedded_language_model.register()
        tell(embedded_language_model.NOTICE)
        default = _IN_PROCESS_TIMEOUT
    try:
        with working(f"asking {model}"):
            probed = probe_model(model, address, timeout=timeout or default, clock=utc_now)
        if store is not None and probed.profile is not None:
            with store.work() as connection:
                write_profile(connection, model, address, probed.profile, utc_now())
    finally:
        if store is not None:
            store.close()
    kept = store is not None and probed.profile is not None
    if json:
        print_json(_probed_as_json(model, address, probed, kept=kept))
    else:
        _print_findings(probed.findings)
        print()
        print_facts(_facts(model, address, probed))
    _tell_what_follows(model, endpoint, kept=kept, usable=probed.profile is not None)
    return ExitCode.ERROR if probed.profile is None else ExitCode.DONE


def _project(db: str | None) -> Store | None:
    """Open the project, or give None where there is none and none was named."""
    try:
        return open_project(db)
    except NotFoundError:
        if db is not None:
            raise
        return None


def _tell_what_follows(model: str, endpoint: str | None, *, kept: bool, usable: bool) -> None:
    if not usable:
        tell("nothing was kept: no answer could be used")
    elif kept:
        there = "" if endpoint is None else f" --endpoint {endpoint}"
        tell(f"kept: `{program()} judge run POOL --judge {model}{there}` goes by it")
    else:
        tell("not kept: there is no database here; run it in the project's folder, or name --db")


def _probed_as_json(
    model: str, endpoint: str | None, probed: Probed, *, kept: bool
) -> dict[str, Any]:
    spent = probed.spent
    return {
        "model": model,
        "endpoint": endpoint,
        "profile": None if probed.profile is None else asdict(probed.profile),
        "findings": _as_json(probed.findings),
        "calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "cost_usd": None if spent.unpriced and not spent.cost else round(spent.cost, 6),
        "answers_of_unknown_cost": spent.unpriced,
        "kept": kept,
    }


def _facts(model: str, endpoint: str | None, probed: Probed) -> dict[str, object]:
    spent = probed.spent
    facts: dict[str, object] = {"model": model}
    if endpoint is not None:
        facts["endpoint"] = endpoint
    cost = f"${spent.cost:.4f}"
    if spent.unpriced:
        unknown = f"{spent.unpriced} answers of unknown cost"
        cost = f"{cost}, and {unknown}" if spent.cost else "unknown"
    return facts | {
        "calls": spent.calls,
        "tokens in": spent.prompt_tokens,
        "tokens out": spent.completion_tokens,
        "cost": cost,
    }


def _as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [asdict(one) for one in findings]


def _print_findings(findings: Sequence[Finding]) -> None:
    """Print what was found, and what to do about it below; lines are cut for a terminal only."""
    names = max(len(one.check) for one in findings)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for one in findings:
        lines = _wrapped(one.found, width - names - 8)
        if one.hint:
            lines += _wrapped(f"hint: {one.hint}", width - names - 8)
        heads = [f"{one.rating.value:4}  {one.check:{names}}  "]
        heads += [" " * len(heads[0])] * (len(lines) - 1)
        for head, line in zip(heads, lines, strict=True):
            print(head + line)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(visible_line(text), max(width, 20), break_long_words=False)
