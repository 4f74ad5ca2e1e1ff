"""Scenarios in which the provider gives no answer: refusals of the service, not of the model."""

from __future__ import annotations

from dataclasses import replace

from tests.fake_provider.scenarios import Call, Reply, Scenario, chance, error, plain, scenario

_BUSY_DELAY = 0.02
"""Least seconds of an answer where the number in flight counts: none would ever overlap else."""
_TRANSIENT = (500, 502, 503, 504, 408, 409, 425, 429)
_MESSAGES = {
    408: ("Request timed out.", "timeout", None),
    409: ("The resource is locked by another request.", "conflict_error", None),
    425: ("Too early.", "server_error", None),
    429: ("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request.", "server_error", None),
    502: ("Bad gateway.", "server_error", None),
    503: ("The engine is currently overloaded, please try again later.", "server_error", None),
    504: ("Gateway timeout.", "server_error", None),
}


def failing(status: int, *, wait: float | None = None, delay: float | None = None) -> Reply:
    """Fail with a status that may pass."""
    message, kind, code = _MESSAGES.get(status, (f"Status {status}.", "server_error", None))
    return error(status, message, kind=kind, code=code, wait=wait, delay=delay)


def always(
    name: str,
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
) -> Scenario:
    """Register a scenario that refuses every request in the same way."""
    return scenario(name)(lambda call: error(status, message, kind=kind, code=code))


always("forbidden", 403, "You are not allowed to sample from this model.")
always("payment", 402, "Insufficient balance.", code="insufficient_balance")
always("missing", 404, "The model does not exist.", code="model_not_found")
always("unprocessable", 422, "The request could not be processed.")
always(
    "quota",
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    kind="insufficient_quota",
    code="insufficient_quota",
)


@scenario("status")
def any_status(call: Call) -> Reply:
    """``status:NUMBER``: always that status."""
    return failing(call.number(0, 500))


@scenario("status-500")
def status_500(call: Call) -> Reply:
    """Fail always."""
    return failing(500)


@scenario("status-503-retry-after")
def status_503(call: Call) -> Reply:
    """Fail always, and say when to come again."""
    return failing(503, wait=call.settings.retry_after)


@scenario("status-429-retry-after")
def status_429(call: Call) -> Reply:
    """Turn away always, and say when to come again."""
    return failing(429, wait=call.settings.retry_after)


@scenario("flaky")
def flaky(call: Call) -> Reply:
    """``flaky:N:STATUS``: the first N tries of each body fail, later ones are answered."""
    if call.tries >= call.number(0, 1):
        return plain(call)
    status = call.number(1, 500)
    return failing(status, wait=0 if status == 429 else None)


@scenario("retry-after")
def retry_after(call: Call) -> Reply:
    """``retry-after:SECONDS``: the first try of each body is told to come again then."""
    if call.tries:
        return plain(call)
    return failing(429, wait=float(call.arguments[0]))


@scenario("drop")
def drop(call: Call) -> Reply:
    """Close the connection without an answer."""
    return Reply(does="drop")


@scenario("flaky-drop")
def flaky_drop(call: Call) -> Reply:
    """``flaky-drop:N``: close it at the first N tries of each body."""
    return drop(call) if call.tries < call.number(0, 1) else plain(call)


@scenario("hang")
def hang(call: Call) -> Reply:
    """Never answer."""
    return Reply(does="hang")


@scenario("limited")
def limited(call: Call) -> Reply:
    """``limited:N``: turn away what comes while N requests are in flight."""
    if call.in_flight > call.number(0, 1):
        return failing(429, wait=0.05, delay=0)
    reply = plain(call)
    return Reply(payload=reply.payload, delay=max(call.settings.latency, _BUSY_DELAY))


@scenario("rate")
def rate(call: Call) -> Reply:
    """``rate:N``: turn away what comes after N requests within one second."""
    if call.lately >= call.number(0, 1):
        return failing(429, wait=call.settings.retry_after, delay=0)
    return plain(call)


@scenario("mixed")
def mixed(call: Call) -> Reply:
    """``mixed:SEED:PERCENT``: each try of a body fails with that chance (30), in a passing way."""
    seed = call.arguments[0] if call.arguments else "0"
    which = (seed, call.request.digest, call.tries)
    if chance("whether", *which) * 100 >= call.number(1, 30):
        return plain(call)
    kind = int(chance("how", *which) * (len(_TRANSIENT) + 1))
    if kind == len(_TRANSIENT):
        return Reply(does="drop")
    status = _TRANSIENT[kind]
    return failing(status, wait=0.01 if status in (429, 503) else None)


@scenario("unauthorised")
def unauthorised(call: Call) -> Reply:
    """Refuse the key and show its ends, as OpenAI does."""
    key = call.request.authorization.removeprefix("Bearer ")
    shown = f"{key[:7]}{'*' * 12}{key[-4:]}"
    message = (
        f"Incorrect API key provided: {shown}. "
        "You can find your API key at https://platform.openai.com/account/api-keys."
    )
    return error(401, message, code="invalid_api_key")


@scenario("echo-key")
def echo_key(call: Call) -> Reply:
    """Fail with the whole key in the message, as careless proxies do."""
    message = f"upstream refused the header Authorization: {call.request.authorization}"
    return error(500, message, kind="server_error")


@scenario("too-long")
def too_long(call: Call) -> Reply:
    """Refuse every prompt as longer than the context."""
    return overflow(call, 10)


@scenario("window")
def window(call: Call) -> Reply:
    """``window:TOKENS``: refuse the prompts that are longer."""
    limit = call.number(0, 8192)
    return overflow(call, limit) if call.request.prompt_tokens > limit else plain(call)


def overflow(call: Call, limit: int) -> Reply:
    """Refuse a prompt that is longer than the context."""
    message = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted "
        f"in {call.request.prompt_tokens} tokens. Please reduce the length of the messages."
    )
    return error(400, message, param="messages", code="context_length_exceeded")


@scenario("content-filter-400")
def content_filter_400(call: Call) -> Reply:
    """Refuse for the content of the prompt, as Azure does."""
    message = (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry."
    )
    inner = {
        "code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {"violence": {"filtered": True, "severity": "medium"}},
    }
    more = {"status": 400, "innererror": inner}
    return error(400, message, param="prompt", code="content_filter", more=more)


@scenario("refuses")
def refuses(call: Call) -> Reply:
    """``refuses:PARAMETER``: refuse the requests that hold it (temperature: any but 1)."""
    name = call.arguments[0]
    value = call.request.body.get(name)
    if name == "temperature" and value not in (None, 1):
        message = (
            f"Unsupported value: 'temperature' does not support {value} with this model. "
            "Only the default (1) value is supported."
        )
        return error(400, message, param=name, code="unsupported_value")
    if name != "temperature" and value:
        message = f"Unsupported parameter: '{name}' is not supported with this model."
        return error(400, message, param=name, code="unsupported_parameter")
    return plain(call)


@scenario("refuses-logprobs")
def refuses_logprobs(call: Call) -> Reply:
    """Refuse requests for log-probabilities."""
    return refuses(_with_argument(call, "logprobs"))


@scenario("refuses-temperature")
def refuses_temperature(call: Call) -> Reply:
    """Refuse every temperature but 1."""
    return refuses(_with_argument(call, "temperature"))


def _with_argument(call: Call, argument: str) -> Call:
    return replace(call, arguments=(argument,))
