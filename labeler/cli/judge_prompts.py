"""`labeler judge prompts`: list, show and compare the prompts of judges."""

from __future__ import annotations

import difflib

from cyclopts import App

from labeler.cli.output import print_json, print_table
from labeler.cli.project import JsonOutput

app = App(name="prompts", help="List, show and compare prompts of judges.")


@app.command(name="list")
def list_(*, json: JsonOutput = False) -> None:
    """List the prompts that come with Labeler; --prompt also takes a file of your own."""
    from labeler.judges.llm.prompts import shipped_prompts

    prompts = shipped_prompts()
    if json:
        print_json(
            {
                "prompts": [
                    {
                        "name": one.name,
                        "strategy": one.strategy,
                        "description": one.description,
                        "signals": sorted(one.signals),
                        "digest": one.digest,
                    }
                    for one in prompts
                ]
            }
        )
        return
    print_table(
        ["name", "strategy", "digest", "what it is"],
        [[one.name, one.strategy, one.digest[:12], one.description] for one in prompts],
    )


@app.command
def show(prompt: str, /, *, json: JsonOutput = False) -> None:
    """Print a prompt, as a start for one of your own.

    Parameters
    ----------
    prompt
        A shipped prompt's name, or a file.
    """
    from labeler.judges.llm.prompts import find_prompt

    found = find_prompt(prompt)
    if json:
        print_json({"name": found.name, "digest": found.digest, "text": found.text})
    else:
        print(found.text, end="")


@app.command
def diff(first: str, second: str, /, *, json: JsonOutput = False) -> None:
    """Show what differs between two prompts, line by line.

    Parameters
    ----------
    first
        A shipped prompt's name, or a file.
    second
        A shipped prompt's name, or a file.
    """
    from labeler.judges.llm.prompts import find_prompt

    left, right = find_prompt(first), find_prompt(second)
    lines = list(
        difflib.unified_diff(
            left.text.splitlines(),
            right.text.splitlines(),
            f"{left.name} ({left.digest[:12]})",
            f"{right.name} ({right.digest[:12]})",
            lineterm="",
        )
    )
    if json:
        print_json({"first": left.digest, "second": right.digest, "lines": lines})
    else:
        print("\n".join(lines) if lines else "the two are the same")
