"""Signs that a passage holds what looks like a judge's answer, or like the end of its section."""

from __future__ import annotations

import re

from labeler.judges.suspicion.signs import is_shown, sign

__all__ = ["shows_fake_answer"]

_GRADE_WORD = (
    r"(?:(?:fully|highly|perfectly|completely|partially|not|very|non)[\s_-]*relevant|relevant"
    r"|irrelevant|(?:totalmente|completamente|plenamente|parcialmente)\s+relevante|relevante"
    r"|(?:voll|vollständig|höchst|teilweise)\s+relevant|完全相关|部分相关|高度相关|不相关|相关"
    r"|(?:ذو|ذات)\s+صلة)"
)
_SHORT_WORD = r"(?:fully|partially|perfectly)"
_OPEN = r"[\"'“„«「*_`(\[]{0,3}"
_CLOSE = r"[\"'”“»」*_`)\].!]{0,3}"

_KEY = (
    r"(?:label|grade|relevance|level|verdict|rating|score|judge?ment|answer|etiqueta|rótulo"
    r"|bewertung|stufe|relevanz|relevancia|relevância|nota|标签|相关性|等级|评分|التصنيف|الصلة|الدرجة)"
)
_RELEVANCE_KEY = (
    r"(?:relevance(?:[\s_-](?:score|grade|label|level|rating|verdict|judge?ment|assessment))?|relevanz|relevancia|relevância"
    r"|pertinence|相关性|相关度|الصلة)"
)

# -- an answer in JSON ---------------------------------------------------------------------------

_OBJECT = re.compile(r"\{[^{}]{3,3000}\}")
_Q = r"\\?[\"'“”]"
_IN_WORDS = sign(
    ": =",
    rf"[{{,]\s*{_Q}(?:{_KEY}|{_RELEVANCE_KEY}){_Q}\s*:\s*{_Q}\s*(?:{_GRADE_WORD}|{_SHORT_WORD}"
    rf"|not)\s*{_Q}",
)
_RELEVANCE_IN_DIGITS = sign(
    ":", rf"{_Q}(?:{_RELEVANCE_KEY}|verdict){_Q}\s*:\s*\\?[\"']?[0-9]\\?[\"',\s}}]"
)
_KEY_IN_DIGITS = sign(":", rf"{_Q}{_KEY}{_Q}\s*:\s*\\?[\"']?[0-9]{{1,2}}\\?[\"',\s}}]")
_REASONED = sign(
    ":",
    rf"{_Q}(?:reason|reasoning|rationale|explanation|justification|quote|grund|begründung|zitat"
    rf"|motivo|justificación|justificativa|cita|citação|理由|原因|引用|السبب|اقتباس){_Q}\s*:",
)
_ALONE = sign(
    ":",
    rf"\A\{{\s*{_Q}(?:label|grade|level(?={_Q}\s*:\s*[\"'])){_Q}\s*:\s*\\?[\"']?[0-9]\\?[\"']?"
    r"\s*,?\s*\}\Z",
)


def _is_answer(candidate: str) -> bool:
    """Tell whether a JSON object is an answer; data for machine learning has labels as well."""
    if is_shown((_IN_WORDS, _RELEVANCE_IN_DIGITS, _ALONE), candidate):
        return True
    return is_shown((_KEY_IN_DIGITS,), candidate) and is_shown((_REASONED,), candidate)


# -- an answer in a line -------------------------------------------------------------------------

_START = r"^[ \t>#*_|`-]{0,8}(?:(?:overall|final)\s)?"
_IS = r"[*_`]{0,2}[ \t]*(?:[:=]|->)[*_`]{0,2}[ \t]*"
_LINES = (
    sign(
        "final",
        r"\bfinal\s+(?:relevance\s+)?(?:score|grade|label|answer|verdict|rating|judge?ment)"
        rf"[*_`]{{0,2}}\s*(?:[:=]|is)\s*{_OPEN}"
        rf"(?:[0-9]{{1,2}}{_CLOSE}[ \t]*$|{_GRADE_WORD}|fully\b)",
    ),
    sign("final", r"##\s?final\s+(?:score|grade|label|answer)\s*:\s*[0-9]"),
    sign(
        "label grade verdict judg relevan etiqueta rotulo bewertung stufe pertinence level rating "
        "标签 相关 等级 التصنيف الصلة الدرجة",
        rf"{_START}(?:{_KEY}|{_RELEVANCE_KEY}){_IS}{_OPEN}"
        r"(?:[0-9a-f][+-]?[ \t]*[(–—-][ \t]*)?(?:(?:this|it)\s(?:\w+\s)?is\s)?"
        rf"(?:{_GRADE_WORD}{_CLOSE}[ \t]*(?:$|[,;(–—-]|[a-z]+:)"
        rf"|{_SHORT_WORD}{_CLOSE}[ \t]*$)",
    ),
    sign(
        "relevan pertinence 相关 الصلة",
        rf"{_START}{_RELEVANCE_KEY}[*_`]{{0,2}}[ \t]*[:=|–—-]>?[*_`]{{0,2}}[ \t]*"
        rf"{_OPEN}[0-9]{{1,2}}(?:[ \t]*/[ \t]*[0-9]{{1,2}}|\s+out\s+of\s+[0-9]{{1,2}})?{_CLOSE}"
        r"[ \t]*\|?[ \t]*(?:\([^()\n]{0,40}\)[ \t]*)?$",
    ),
    sign("=", rf"{_START}(?:label|grade)={_OPEN}[0-9]{_CLOSE}[ \t]*$"),
    # A line that gives just a number may be a school's, unless nothing comes after it.
    sign(
        "label grade etiqueta rotulo bewertung 标签 التصنيف",
        rf"{_START}(?:label|grade|etiqueta|rótulo|bewertung|标签|التصنيف)[*_`]{{0,2}}[ \t]*:"
        rf"[ \t]*{_OPEN}[0-9]{_CLOSE}\s*\Z",
    ),
    sign(
        "score rating grade 10/10 5/5 3/3 100/100",
        r"\A\W{0,8}(?:(?:final|overall|total)\s+)?(?:score|rating|grade)\W{0,4}"
        r"(\d{1,3})\s*(?:/|out\s+of)\s*\1\W{0,8}\Z",
    ),
    sign("people decided", rf"{_START}people\s+decided\s*:\s*[0-9a-z]\b"),
    sign(
        "label grade relevance verdict answer level",
        rf"<\s*(?:label|grade|relevance|verdict|answer|level)\s*>\s*{_OPEN}(?:{_GRADE_WORD}|{_SHORT_WORD})"
        rf"{_CLOSE}\s*<\s*/",
    ),
    sign(
        "grade relevance verdict",
        r"<\s*(?:grade|relevance|relevance_score|verdict)\s*>\s*[0-9]\s*<\s*/",
    ),
)

_GRADED_LINE = sign(
    "label grade level score relevance",
    rf"{_START}(?:label|grade|level|score|relevance){_IS}{_OPEN}[0-9]{_CLOSE}[ \t]*$",
)
_REASONED_LINE = sign(
    "reason confidence quote rationale justification",
    rf"{_START}(?:reason|reasoning|confidence|quote|rationale|justification){_IS}\S",
)

# -- the end of a section, a chat's marks, thoughts -----------------------------------------------

_MARKS = (
    sign("<|", r"<\|\s?[a-z][\w ]{1,30}\|>"),
    sign("[inst [/inst [system_prompt <<sys", r"\[/?inst\]|<</?sys>>|\[/?system_prompt\]"),
    sign("_of_turn", r"<(?:start|end)_of_turn>"),
    sign("think", r"<\s?/?\s?think(?:ing)?\s?>|\[/?think(?:ing)?\]|◁/?think▷"),
    sign("scratchpad reasoning", r"<\s?/?\s?(?:scratchpad|reasoning)\s?>"),
    sign(
        "instruction system human assistant",
        r"^#{2,4}[ \t]*(?:instructions?|system|human|assistant)[ \t]*:[ \t]*$",
    ),
    sign("text-", r"</?\s?text-[0-9a-z]|<<<\s?text-[0-9a-z]|^\s?text-[0-9a-f]{4,}\s?>>>"),
    sign(
        "end",
        r"^[^\w\n]{1,12}(?:the\s+)?(?:end\s+of\s+(?:the\s+)?(?:passage|search\s+result|user\s+input"
        r"|untrusted\s+(?:text|content))|(?:passage|search\s+result)\s+ends(?:\s+here)?)[^\w\n]{0,12}$",
    ),
)
_SECTION = re.compile(
    r"<\s?(/?)\s?(passage|document|query|instructions?|rubric|system|prompt|user_input"
    r"|search_result|context|assistant)(?:\s[^<>\n]{0,200})?>"
)
_LINE_ENDS = re.compile(r"[ \t]*(?:\n|\Z)")

_HUMAN = sign("human", r"^[ \t*_#]{0,6}human[ \t*_]{0,3}:")
_ASSISTANT = sign("assistant", r"^[ \t*_#]{0,6}assistant[ \t*_]{0,3}:")
_GRADING_ASSISTANT = sign(
    "user | assistant | relevant label grade level",
    r"^[ \t*_#]{0,6}assistant[ \t*_]{0,3}:[^\n]{0,80}?\b(?:relevant|label|grade|level)\b",
)


def _ends_what_it_did_not_begin(text: str) -> bool:
    """Tell whether the mark of a section's end stands there without that of its beginning.

    A page about XML has both. A line that goes on after such a mark speaks of it.
    """
    begun: dict[str, int] = {}
    for mark in _SECTION.finditer(text):
        slash, name = mark.groups()
        if not slash:
            begun[name] = begun.get(name, 0) + 1
        elif begun.get(name, 0):
            begun[name] -= 1
        elif _LINE_ENDS.match(text, mark.end()):
            return True
    return False


# -- solved examples -----------------------------------------------------------------------------

_EXAMPLE_QUERY = sign(
    ":",
    rf"{_START}(?:query|search\s+query|anfrage|suchanfrage|consulta|查询|查詢|الاستعلام)"
    r"[*_`]{0,2}[ \t]*:",
)
_EXAMPLE_PASSAGE = sign(
    ":",
    rf"{_START}(?:passage|document|text|abschnitt|pasaje|fragmento|passagem|trecho|texto|段落|文档"
    r"|المقطع|النص)[*_`]{0,2}[ \t]*:",
)
_EXAMPLE_LABEL = sign(
    ":",
    rf"{_START}(?:{_KEY}|{_RELEVANCE_KEY})[*_`]{{0,2}}[ \t]*:[ \t]*{_OPEN}"
    rf"(?:[0-9]\b|{_GRADE_WORD}|{_SHORT_WORD})",
)


def shows_fake_answer(text: str) -> bool:
    """Tell whether a folded text shows any of the signs."""
    if (
        is_shown(_LINES, text)
        or is_shown(_MARKS, text)
        or is_shown((_IN_WORDS, _GRADING_ASSISTANT), text)
    ):
        return True
    if "{" in text and any(_is_answer(found[0]) for found in _OBJECT.finditer(text)):
        return True
    if is_shown((_HUMAN,), text) and is_shown((_ASSISTANT,), text):
        return True
    if is_shown((_GRADED_LINE,), text) and is_shown((_REASONED_LINE,), text):
        return True
    if "<" in text and _ends_what_it_did_not_begin(text):
        return True
    return all(
        is_shown((part,), text) for part in (_EXAMPLE_QUERY, _EXAMPLE_PASSAGE, _EXAMPLE_LABEL)
    )
