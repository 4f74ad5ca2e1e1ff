"""How a question about a sentence can begin, by what the sentence says; English only.

A small base model that may begin as it likes asks "What is ..." or "How long does it take ..." of
every passage. So the question is begun for it, by turning the sentence round as far as its first
verb: "The link is valid for 30 minutes" becomes "How long is the link valid". The model goes on.
The patterns know simple clauses alone; of another sentence nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from labeler.search.words import tokens

__all__ = ["beginnings"]

_NUMBER = r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?:second|minute|hour|day|week|month|year)"
_SORT = r"(?:(?:business|working|calendar|full|more)\s+)?"
_MONTH = (
    r"(?:January|February|March|April|June|July|August|September|October|November|December|May \d)"
)
_LEAD = re.compile(
    r"^(?:In|After|On|For|With|Within|Under|From|During|By|At|Before|Then|Also|However|Since|As)\b"
    r"[^,;:]{2,60},\s+"
)
_SUBJECT = r"(?P<subject>[A-Z\d€$£][\w'’/&.-]*(?:\s+[\w'’/&.-]+){0,6}?)"
_AUXILIARY = re.compile(
    rf"^{_SUBJECT}\s+(?P<verb>can|may|must|should|will|is|are|was|were)(?P<no>n't|'t|\s*not)?\s+"
    r"(?P<rest>.+)$"
)
_VERBS = re.compile(
    # Those whose form in -s is seldom a noun.
    r"(?:accept|allow|appear|arrive|ask|become|begin|belong|block|bring|buy|check|close|come|connect"
    r"|contain|continue|cost|count|cover|decide|depend|earn|end|expire|fit|follow|get|give|grow|help"
    r"|hold|include|join|keep|last|learn|leave|lose|make|mean|measure|need|open|own|produce|protect"
    r"|provide|receive|reduce|refund|remain|remove|repair|replace|require|save|see|sell|send|serve"
    r"|speak|start|stay|store|support|take|tell|use|weigh)s"
)
_ODD = {"applies": "apply", "carries": "carry", "goes": "go", "has": "have", "reaches": "reach"}
_DONE = re.compile(r"(?:\w+ed|\w+[eow]n|become|been|come|had|made|won|led)\b")
_PRESENT = re.compile(rf"^{_SUBJECT}\s+(?P<verb>{_VERBS.pattern}|{'|'.join(_ODD)})\s+(?P<rest>.+)$")
_PAST = re.compile(
    rf"^{_SUBJECT}\s+(?P<verb>[a-z]{{3,}}ed|became|began|came|gave|grew|held|led|left|lost|made|met"
    r"|ran|rose|saw|sold|took|won|wrote)\s+(?P<rest>.+)$"
)
_NO_SUBJECT = re.compile(
    r"^(?:I|It|Its|This|That|These|Those|They|He|She|We|There|Here|What|Which|Who|How|Why|If|When"
    r"|While|Whoever|Where|And|But|Or|Yes|No|Not|So|Only|Their|His|Her|Both|Others?|Some|Many|Most"
    r"|In|On|At|For|With|To|From|By|As|After|Before|During|Within|Without|Under|Our"
    r"|Also|More|Plus|Meanwhile|Because|Although|Though|Unless|Until|Once|Remember|Specify|The fact"
    r"|(?:Some|Any|No)body|(?:Any|No)thing)\b"
    r"|\b(?:that|what|whether|which|who|whose|where|it|they|he|she|we|if|when|yours|mine"
    r"|everything)\b"
    r"|\b(?:a|an|the|and|or|then)$"
)
_CASE = re.compile(
    r"(?<![Ss]ee )(?<!know )(?<!decide )\b([Ii]f|[Ww]hen)\s+((?:[^,;:.?!()\"]|(?<=\d)[.:](?=\d))+)"
)
_FINITE = re.compile(r"\b(?:is|are|was|were|will|can|must|has|have|does)\b")
_POINTS = re.compile(r"\b(?:this|that|these|those|such)\b")
_NOBODY = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|he|she|his|her|their|both|neither|then)\b"
)
_AIM = re.compile(r"^To\s+([a-z][^,;:.?!()\"]+),\s+[a-z]")
_FILLER = re.compile(
    r"(?:\s*\b(?:\d[\d.,]*|no|two|three|for|within|after|up|to|at|least|most|the|first|about|around|until|in"
    r"|on|of|by|only|another|nearly|more|less|fewer|than|over|between|since|from|before|every|each|a|an|and|or))+$"
)
_LONGEST = 14
_YES_OR_NO = 8
_FEW_WORDS = 2
_DENIED = {"can": "can't", "will": "won't"}
_NO_NOUN = re.compile(
    r"(?:and|or|of|to|in|on|at|for|from|with|plus|minus|times|dollars|euros|pounds|cents|\w+est)\b"
)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause as a question turns it: "can", "a lost card", "", "be blocked within a day".

    Whether the auxiliary was denied matters where the reason is asked for, and only there.
    """

    auxiliary: str
    subject: str
    verb: str
    rest: str
    is_denied: bool = False

    def ask(self, word: str, rest: str) -> str:
        """Begin a question with a word, or with the auxiliary where there is none."""
        first = f"{word} {self.auxiliary}" if word else self.auxiliary.capitalize()
        return " ".join(f"{first} {self.subject} {self.verb} {rest}".split())


def beginnings(sentence: str, title: str = "") -> list[str]:
    """List how a question about a sentence can begin, the most telling beginning first.

    One that ends with a question mark is the whole question. A sentence about "the link" is left
    alone unless the title speaks of a link: nobody could tell which one is meant.

    Args:
        sentence: An English sentence.
        title: The title that it stands under.
    """
    named = set(tokens(title))
    found: list[str] = []
    for line in re.split(r"\n(?=[A-Z])", sentence):
        for part in re.split(r"(?<=[.!?;])\s+|:\s+", " ".join(line.split())):
            text = _LEAD.sub("", part).rstrip(" .;!")
            clause = _clause(text[:1].upper() + text[1:])
            if clause is not None and not _is_bare(clause.subject, named):
                found += _asked(clause)
    if (match := _CASE.search(sentence)) and not _NOBODY.search(match[2]):
        words = _turned(match[2]).split()
        # Shorter says nothing; with two verbs the main clause is in it.
        if 3 <= len(words) <= _LONGEST and len(_FINITE.findall(match[2])) <= 1:  # noqa: PLR2004
            found.append(f"What happens {match[1].lower()} {' '.join(words)}?")
    if (match := _AIM.search(sentence)) and not _NOBODY.search(match[1]):
        found.append(f"How do I {' '.join(_turned(match[1]).split()[:_LONGEST])}")
    plain = [one for one in dict.fromkeys(found) if not re.search(r'["\\“”()]|\?.', one)]
    return sorted(plain, key=_is_yes_or_no)


def _is_yes_or_no(beginning: str) -> bool:
    return not beginning.startswith(("How", "What", "When", "Why", "Within", "Until", "Since"))


def _is_bare(subject: str, named: set[str]) -> bool:
    """Tell whether a subject points at something that was named before, and that isn't here."""
    words = subject.removeprefix("the ").split()
    return (
        subject.startswith("the ")
        and len(words) <= _FEW_WORDS
        and subject.islower()
        and named.isdisjoint(words)
    )


def _clause(text: str) -> _Clause | None:
    """Take a simple clause apart; None for any other."""
    for pattern in (_AUXILIARY, _PRESENT, _PAST):
        match = pattern.match(text)
        if match is None or _NO_SUBJECT.search(match["subject"]):
            continue
        if match["rest"].startswith(("and ", "or ")):
            continue  # a second verb, which would have to be turned too
        subject, verb = _turned(_lowered(match["subject"])), match["verb"]
        rest = re.sub(r"^(?:never|no longer) ", "", _turned(match["rest"]))
        if pattern is _PRESENT and not (verb == "has" and _DONE.match(rest)):
            return _Clause("does", subject, _ODD.get(verb, verb[:-1]), rest)
        if pattern is not _PAST:
            denied = match["rest"].startswith("never ") or (pattern is _AUXILIARY and match["no"])
            auxiliary = "can" if verb == "may" or (verb == "must" and denied) else verb
            if subject == "I":
                auxiliary = {"are": "am", "were": "was"}.get(auxiliary, auxiliary)
            return _Clause(auxiliary, subject, "", rest, is_denied=bool(denied))
        # What a past form comes from isn't known here: the model goes on with the verb.
        return _Clause("did", subject, "", f"{verb} {rest}")
    return None


def _asked(one: _Clause) -> Iterator[str]:
    """Give the questions that a clause answers, from "how much" to yes or no."""
    main, reason = re.split(r",?\s+because\s+(?!of\b)|$", one.rest, maxsplit=1)
    main = re.split(r"[,;(]\s*|:\s+|\s(?:if|when|unless|so that|since|while|because)\s", main)[0]
    if _POINTS.search(main):
        return
    main = re.split(r"\s(?:and|but)\s(?=(?:[a-z]+s|can|may|must|are|will|have|not)\b)", main)[0]
    past = one.auxiliary == "did"
    price = re.search(rf"[€$£]\s?\d|\b{_NUMBER}\s+(?:\w+\s+)?(?:dollars|euros|pounds)\b", main)
    if one.verb == "cost":
        yield one.ask("How much", "")
    elif price and not one.verb and one.subject != "I" and not past:
        yield f"How much {'do' if one.auxiliary in {'are', 'were'} else 'does'} {one.subject}"
    if match := re.search(rf"(?<!with )(\bwithin\s+)?\b{_NUMBER}\s+{_SORT}({_UNIT})s?\b", main):
        word = f"Within how many {match[2]}s" if match[1] else "How long"
        yield one.ask(word, "" if past else _before(main, match.start()))
    elif match := re.search(rf"\b{_NUMBER}\s+((?:[a-z]+\s)?[a-z]{{2,}}[a-rt-z]s)\b", main):
        what = "" if past or _NO_NOUN.search(match[1]) else match[1]
        if what:
            yield one.ask(f"How many {what}", _before(main, match.start()))
    if match := re.search(
        rf"\b(?:(until|since)\s+|(?:on|in|by|from)\s+)(?:\d+\s+)?(?:{_MONTH}|(?:1[5-9]|20)\d\d\b)",
        main,
    ):
        word = f"{match[1].capitalize()} when" if match[1] else "When"
        yield one.ask(word, "" if past else _before(main, match.start()))
    if reason and not past:
        denied = replace(one, auxiliary=_DENIED.get(one.auxiliary, f"{one.auxiliary}n't"))
        yield (denied if one.is_denied else one).ask("Why", main)
    if main and not past:
        words = main.split()
        end = "?" if len(words) <= _YES_OR_NO else ""
        yield one.ask("", " ".join(words[:_YES_OR_NO])) + end


def _before(text: str, end: int) -> str:
    """Give what stands before a place, without the small words that lead to it."""
    return _FILLER.sub("", text[:end].rstrip())


def _lowered(subject: str) -> str:
    """Write a subject as it stands inside a sentence: names keep their capital."""
    first, _, more = subject.partition(" ")
    common = more[:1].islower() if more else first.endswith("s")
    if (first[1:].islower() and common) or first in {"A", "An", "The"}:
        return f"{first.lower()} {more}".strip()
    return subject


def _turned(text: str) -> str:
    """Turn what is said to somebody into what that person asks."""
    turned = re.sub(r"\b[Yy]ou(?:'re| are)\b", "I am", text)
    turned = re.sub(
        r"(\b(?:to|for|with|from|by|of|both|(?:help|give|tell|send|cost|ask|allow|let)s?) )you\b",
        r"\1me",
        turned,
    )
    words = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
    return re.sub(r"\b[Yy]ou(?:rs?|rself)?\b", lambda one: words[one[0].lower()], turned)
