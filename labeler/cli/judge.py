"""`labeler judge`: have a pool judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from labeler.cli.project import Database, JsonOutput

_FIT = "Fit the embedded judge's coefficients on a labelled collection."
_COMPARE = "Tell what a change of prompt or model does to labels, item by item."
_COSTS = "Tell what requests to models took: tokens, money, time; by job and by model."
_PROBE = "Show a judge passages that try to trick it; tell which of them do."
_EVALUATE = "Measure the embedded judge on a labelled collection."

app = App(name="judge", help="Have a pool judged.")
app.command("labeler.cli.judge_prompts:app", name="prompts", help="List, show, compare prompts.")
app.command("labeler.cli.judge_list:list_all", name="list", help="List the project's judges.")
app.command("labeler.cli.judge_compare:compare", name="compare", help=_COMPARE)
app.command("labeler.cli.judge_costs:costs", name="costs", help=_COSTS)
app.command("labeler.cli.judge_probe:probe", name="probe", help=_PROBE)
app.command("labeler.cli.judge_embedded:embedded_fit", name="embedded-fit", help=_FIT)
app.command(
    "labeler.cli.judge_embedded:embedded_evaluate", name="embedded-evaluate", help=_EVALUATE
)

_EXAMPLES = "Show so many items that people decided, of train queries of a frozen split."

_MODEL = Group.create_ordered("What the model is asked")
_LIMITS = Group.create_ordered("Limits and money")
_EMBEDDED = Group.create_ordered("The embedded judge")


@app.command
def run(
    pool: str,
    /,
    *,
    judge: Annotated[tuple[str, ...], Parameter(negative="")] = ("embedded",),
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    batch: Annotated[bool, Parameter(negative="")] = False,
    no_wait: Annotated[bool, Parameter(negative="")] = False,
    retry: str | None = None,
    db: Database = None,
    json: JsonOutput = False,
    prompt: Annotated[tuple[str, ...], Parameter(group=_MODEL, negative="")] = ("direct",),
    samples: Annotated[int, Parameter(group=_MODEL)] = 1,
    examples: Annotated[int, Parameter(group=_MODEL, help=_EXAMPLES)] = 0,
    occasion: Annotated[int, Parameter(group=_MODEL)] = 1,
    temperature: Annotated[float | None, Parameter(group=_MODEL)] = None,
    max_output_tokens: Annotated[int, Parameter(group=_MODEL)] = 800,
    mode: Annotated[Literal["json-schema", "tools", "text"] | None, Parameter(group=_MODEL)] = None,
    logprobs: Annotated[bool | None, Parameter(group=_MODEL)] = None,
    max_passage: Annotated[int, Parameter(group=_MODEL)] = 12_000,
    long: Annotated[Literal["cut", "windows"], Parameter(group=_MODEL)] = "cut",
    endpoint: Annotated[str | None, Parameter(group=_MODEL)] = None,
    max_cost: Annotated[float | None, Parameter(group=_LIMITS)] = None,
    price: Annotated[str | None, Parameter(group=_LIMITS)] = None,
    max_concurrency: Annotated[int, Parameter(group=_LIMITS)] = 64,
    rpm: Annotated[float | None, Parameter(group=_LIMITS)] = None,
    tpm: Annotated[float | None, Parameter(group=_LIMITS)] = None,
    timeout: Annotated[float, Parameter(group=_LIMITS)] = 60.0,
    attempts: Annotated[int, Parameter(group=_LIMITS)] = 5,
    workers: Annotated[int, Parameter(group=_LIMITS)] = 1,
    coefficients: Annotated[Path | None, Parameter(group=_EMBEDDED)] = None,
    threads: Annotated[int | None, Parameter(group=_EMBEDDED)] = None,
) -> int:
    """Have every item of a pool judged; a run that was stopped goes on where it stopped.

    Within a project no request is paid for twice. Exit 3 when items have no answer, 4 when the
    provider refuses (key, quota), 5 when --max-cost is reached.

    Parameters
    ----------
    pool
        The pool's name.
    judge
        'embedded' runs on this machine and needs no key. Anything else is a model as litellm names
        it: openai/gpt-4o-mini, ollama_chat/llama3.2, hosted_vllm/NAME. Several make a panel. Keys
        come from the provider's environment variable.
    dry_run
        Only tell how many calls, tokens and dollars it would take.
    batch
        Ask by the provider's batches, at their price and within a day: submit, wait, collect. The
        same command goes on after any stop. --price is then what a batch costs.
    no_wait
        With --batch, don't wait: submit what is new, collect what is ready.
    retry
        Take up just the items that ended so: failed, refused, truncated, parted by commas.
    prompt
        A prompt's name or file; one for all judges, or one for each in their order.
    samples
        Answers for each item, at temperature 1 unless --temperature says otherwise.
    occasion
        2, 3, ...: judge a sentinel set again, and see by `report drift` whether the judge moved. It
        changes no label.
    temperature
        The temperature; by default 0, or the model's own where it takes no other.
    max_output_tokens
        The most tokens of one answer; a model that thinks needs more.
    mode
        How the model is held to the answer's shape; by default as `labeler doctor` found out.
    logprobs
        Ask for log-probabilities; by default where the model gives them.
    max_passage
        The most characters of a passage in one request.
    long
        What happens to longer passages: cut them, and say so, or ask about windows and keep the
        best.
    endpoint
        The address of a server of your own, such as http://127.0.0.1:8080/v1.
    max_cost
        US dollars that each judge may spend in this run; never passed.
    price
        US dollars for a million tokens in and out, where the price is unknown: 0.15,0.60.
    max_concurrency
        The most requests in flight; fewer as long as the provider throttles.
    rpm
        Requests a minute.
    tpm
        Tokens a minute.
    timeout
        Seconds for one request.
    attempts
        HTTP requests for one answer, while failures are of a kind that passes.
    workers
        Processes; one is full at some 150 requests a second.
    coefficients
        Coefficients written by `embedded-fit`; the shipped ones by default.
    threads
        Threads; as many as there are processors by default, 4 at most.
    """
    from labeler.cli.judge_embedded_run import EmbeddedRun
    from labeler.cli.judge_llm import LlmRun, run_panel

    if judge == ("embedded",) and not batch and occasion == 1:
        return EmbeddedRun(pool, coefficients, threads).run(db=db, json=json)
    described = LlmRun.described(
        pool,
        judge,
        prompt,
        options={
            "mode": mode,
            "temperature": temperature,
            "max_output_tokens": max_output_tokens,
            "logprobs": logprobs,
            "endpoint": endpoint,
            "samples": samples,
            "occasion": occasion,
            "examples": examples,
        },
        passages=(max_passage, long),
        limits={
            "max_concurrency": max_concurrency,
            "requests_per_minute": rpm,
            "tokens_per_minute": tpm,
            "max_cost": max_cost,
            "timeout": timeout,
            "attempts": attempts,
        },
        price=price,
        retry=retry,
        workers=workers,
        dry_run=dry_run,
        batch=batch,
        wait=not no_wait,
    )
    return run_panel(described, db=db, json=json)
