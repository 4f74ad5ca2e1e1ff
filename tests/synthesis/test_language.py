"""In which language a question is."""

from __future__ import annotations

import pytest

from labeler.synthesis.language import language_of, speaks


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How long is the warranty of the camera?", "en"),
        ("Wie lange ist die Garantie für die Kamera?", "de"),
        ("Quelle est la durée de la garantie des caméras ?", "fr"),
        ("¿Cuál es la garantía de las cámaras?", "es"),
        ("Qual é a garantia das câmeras?", "pt"),
        ("カメラの保証期間はいつまでですか", "ja"),
        ("保証期間はいつまでですか", "ja"),
        ("相机的保修期是多长时间", "zh"),
        ("카메라의 보증 기간은 얼마입니까", "ko"),
        ("ما هي مدة ضمان الكاميرا؟", "ar"),
        ("Какой срок гарантии на камеру?", "ru"),
        ("Ποια είναι η εγγύηση;", "el"),
    ],
)
def test_script_and_small_words_tell_the_language(text: str, language: str) -> None:
    assert language_of(text) == language
    assert speaks(text, language)


@pytest.mark.parametrize("text", ["", "42?", "WPA3 DHCP", "Router Modem Kamera", "?!"])
def test_a_text_without_small_words_is_of_no_known_language(text: str) -> None:
    assert language_of(text) is None
    assert speaks(text, "en") is None


def test_a_name_in_another_script_does_not_decide() -> None:
    assert language_of("What is the meaning of the word правда in this letter?") == "en"


def test_the_first_part_of_a_tag_counts_in_any_case() -> None:
    assert speaks("Qual é a garantia das câmeras?", "pt-BR")
    assert speaks("Qual é a garantia das câmeras?", "PT")
    assert speaks("Qual é a garantia das câmeras?", "en") is False


def test_languages_of_one_script_are_not_told_apart() -> None:
    ukrainian = "Який термін гарантії на камеру?"
    assert speaks(ukrainian, "uk")
    assert speaks(ukrainian, "bg")
    assert speaks(ukrainian, "en") is False
    assert speaks("ضمانت دوربین چقدر است؟", "fa")


def test_a_language_without_a_list_stays_unclear_in_latin_letters_alone() -> None:
    norwegian_taken_for_german = "Hva er i den esken?"
    assert language_of(norwegian_taken_for_german) == "de"
    assert speaks(norwegian_taken_for_german, "nb") is None
    assert speaks("カメラの保証はいつまでですか", "nb") is False
