"""Public cases of judges: what a model writes, read without a guess."""

from __future__ import annotations

import json

import pytest

from labeler.judges.spellings import spellings_of
from labeler.labels import NATIVE, TREC, Scale
from labeler.providers.reading import UnreadableAnswer, level_of, read_fields
from tests.shared import case_dir

NOT, PARTIALLY, FULLY, UNREADABLE, CUT_OFF = "not", "partially", "fully", "unreadable", "cut off"
_CODES = {"0": NOT, "1": PARTIALLY, "2": FULLY}


def code_of(text: str, scale: Scale = NATIVE) -> str:
    """Give the code that a judge's answer is read as, or raise UnreadableAnswer."""
    fields = read_fields(text, "label", ["grade", "relevance", "rating", "verdict", "score"])
    return level_of(fields["label"], spellings_of(scale))


def read(text: str) -> str:
    """Tell what becomes of an answer on Labeler's own scale."""
    try:
        return _CODES[code_of(text)]
    except UnreadableAnswer as error:
        return CUT_OFF if error.why.startswith(CUT_OFF) else UNREADABLE


def outputs(case: str) -> dict[int, str]:
    lines = (case_dir(case) / "outputs.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["output"] for row in map(json.loads, lines)}


def test_55_json_in_fences_words_and_other_notations() -> None:
    assert {key: read(text) for key, text in outputs("55").items()} == {
        **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 10), PARTIALLY),
        8: UNREADABLE,
        9: UNREADABLE,
    }


def test_56_thoughts_before_the_answer() -> None:
    assert {key: read(text) for key, text in outputs("56").items()} == {
        **dict.fromkeys((1, 3, 4, 5), NOT),
        2: CUT_OFF,
        6: PARTIALLY,
    }


def test_58_words_that_hold_a_label() -> None:
    assert {key: read(text) for key, text in outputs("58").items()} == {
        **dict.fromkeys((1, 3, 5, 8), NOT),
        **dict.fromkeys((2, 4, 6, 7, 10), UNREADABLE),
        9: FULLY,
    }


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('~~~\n{"label": "partially"}\n~~~', PARTIALLY),
        ('```JSON {"label": "partially"} ```', PARTIALLY),
        ('```json\n{"label": "partially"}', PARTIALLY),
        ('Aquí está: {"label": "partially"} ¡Listo!', PARTIALLY),
        ('好的，结果如下：\n{"label": "partially", "reason": "只说了一部分"}', PARTIALLY),
        ("{'label': 'partially', 'reason': \"it's there\", 'more': None}", PARTIALLY),
        ("{label: 'partially',}", PARTIALLY),
        ('{“label”: “partially”}', PARTIALLY),
        ('{\n  // as asked\n  "label": "partially" /* sure */\n}', PARTIALLY),
        ('"{\\"label\\": \\"partially\\"}"', PARTIALLY),
        ('{"name": "judge", "arguments": "{\\"label\\": \\"partially\\"}"}', PARTIALLY),
        ('{"answer": {"label": "partially"}}', PARTIALLY),
        ('{{"label": "partially"}}', PARTIALLY),
        ('\ufeff{"label": "partially"}', PARTIALLY),
        ('{"LABEL": " PARTIALLY_RELEVANT. "}', PARTIALLY),
        ('{"label": 1.0}', PARTIALLY),
        ('{"label": "1"}\n{"label": "1"}', PARTIALLY),
        ("label: partially\nreason: x", PARTIALLY),
        ("<label>partially</label>", PARTIALLY),
        ('{"label": "partially", "reason": "say "no""}', UNREADABLE),
        ('{"label": "partially" "reason": "x"}', UNREADABLE),
        ('{"label": partially relevant}', UNREADABLE),
        ('{"label": "partially", "label": "not"}', UNREADABLE),
        ('{"label": "partially", "grade": 2}', UNREADABLE),
        ('[{"label": "partially"}, {"label": "fully"}]', UNREADABLE),
        ('{"label": ["partially", "fully"]}', UNREADABLE),
        ('{"label": true}', UNREADABLE),
        ('{"label": null}', UNREADABLE),
        ('{"label": ""}', UNREADABLE),
        ('{"label": 0.5}', UNREADABLE),
        ('{"label": NaN}', UNREADABLE),
        ('{"label": 7}', UNREADABLE),
        ('{"relevant": "fully"}', UNREADABLE),
        ("{}", UNREADABLE),
        ("null", UNREADABLE),
        ("", UNREADABLE),
        ('{"label": "partially', CUT_OFF),
        ('```json\n{"reason": "x", "label": "partially"', CUT_OFF),
        ('[{"label": "fully"}, {"label": "par', CUT_OFF),
    ],
)  # fmt: skip
def test_55_neighbours(text: str, outcome: str) -> None:
    assert read(text) == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('<think>{"label": "fully"}</think>{"label": "not"}', NOT),
        ('{"label": "fully"}</think>\n\n{"label": "not"}', NOT),
        ("<reasoning>\nLabel: fully\n</reasoning>\nLabel: not", NOT),
        ("[THINK]Label: fully[/THINK]not", NOT),
        ("◁think▷fully◁/think▷not", NOT),
        ("<think>one</think><think>fully</think>not", NOT),
        ("not\n<think>or fully?</think>", NOT),
        ("<|channel|>analysis<|message|>fully<|end|><|channel|>final<|message|>not", NOT),
        ("analysisLabel: fully?assistantfinalnot", NOT),
        ('{"label": "not", "reason": "it ends in </think>{\\"label\\": \\"fully\\"}"}', NOT),
        ("It is fully on topic at first sight, but no: 2 products.\n\n**Final label:** not", NOT),
        ("<think>fully</think>", UNREADABLE),
        ("fully</think>", UNREADABLE),
        ("First: Label: fully? No.\nI can't tell yet", UNREADABLE),
        ("Label: fully\nNo, wait.\nFinal label: not", UNREADABLE),
        ("<think>Label: fully\n", CUT_OFF),
        ('<thinking>so {"label": "fully"}', CUT_OFF),
        ("<think>x</think><think>fully", CUT_OFF),
        ("<think>fully</thinking>not", CUT_OFF),
        ("[THINK]fully", CUT_OFF),
        ("<|channel|>analysis<|message|>Label: fully", CUT_OFF),
    ],
)  # fmt: skip
def test_56_neighbours(text: str, outcome: str) -> None:
    assert read(text) == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Not Relevant.", NOT),
        ("**not**", NOT),
        ("non-relevant", NOT),
        ("Answer: **2**", FULLY),
        ("Grade: not\nReason: it is partially about something fully different", NOT),
        ("not fully", UNREADABLE),
        ("not partially relevant", UNREADABLE),
        ("notfully", UNREADABLE),
        ("not irrelevant", UNREADABLE),
        ("fully irrelevant", UNREADABLE),
        ("partially or fully", UNREADABLE),
        ("fully?", UNREADABLE),
        ("Is it fully relevant? Yes.", UNREADABLE),
        ("Label: not fully", UNREADABLE),
        ("Label: fully, I think", UNREADABLE),
        ("Not label: fully", UNREADABLE),
        ("The label fully does not fit.", UNREADABLE),
        ("2/3", UNREADABLE),
        ("grade 2 of 3", UNREADABLE),
        ("Score: 2 out of 3", UNREADABLE),
        ("On a scale of 0 to 2, this is a 1.", UNREADABLE),
        ("O trecho não é totalmente relevante.", UNREADABLE),
        ("Rótulo: não relevante", UNREADABLE),
        ("该段落并不完全相关（not fully）。", UNREADABLE),
        ("相关性：2", UNREADABLE),
        ("I cannot label this passage as fully relevant.", UNREADABLE),
        ("Sorry, but I can't help with that.", UNREADABLE),
    ],
)
def test_58_neighbours(text: str, outcome: str) -> None:
    assert read(text) == outcome


def test_53_and_54_what_a_scale_does_not_state_is_no_label() -> None:
    for scale, word in [(NATIVE, "relevant"), (NATIVE, "maybe"), (TREC, "partially"), (TREC, "E")]:
        with pytest.raises(UnreadableAnswer):
            code_of(json.dumps({"label": word}), scale)
    assert code_of('{"label": "cannot_judge"}') == "?"
    assert code_of("unrateable", TREC) == "?"
