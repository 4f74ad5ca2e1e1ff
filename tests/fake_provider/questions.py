"""Scenarios in which the provider writes questions about passages, or says whether they answer."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.fake_provider.answers import completion, written
from tests.fake_provider.scenarios import SCENARIOS, Call, Reply, scenario

_PASSAGE = re.compile(r"<<<(TEXT-\w+)\n(?:About this text:[^\n]*\n)?(.*?)\n\1>>>", re.DOTALL)


@scenario("asks")
def asks(call: Call) -> Reply:
    """Ask about the passage's own words, and answer by them; ``asks:SCENARIO`` where it has poison.

    Asked whether passages answer a question, it says yes, unless one of them says "unhelpful".
    """
    shown = [found[1] for found in _PASSAGE.findall(call.request.item)]
    if call.arguments and any("poison" in text for text in shown):
        name, *arguments = call.arguments
        return SCENARIOS[name](replace(call, arguments=tuple(arguments)))
    properties = (call.request.schema or {}).get("properties", {})
    if "verdict" in properties:
        verdict = "no" if any("unhelpful" in text for text in shown) else "yes"
        fields = {"quote": "", "verdict": verdict}
    else:
        words = [text.split() for text in shown]
        names = ("question", "answer", "second_answer")
        subject = " ".join(f"{one[1]} {one[5]} {one[9]}" for one in words)
        values = [f"What should people know about {subject}?", *(" ".join(w[3:7]) for w in words)]
        fields = dict(zip(names, [*values, ""], strict=False))
        fields = {name: fields.get(name, "") for name in names if name in properties}
    return Reply(payload=completion(call.request, written(fields)))
