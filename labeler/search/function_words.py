"""Words that hold a sentence together and tell nothing of what it is about.

For showing which words of a question are pointed out in a passage, and for a reviewer's own search
over a snapshot. Retrieval, scoring and judging leave no word out. The lists are short on purpose; a
word that can carry a meaning in a question (not, more, when, under) is on none of them, or only
where it is mostly glue.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["FUNCTION_WORDS", "telling"]

_LISTS = {
    "en": """a an and any are as at be been but by can could did do does for from had has have he
        her his how i if in into is it its may me my of on or our she should so some than that the
        their them then there these they this those to was we were what which who will with would
        you your""",
    "pt": """a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu
        foi há isso isto já mas me meu minha na nas nem no nos num numa o os ou para pela pelas
        pelo pelos por pode posso qual quais que quem se ser seu seus sua suas são também tem ter
        um uma é à às está""",
    "es": """a al algo como con cual cuál de del el ella en entre era es esa ese esta este está fue
        ha hay la las le les lo los me mi mis muy o para pero por puede que qué quien quién se ser
        si son su sus también un una unas unos y ya yo""",
    "fr": """à a au aux avec ce ces cette comme d dans de des du elle en est et être il ils j je l
        la le les leur lui ma mais me mes mon n ne nous on ou où par pour qu que quel quelle qui s
        sa se ses son sont sur un une vous y""",
    "de": """aber als am an auch auf aus bei bin bis da das dass dem den der des die du ein eine
        einem einen einer eines er es für habe haben hat ich ihr im in ist kann mein meine mit nach
        oder sich sie sind so um und uns vom von war was welche welcher welches wenn wer wie wir
        wird zu zum zur über""",
    "it": """a ai al alla anche che chi ci come con cosa da dal dalla dei del della delle di e ed è
        gli ha i il in io la le lo ma mi mia mio nel nella o per può qual quale quali quello questa
        questo se si sono su sua suo tra un una uno""",
    "nl": """aan als bij dat de deze die dit door een en er had heb heeft het hij hoe ik in is je
        kan maar me met mijn naar of om ook op te tot uit van voor waar was wat we welke wie wordt
        ze zijn zij""",
    "ar": """أن أو أي إلى إن التي الذي الذين التى الى ان او اي به بها ثم ذلك عن على علي في فى قد كان
        كانت كم كيف لا لم لها له ما ماذا متى من منذ هذا هذه هل هو هي و وهو وهي يا أين اين هم كل""",
}

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""The lists, by the first part of a BCP 47 tag; folded as search terms are."""


def telling(terms: Iterable[str], language: str | None) -> frozenset[str]:
    """Leave the function words out of a question's terms; all of them stay when nothing else would.

    Args:
        terms: The terms of one question, as `labeler.search.words` makes them.
        language: Its BCP 47 tag; None takes the language that most of the terms speak for.
    """
    every = frozenset(terms)
    known = FUNCTION_WORDS.get((language or "").partition("-")[0].casefold())
    if known is None and language is None:
        known = max(FUNCTION_WORDS.values(), key=lambda words: len(every & words))
    return every - (known or frozenset()) or every
