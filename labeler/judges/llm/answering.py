"""From what a model answered to a verdict: the answer's shape, its checks, its raw signals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    WithJsonSchema,
    create_model,
)

from labeler.assessment.blind import BlindItem, BlindQuery
from labeler.assessment.verdict import BAD_CONFIDENCE, CUT_PASSAGE, UNGROUNDED, Verdict
from labeler.judges.llm.prompts import JudgePrompt
from labeler.judges.llm.rendering import ABSTAIN, level_codes
from labeler.judges.spellings import spellings_of
from labeler.judges.suspicion.flags import flags as suspicious_signs
from labeler.labels import Grade, Level, Outcome, Scale
from labeler.providers.chat import AnswerShape, Ended, Reply
from labeler.providers.reading import UnreadableAnswer, clean_text, level_of
from labeler.search.words import compatible, tokens

__all__ = ["answer_shape", "holds_quote", "verdict_of"]

_OUTCOMES = {
    Ended.REFUSED: Outcome.REFUSED,
    Ended.TRUNCATED: Outcome.TRUNCATED,
    Ended.FAILED: Outcome.FAILED,
}
_SYNONYMS = ("label", "grade", "relevance", "rating", "verdict", "score")
_MOST_CRITERION = 3
_LONGEST_QUOTE, _LONGEST_REASON = 2_000, 1_000


def answer_shape(prompt: JudgePrompt, scale: Scale) -> AnswerShape:
    """Make the shape of the answers to a prompt: the reason stands before the level."""
    codes = (*level_codes(scale), ABSTAIN)
    words = _words(scale)

    def read_level(value: object) -> str:
        try:
            return level_of(value, words)
        except UnreadableAnswer:
            raise ValueError(f"level is one of {', '.join(codes)}") from None

    level = Annotated[
        str,
        BeforeValidator(read_level),
        WithJsonSchema({"type": "string", "enum": list(codes)}),
    ]
    criterion = Annotated[
        int | None,
        BeforeValidator(_criterion),
        WithJsonSchema({"type": "integer", "enum": list(range(_MOST_CRITERION + 1))}),
    ]
    confidence = Annotated[
        float | None,
        BeforeValidator(_number),
        WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
    ]
    text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]
    fields: dict[str, Any] = dict.fromkeys(prompt.criteria, (criterion, None))
    if "quote" in prompt.signals:
        fields["quote"] = (text, "")
    fields["reason"] = (text, "")
    fields["level"] = (level, Field())
    if "stated_confidence" in prompt.signals:
        fields["confidence"] = (confidence, None)
    model = create_model("Judgment", **fields)
    return AnswerShape(model, key="level", codes=codes, synonyms=_SYNONYMS)


def _words(scale: Scale) -> dict[str, str]:
    """Give the code that each spelling of a level stands for."""
    by_level = {level.code: code for code, level in level_codes(scale).items()}
    words = {
        word: code if code == ABSTAIN else by_level[int(code)]
        for word, code in spellings_of(scale).items()
    }
    return words | {code: code for code in (*by_level.values(), ABSTAIN)}


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        value = " ".join(str(part) for part in value)
    return clean_text(str(value)).strip()


def _number(value: object) -> float | None:
    """Read a number as it stands. 95 stays 95: nobody knows whether it meant 0.95."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        number = math.nan
    return number if math.isfinite(number) else math.inf


def _criterion(value: object) -> int | None:
    number = _number(value)
    if number is None or number not in range(_MOST_CRITERION + 1):
        return None
    return int(number)


def holds_quote(passage: str, quote: str) -> bool:
    """Tell whether a passage holds a quote, white space and Unicode form aside.

    Quotation marks around the quote, and an ellipsis at its ends or between two parts that both
    stand there in order, are forgiven.
    """
    plain = _plain(passage)
    start = 0
    parts = [part for part in _plain(quote.replace("…", "...")).split("...") if part.strip()]
    for part in parts:
        wanted = part.strip().strip("\"'“”‘’«»").strip()
        place = plain.find(wanted, start)
        if place < 0:
            return False
        start = place + len(wanted)
    return bool(parts)


def _plain(text: str) -> str:
    return " ".join(compatible(text).split())


def verdict_of(
    item: BlindItem,
    query: BlindQuery,
    scale: Scale,
    shown: Sequence[str],
    replies: Sequence[Reply],
    *,
    is_cut: bool,
) -> Verdict:
    """Make a verdict of the replies on one item: one, or one for each window.

    Of windows the best level counts, then the surer one. A window without an answer makes the
    item end as that window did, unless another already shows the best level: what was not read
    could hold more.

    Args:
        item: The item.
        query: Its query.
        scale: The rubric's scale.
        shown: What each reply was shown of the passage.
        replies: The replies, in the same order.
        is_cut: Whether the judge saw less than the whole passage.
    """
    flags = list(suspicious_signs(query.text, item.passage)) + [CUT_PASSAGE] * is_cut
    codes = level_codes(scale)
    read = [
        _read(text, reply, codes, scale)
        for text, reply in zip(shown, replies, strict=True)
        if reply.ended is Ended.ANSWERED
    ]
    best = max(read, key=lambda one: (one.order, one.confidence or 0.0), default=None)
    top = max(level.order for level in scale.levels)
    lost = next((reply for reply in replies if reply.ended is not Ended.ANSWERED), None)
    if best is None or (lost is not None and best.order < top):
        ended = lost or Reply(Ended.FAILED, why="nothing was asked")
        return Verdict(item.item_id, _OUTCOMES[ended.ended], reason=ended.why, flags=tuple(flags))
    signals = dict(best.signals)
    wanted = set(tokens(query.text))
    if wanted:
        signals["query_terms_in_passage"] = len(wanted & set(tokens(item.passage))) / len(wanted)
    if len(shown) > 1:
        signals["windows"] = float(len(shown))
    return Verdict(
        item.item_id,
        Outcome.ABSTAINED if best.level is None else Outcome.JUDGED,
        level=best.level,
        probabilities=best.probabilities,
        confidence=best.confidence,
        quote=best.quote[:_LONGEST_QUOTE],
        reason=best.reason[:_LONGEST_REASON],
        signals=signals,
        flags=(*flags, *best.flags),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """One answer, read."""

    level: Level | None
    confidence: float | None
    quote: str
    reason: str
    probabilities: Mapping[Grade, float]
    signals: Mapping[str, float]
    flags: tuple[str, ...]

    @property
    def order(self) -> int:
        return -1 if self.level is None else self.level.order


def _read(shown: str, reply: Reply, codes: Mapping[str, Level], scale: Scale) -> _Read:
    fields = reply.fields
    level = codes.get(str(fields["level"]))
    stated = fields.get("confidence")
    flags: list[str] = []
    if stated is not None and not 0 <= stated <= 1:
        flags.append(BAD_CONFIDENCE)
        stated = None
    quote = str(fields.get("quote", ""))
    signals = {
        f"criterion_{key}": float(value) for key, value in fields.items() if isinstance(value, int)
    }
    if stated is not None:
        signals["stated_confidence"] = float(stated)
    if "quote" in fields and level is not None:
        is_held = bool(quote) and holds_quote(shown, quote)
        if quote:
            signals["quote_in_passage"] = float(is_held)
        if not is_held and (quote or level.grade is not Grade.NOT_RELEVANT):
            flags.append(UNGROUNDED)
    for code, value in reply.logprobs.items():
        name = "abstain" if code == ABSTAIN else codes[code].name
        signals[f"p_{name}"] = math.exp(value)
    if level is not None:
        relevant = [one.order for one in scale.levels if one.grade is not Grade.NOT_RELEVANT]
        signals["borderline"] = float(bool(relevant) and level.order == min(relevant))
    grades = _grades(reply.logprobs, codes)
    return _Read(
        level=level,
        confidence=grades.get(level.grade) if level is not None and grades else stated,
        quote=quote,
        reason=str(fields.get("reason", "")),
        probabilities=grades,
        signals=signals,
        flags=tuple(flags),
    )


def _grades(logprobs: Mapping[str, float], codes: Mapping[str, Level]) -> dict[Grade, float]:
    """Sum level probabilities to grades, among the levels alone."""
    sums: dict[Grade, float] = {}
    for code, value in logprobs.items():
        if code in codes:
            grade = codes[code].grade
            sums[grade] = sums.get(grade, 0.0) + math.exp(value)
    total = sum(sums.values())
    return {grade: value / total for grade, value in sums.items()} if total > 0 else {}
