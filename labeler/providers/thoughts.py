"""Thoughts that a model writes before its answer, in the marks that models and servers leave."""

from __future__ import annotations

import re
from typing import Final

from labeler.providers.loose_json import find_end
from labeler.providers.unreadable import CutOff

__all__ = ["without_thoughts"]

_TAGS: Final = (
    r"think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad|antthinking|inner_monologue"
    r"|seed:think|mm:think"
)
_FINAL: Final = r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
_FAMILIES: Final = {
    # name: what opens it, what closes it
    "tag": (rf"<\s*(?P<tag_name>{_TAGS})\b[^<>/]{{0,200}}>", None),
    "bracket": (r"\[THINK\]", r"\[/THINK\]"),
    "triangle": ("◁think▷", "◁/think▷"),
    "bars": (r"<\|think\|>", r"<\|/think\|>"),
    "begin": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "start": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "channel": (r"<\|channel>\s*thought", r"<channel\|>"),
    "harmony": (r"<\|channel\|>\s*analysis\b[^<]*<\|message\|>", rf"<\|end\|>|{_FINAL}"),
    # The same with its marks lost, as some servers leave it: "analysisWe need ...assistantfinal2"
    "glued": (r"\A\s*analysis(?=(?-i:[A-Z]))", "assistantfinal"),
}
_CLOSERS = {
    name: re.compile(closer, re.IGNORECASE) for name, (_, closer) in _FAMILIES.items() if closer
}
_LONE = rf"<\s*/\s*(?:{_TAGS})\s*>|{_FINAL}|" + "|".join(
    closer for name, (_, closer) in _FAMILIES.items() if closer and name not in {"harmony", "glued"}
)
_TURN_ENDS: Final = (
    r"<\|(?:im_end|eot_id|eom_id|end_of_turn|end_of_text|endoftext|end|return|call)\|>"
    r"|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>|</s>\s*\Z"
)
_STOPS = re.compile(
    rf"(?P<brace>\{{)|(?P<empty><\s*(?:{_TAGS})\s*/>)|(?P<lone>{_LONE})|(?P<turn>{_TURN_ENDS})|"
    + "|".join(f"(?P<{name}>{opener})" for name, (opener, _) in _FAMILIES.items()),
    re.IGNORECASE,
)


def without_thoughts(text: str) -> str:
    """Drop a model's thoughts: blocks in any of the known marks.

    Text before a closing mark that nothing opened is thoughts too, since templates often write
    the opening mark themselves. What stands behind a mark that ends the turn was not said in it.
    Marks in the strings of an object, such as a reason that speaks of ``<think>``, are text.

    Raises:
        CutOff: When thoughts never end.
    """
    kept: list[str] = []
    ended: int | None = None  # how many of the kept parts the turn holds
    at = start = seen = 0
    while stop := _STOPS.search(text, at):
        at = stop.end()
        kind = str(stop.lastgroup)
        if kind == "brace":
            if stop.start() >= seen:
                seen, is_object = find_end(text, stop.start())
                at = seen if is_object else at
            continue
        kept.append(text[start : stop.start()])
        if kind == "lone":
            ended = None
            kept.clear()
        elif kind != "turn":
            at = at if kind == "empty" else _end_of(kind, stop, text)
        elif ended is None:
            if any(part.strip() for part in kept):
                ended = len(kept)
            else:
                kept.clear()
        start = at
    return "".join([*kept, text[start:]][:ended])


def _end_of(kind: str, opener: re.Match[str], text: str) -> int:
    if kind == "tag":
        name = re.escape(opener.group("tag_name"))
        closer = re.compile(rf"<\s*/\s*{name}\s*>", re.IGNORECASE)
    else:
        closer = _CLOSERS[kind]
    end = closer.search(text, opener.end())
    if end is None:
        raise CutOff("thoughts that never end", len(text))
    return end.end()
