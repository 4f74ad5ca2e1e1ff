"""The command line's entry point: which commands there are, and what an error looks like.

Commands are imported when they are called, so that `labeler --help` stays instant.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnusedCliTokensError

from labeler import __version__
from labeler.errors import ExitCode, LabelerError

__all__ = ["app", "main"]

app = App(
    name="labeler",
    version=__version__,
    help="Relevance labels for search and RAG that you can trust.\n\n"
    "Import runs, pool them, have the pool judged, clear what is doubtful by hand, export labels. "
    "The database is --db, else LABELER_DB, else 'db' in labeler.toml, else queue.db here.",
    help_format="markdown",
    version_flags=["--version"],
    suppress_keyboard_interrupt=False,  # we say ourselves that what was saved is kept
)

_COMMANDS = {
    "demo": ("demo:demo", "Write a sample project and take it from runs to a review queue."),
    "import": ("imports:app", "Import a corpus, queries, runs or labels."),
    "corpus": ("corpus:app", "List snapshots and compare them."),
    "pool": ("pool:app", "Make pools from runs, show them, plan their depth."),
    "judge": ("judge:app", "Have a pool judged."),
    "calibrate": ("calibrate:calibrate", "Fit the labels' probabilities to people's votes."),
    "route": ("route:route", "Accept what a policy trusts; send the rest to people."),
    "sample": ("sample:app", "Draw samples with recorded probabilities; estimate from them."),
    "review": ("review:review", "Clear the queue, blind, in the terminal."),
    "serve": ("serve:serve", "Let one reviewer work in a browser."),
    "queue": ("queue:queue", "Count what waits for people, and why."),
    "generate": ("generate:app", "Write questions from documents that are safe to use."),
    "correct": ("correct:app", "Take judgments out of force; put a query right."),
    "split": ("split:app", "Freeze what belongs together and what is sealed; check that it holds."),
    "report": ("report:app", "Report on runs and labels: metrics, coverage, agreement."),
    "gate": ("gate:gate", "Decide whether a candidate may be released, by declared rules."),
    "export": ("export:app", "Write labels out: qrels, JSON lines, Parquet, a test set."),
    "db": ("db:app", "Check, back up, and rebuild the database."),
    "doctor": ("doctor:doctor", "Check this machine, or find out what a model can do."),
}

for _name, (_target, _help) in _COMMANDS.items():
    app.command(f"labeler.cli.{_target}", name=_name, help=_help)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; errors are printed, never raised."""
    # Line ends and characters of other scripts reach a pipe as they are on every platform.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        error.verbose = False
        _usage_error(error)
        return ExitCode.USAGE
    except LabelerError as error:
        from labeler.cli.output import print_error

        print_error(error)
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nlabeler: interrupted; what was saved is kept\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader went away, as `head` does. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception as error:  # noqa: BLE001 - the last border: everything else is a bug
        _bug(error)
        return ExitCode.ERROR
    return int(code) if isinstance(code, int) else ExitCode.DONE


def _usage_error(error: CycloptsError) -> None:
    told = str(error)
    if isinstance(error, UnusedCliTokensError):
        told = f"the command takes no {', '.join(map(repr, error.unused_tokens or ()))}"
    sys.stderr.write(f"labeler: {told}\n  hint: add --help to see what the command takes\n")


def _bug(error: Exception) -> None:
    import tempfile
    import traceback
    from pathlib import Path

    from labeler.providers.redaction import redacted

    said = redacted(str(error))[:200]
    with tempfile.NamedTemporaryFile(
        "w", prefix="labeler-bug-", suffix=".txt", delete=False, encoding="utf-8"
    ) as report:
        report.write(f"labeler {__version__}, Python {sys.version}\n\n")
        report.write("".join(traceback.format_tb(error.__traceback__)))
        report.write(type(error).__name__ + "\n")
    sys.stderr.write(
        f"labeler: this is a bug in Labeler ({type(error).__name__}: {said!r})\n"
        f"  hint: please report it with {Path(report.name)}, which holds no data of yours\n"
    )
