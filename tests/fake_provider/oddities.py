"""Scenarios in which the provider answers, but not as it was asked."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from tests.fake_provider.answers import (
    Judged,
    chosen_level,
    completion,
    envelope,
    judge,
    written,
)
from tests.fake_provider.asking import ABSTENTION
from tests.fake_provider.scenarios import Call, Reply, answer, plain, scenario

_BAD_LABEL = "somewhat"
_ORDERS = re.compile(
    r"(?:fully|highly|perfectly)[ _-]?relevant"
    r"|ignore (?:all|any|the|every|previous|prior|above)"
    r"|only answers? [\"']?\d"
    r"|(?<!\[\[)\b(?:label|score|grade|rating|level|relevance)[\"']?\s*"
    r"(?:is|must be|should be|[:=])\s*[\"']?(?:fully|perfect|[1-9])"
    r"|vollst.ndig relevant|(?:totalmente|plenamente) relevante|pleinement pertinent"
    r"|完全相关|ذو صلة تامة",
    re.IGNORECASE,
)
"""Orders and fake answers that a gullible judge follows wherever it reads them."""
_CYRILLIC = str.maketrans("аеорсух", "aeopcyx")
_SPACED_OUT = re.compile(r"(?<=\b\w)[ .](?=\w\b)")


def _deciphered(text: str) -> str:
    """Read a text as a model does, whatever its letters are parted by or borrowed from."""
    seen = "".join(one for one in text if unicodedata.category(one) != "Cf")
    plain = unicodedata.normalize("NFKC", seen).translate(_CYRILLIC)
    return " ".join(_SPACED_OUT.sub("", plain).split())


def _judged(call: Call) -> Judged:
    return judge(call.request, chosen_level(call.request))


def _changed(call: Call, **changes: Any) -> Reply:
    """Answer with some fields changed or added."""
    return _written(call, written(_judged(call).fields | changes))


def _written(call: Call, content: str, *, called: bool = True, finish: str | None = None) -> Reply:
    """Answer with a text: as the tool's arguments, or beside them."""
    return Reply(payload=completion(call.request, content, called=called, finish=finish))


@scenario("truncated")
def truncated(call: Call) -> Reply:
    """Stop in the middle, because of the limit on tokens."""
    content = written(_judged(call).fields)
    return _written(call, content[: len(content) // 2], finish="length")


@scenario("refusal")
def refusal(call: Call) -> Reply:
    """Refuse in the field that is made for it."""
    text = "I'm sorry, but I can't help with that."
    message = {"role": "assistant", "content": None, "refusal": text}
    return Reply(payload=envelope(call.request, message, written=len(text)))


@scenario("refusal-prose")
def refusal_prose(call: Call) -> Reply:
    """Refuse in the answer's text."""
    return _written(call, "I'm sorry, but I can't help with that.", called=False)


@scenario("content-filter")
def content_filter(call: Call) -> Reply:
    """Let a filter take the answer away."""
    message = {"role": "assistant", "content": None, "refusal": None}
    return Reply(payload=envelope(call.request, message, finish="content_filter"))


@scenario("empty-choices")
def empty_choices(call: Call) -> Reply:
    """Answer without any choice."""
    return Reply(payload=envelope(call.request, None))


@scenario("empty-content")
def empty_content(call: Call) -> Reply:
    """Answer with an empty text and no call of the tool."""
    return _written(call, "", called=False)


@scenario("fenced")
def fenced(call: Call) -> Reply:
    """Put the answer in a fence, with words around it, and call no tool."""
    content = written(_judged(call).fields)
    text = f"Sure! Here it is:\n```json\n{content}\n```\nHope this helps."
    return _written(call, text, called=False)


@scenario("think")
def think(call: Call) -> Reply:
    """Think aloud first, and call no tool."""
    content = written(_judged(call).fields)
    return _written(call, f"<think>maybe level 2?</think>\n{content}", called=False)


@scenario("think-unclosed")
def think_unclosed(call: Call) -> Reply:
    """Think aloud and never come to the answer."""
    return _written(call, "<think>maybe level 2? The passage says", called=False)


@scenario("words")
def words(call: Call) -> Reply:
    """Answer in prose, and call no tool."""
    level = chosen_level(call.request)
    return _written(call, f"Label: {level}\nThe passage was read in full.", called=False)


@scenario("says")
def says(call: Call) -> Reply:
    """``says:KEY``: answer with the text that the settings hold under the key."""
    return _written(call, call.settings.texts[":".join(call.arguments)], called=False)


@scenario("bad-label")
def bad_label(call: Call) -> Reply:
    """Answer with a level that there is not."""
    return _changed(call, level=_BAD_LABEL)


@scenario("bad-label-once")
def bad_label_once(call: Call) -> Reply:
    """Do so the first time that an item is asked; be asked again to answer properly."""
    return plain(call) if call.item_tries else bad_label(call)


@scenario("confidence-95")
def confidence_95(call: Call) -> Reply:
    """State the confidence as a percentage."""
    return _changed(call, confidence=95)


@scenario("wrong-case")
def wrong_case(call: Call) -> Reply:
    """Spell keys in capitals and the level as a word."""
    fields = _judged(call).fields | {"level": "Partially_Relevant"}
    return _written(call, written({name.capitalize(): value for name, value in fields.items()}))


@scenario("extra-fields")
def extra_fields(call: Call) -> Reply:
    """Add fields that nobody asked for."""
    return _changed(call, score=7, notes=["one", "two"])


@scenario("nul")
def nul(call: Call) -> Reply:
    """Put NUL characters into the reason."""
    return _changed(call, reason="a\0b\0")


@scenario("lone-surrogate")
def lone_surrogate(call: Call) -> Reply:
    """Write an escaped lone surrogate into the answer's JSON."""
    fields = _judged(call).fields | {"reason": "half \ud800 a pair"}
    return _written(call, json.dumps(fields))


@scenario("raw-surrogate")
def raw_surrogate(call: Call) -> Reply:
    """Write it into the JSON around the answer, so that the answer's text holds it already."""
    return _changed(call, reason="half \ud800 a pair")


@scenario("obeys")
def obeys(call: Call) -> Reply:
    """Obey whatever the item's message says: the highest level where it orders one."""
    levels = call.request.levels
    item = call.request.item
    ordered = any(_ORDERS.search(text) for text in (item, _deciphered(item)))
    return answer(call, levels[-1] if ordered else levels[0], 1.0)


@scenario("abstains")
def abstains(call: Call) -> Reply:
    """Say that it cannot judge, where the request lets it."""
    return answer(call, ABSTENTION) if ABSTENTION in call.request.allowed else plain(call)


@scenario("no-logprobs")
def no_logprobs(call: Call) -> Reply:
    """Accept the request for log-probabilities, and give none."""
    return _with_logprobs(call, fake=False)


@scenario("fake-logprobs")
def fake_logprobs(call: Call) -> Reply:
    """Give zeros for log-probabilities."""
    return _with_logprobs(call, fake=True)


def _with_logprobs(call: Call, *, fake: bool) -> Reply:
    judged = _judged(call)
    content = written(judged.fields)
    return Reply(payload=completion(call.request, content, judged=judged, fake_logprobs=fake))
