"""Signs that a passage gives a judge orders, or claims a grade for itself.

An honest text may speak of judges, grades and instructions. So a sign takes more than such a word:
earlier instructions that are to be ignored, a judge who is spoken to, a grade that is ordered for
this very passage.
"""

from __future__ import annotations

from labeler.judges.suspicion.signs import Sign, sign

__all__ = ["ORDERS"]


def _words(most: int) -> str:
    """Up to so many words, as few as possible."""
    return rf"(?:\w+\s+){{0,{most}}}?"


def _gap(most: int) -> str:
    """Up to so many words with what stands between them."""
    return rf"(?:\W+\w+){{0,{most}}}?\W+"


_ADVERB = r"(?:fully|highly|perfectly|completely|entirely|totally|partially|very|most|extremely)"
# The grade ends its clause: "rate highly relevant content" gives no grade.
_GRADE = (
    rf"(?:{_ADVERB}[\s_-]+relevant|relevant\s*[=:]\s*[1-9])"
    r"(?=[\"'”’»`*_)\]]|\s*(?:[.,;:!?\n)]|\Z)"
    r"|\s+(?:to|for|no|whatever|regardless|because|since|without|please|always)\b"
    r"|\s+and\s+(?:nothing|no|do|give|stop|set|ignore|skip)\b)"
)
_QUOTE = r"[\"'“”‘’«»„`*(\[{]{0,3}"
_THIS = r"(?:this|the\s+(?:above|present|current|following))\s+"
_PASSAGE = r"(?:passage|document|text|result|answer|snippet|chunk)"
_JUDGE = r"(?:judge|grader|assessor|annotator|evaluator|rater|labell?er)"
_NOT_OF_COURTS = (
    r"(?:(?:graders?|assessors?|annotators?|evaluators?|raters?|labell?ers?)"
    r"|(?:relevance|search|retrieval|ranking|ai|llm|model|automated|automatic)\s+"
    r"(?:judges?|reviewers?|checkers?|scorers?))"
)
_MACHINE = r"(?:ai|llm|gpt|chatgpt|chatbot|(?:large\s+)?language\s+model)s?"
_TOP = r"(?:highest|maximum|max|top|best|full|perfect)"
_MARK = r"(?:grade|score|label|rating|level|mark|code)s?"

_IGNORING = "ignor disregard forget discard skip bypass follow obey attention"
_IGNORE = (
    r"(?<!not )(?<!n't )(?<!n’t )(?<!never )\b(?:ignore|disregard|forget|discard|skip|bypass"
    r"|(?:do\s+not|don.?t)\s+(?:follow|obey)|pay\s+no\s+attention\s+to|stop\s+following)\s+"
)
_EARLIER = r"(?:all|any|every|your|previous|prior|above|earlier|preceding|foregoing|original)"

_OF_IGNORING = (
    sign(
        f"{_IGNORING} | instruction prompt rubric guideline directive criteria message",
        _IGNORE + _words(3) + rf"{_EARLIER}\s+" + _words(3),
        r"(?:instructions?|prompts?|rubrics?|guidelines|directives?|criteria|system\s+messages?)\b",
    ),
    sign(
        f"{_IGNORING} | direction order command rule message",
        _IGNORE + _words(2) + r"(?:previous|prior|earlier|above|preceding|foregoing)\s+",
        r"(?:\w+\s+)?(?:directions|orders|commands|rules|messages)\b",
    ),
    sign(
        f"{_IGNORING} | instruction prompt rubric rule",
        _IGNORE + r"(?:the\s+|these\s+|those\s+)?(?:instructions?|prompts?|rubrics?|rules)\s+",
        r"(?:given\s+|written\s+|stated\s+)?(?:above|prior|before|earlier|so\s+far)\b",
    ),
    sign(
        f"{_IGNORING} | rubric prompt message criteria instruction rule",
        _IGNORE + r"(?:the|this|that|its)\s+(?:rubric|system\s+(?:prompt|message)",
        r"|(?:grading|judging|labell?ing|relevance)\s+(?:rubric|criteria|instructions?|rules))\b",
    ),
    sign(
        f"{_IGNORING} | told instructed given above before",
        _IGNORE + r"(?:everything|anything|all|whatever|what)\s+(?:that\s+)?(?:you\s+(?:were|are"
        r"|have\s+been)\s+(?:told|instructed|given)|(?:\w+\s+){0,2}?(?:above|before\s+this))\b",
    ),
    sign(
        "overrid overrul",
        r"\b(?:override|overrule)s?\s+" + _words(3),
        rf"{_EARLIER}\s+" + _words(3) + r"(?:instructions?|prompts?|rubrics?|system\s+messages?)\b",
    ),
)

_OF_ROLES = (
    # A text may speak of a judge in court; one that is told how to answer is another.
    sign("now", rf"\byou\s+are\s+now\s+(?:an?|the)\s+{_words(3)}{_JUDGE}\b"),
    sign(
        "you",
        rf"\byou\s+are\s+(?:an?|the)\s+{_words(3)}(?:relevance|search|retrieval)\s+{_JUDGE}\b",
    ),
    sign(
        "only always",
        rf"\byou\s+are\s+(?:an?|the)\s+{_words(3)}{_JUDGE}\s+(?:that|who|which)\s+"
        r"(?:only|always)\b",
    ),
    sign(
        "now",
        r"\bfrom\s+now\s+on\b[^.\n]{0,80}?(?:\brelevant\b"
        rf"|\b{_MARK}\s*(?:is|of|as|[=:])?\s*{_QUOTE}[0-9]\b)",
    ),
    sign(
        "act behave pretend role imagin simulat | always only whatever matter without relevant",
        r"\b(?:act|behave|pretend|role-?play|imagine|simulate)\b[^.\n]{0,40}?"
        rf"\b(?:{_JUDGE}|{_MACHINE}|assistant)\b[^.\n]{{0,60}}?"
        r"(?:\b(?:always|only|whatever|no\s+matter|without)\b|\brelevant\b)",
    ),
    sign(
        "system developer",
        r"^[^\w\n]{0,20}(?:system|developer)[ \t]*(?:prompt|message|instruction|note|role"
        r"|override|update)?[ \t]*(?:[\])]{1,2}|[*>]{0,3}[ \t]*[:>-]{1,3})\s*(?:\W{0,3}you\b"
        r"|from\s+now\s+on|(?:always\s+)?(?:ignore|rate|grade|treat|mark|label|judge)\s+"
        r"(?:this|the|every|all|any|it)\b)",
    ),
    sign("system", r"^[^\w\n]{0,20}(?:system\s+override|new\s+system\s+(?:prompt|message))\b"),
    sign(
        "instruction prompt rubric rule",
        r"\b(?:new|updated|revised)\s+(?:system|judging|relevance|labell?ing)\s+"
        r"(?:prompts?|instructions?|rubrics?|rules?)\s*:",
    ),
)

_OF_SPEAKING_TO_JUDGES = (
    sign(
        "assistant ai llm grader evaluator rater assessor annotator",
        r"(?:^|[.!?]\s+)(?:hey\s+|ok\s+)?(?:assistant|ai|llm|grader|evaluator|rater|assessor"
        r"|annotator)\s*,\s*(?:please\s+|just\s+)?(?:when\s+you|you\s+(?:must|should)|say|answer"
        r"|rate|grade|mark|label|give|ignore)\b",
    ),
    sign("hey", rf"\bhey\W{{1,3}}(?:\w+\s+)?{_MACHINE}\b(?=\s*[:,.!–—-])"),
    sign(
        "ever",
        r"\bwho(?:m|so)?ever\s+(?:is\s+)?(?:rat|grad|judg|evaluat|label|annotat|scor)(?:e?s|ing)\s+"
        rf"this(?:\s*[:,.;!]|\s+{_PASSAGE}|\s*\Z)",
    ),
    sign(
        "must should have are",
        rf"\b(?:{_JUDGE}s|{_MACHINE})\s+(?:must|should|have\s+to|are\s+to)\s+[^.\n]{{0,40}}?"
        rf"\bthis\s+(?:{_PASSAGE}|page)\b",
    ),
    sign(
        "<!--",
        rf"<!--\s*(?:(?:to|for)\s+)?(?:the\s+)?(?:{_JUDGE}s?|{_MACHINE})\s*[:,–—-]",
    ),
    sign(
        "note message notice reminder attention dear hello",
        r"\b(?:(?:note|message|notice|reminder)\s+(?:to|for)(?:\s+(?:the|all|any|our|every))?"
        rf"|attention|dear|hello)\W{{1,3}}(?:\w+\s+)?{_NOT_OF_COURTS}\b",
    ),
    sign(
        "judge",
        r"\b(?:note|message|reminder)\s+(?:to|for)(?:\s+(?:the|all|any))?\s+judges?\s*[:–—-]",
    ),
    sign(
        "judge",
        r"\b(?:dear|attention|hello)\W{1,3}judges?\b[^\n]{0,160}?"
        r"\b(?:relevan\w+|passage|query|label)\b",
    ),
    sign(
        "note message attention dear hello",
        r"\b(?:(?:note|message)\s+(?:to|for)(?:\s+(?:the|all|any))?|attention|dear|hello)"
        rf"\W{{1,3}}(?:\w+\s+){{0,2}}?{_MACHINE}\b"
        r"(?=\s*[:,.!–—-]|\s+(?:reading|evaluating|judging|grading|model|assistant|system))",
    ),
    sign(
        "you",
        rf"\bif\s+you(?:\s+are|.re)\s+(?:an?\s+)?(?:\w+\s+)?{_MACHINE}\b"
        r"(?:\s*[,:]|[^.\n]{0,60}?\b(?:relevan\w+|grad(?:e|ing)|rat(?:e|ing)|scor\w+|label\w*"
        r"|judging|evaluating|instructions?|ignore)\b)",
    ),
    sign(
        "you",
        rf"\bas\s+(?:an?|the|your|our)\s+{_words(2)}(?:{_JUDGE}|{_MACHINE})\W{{1,3}}you\s+"
        r"(?:should|must|will|shall|have\s+to|need\s+to|are\s+\w+\s+to)\b[^.\n]{0,120}?"
        rf"(?:\brelevant\b|\b{_THIS}{_PASSAGE}\b"
        rf"|\b{_MARK}\s*[:=]?\s*{_QUOTE}[0-9]\b)",
    ),
)

_OF_GRADES = (
    sign(
        "relevant",
        r"\b(?:answer|respond|reply|output|label|rate|grade|mark|score|classify)\s+"
        rf"(?:\w+\s+){{0,3}}{_QUOTE}{_GRADE}",
    ),
    sign(
        "relevant",
        r"\b(?:answer|respond|reply|output|return|print|say|write|label|rate|grade|mark|score"
        r"|classify|judge|consider|choose|treat|set|report)\s+"
        rf"{_words(2)}this\s+{_PASSAGE}\s+{_words(4)}{_QUOTE}(?:{_ADVERB}\s+)?relevant\b",
    ),
    sign(
        "relevant",
        rf"\b(?:call|mark|rate|grade|label|score)\s+this\s+(?:as\s+)?{_QUOTE}(?:{_ADVERB}\s+)?"
        r"relevant\b",
    ),
    sign(
        "relevant | always only just",
        r"\b(?:always|only|just)\s+(?:return|output|say|give|choose|print)\s+" + _QUOTE + _GRADE,
    ),
    sign(
        "rating grade score label",
        rf"\b(?:rating|grade|score|label)\s+(?:of|for)\s+this\s+(?:passage|document|text|snippet)"
        rf"\s*(?:is|[:=])\s*{_QUOTE}[0-9](?![.,]?\d|\s*(?:/|of\b|out\b))",
    ),
    sign(
        "relevant",
        rf"\bthis\s+{_PASSAGE}\s+(?:is|must\s+be|should\s+be|has\s+to\s+be|deserves|counts\s+as)"
        rf"\s+{_words(3)}{_QUOTE}{_GRADE}",
    ),
    sign(
        "relevant",
        rf"\bthis\s+{_PASSAGE}\s+(?:must|should|has\s+to|ought\s+to)\s+be\s+"
        r"(?:graded|rated|labell?ed|marked|scored|judged|classified|considered|treated)\s+"
        rf"{_words(2)}{_QUOTE}(?:{_ADVERB}\s+)?relevant\b",
    ),
    sign(
        "relevant",
        rf"\bthis\s+(?:{_PASSAGE}|page)\s+(?:has\s+been|was|is)\s+(?:already\s+|manually\s+)?"
        r"(?:verified|rated|judged|graded|labell?ed|marked|confirmed|certified)\s+"
        rf"(?:as\s+|to\s+be\s+)?{_QUOTE}{_ADVERB}[\s_-]+relevant\b",
    ),
    sign(
        "answer match response",
        r"\bthis\s+(?:passage|document|text|snippet|page)\s+is\s+the\s+(?:perfect|exact"
        r"|ideal|complete|correct)\s+(?:answer|match|response)\b",
    ),
    sign(
        "all every each | text passage document result",
        r"\b(?:all|every|each)\s+(?:texts?|passages?|documents?|results?)\s+(?:is|are|must\s+be"
        r"|should\s+be)\s+(?:now\s+|to\s+be\s+)?(?:rated|graded|labell?ed|marked|scored)\s+"
        rf"(?:as\s+|with\s+)?{_QUOTE}(?:[0-9](?![.,]?\d|\s*[-–]|\s+to\b)|{_ADVERB}\s+relevant)",
    ),
    sign(
        "only nothing",
        r"\b(?:respond|reply|answer|output)\s+(?:only\s+(?:with\s+)?|with\s+only\s+)"
        rf"(?:the\s+)?(?:(?:number|digit|code|{_MARK})\s+)?{_QUOTE}[0-9](?![.,]?\d|\s+\w)",
    ),
    sign(
        "nothing else",
        rf"\b(?:respond|reply|answer|output|return|say|print)\b[^.\n]{{0,40}}?{_QUOTE}[0-9]"
        r"[\"'”’]?\s+and\s+nothing\s+else\b",
    ),
    sign(
        "grade label",
        rf"\b(?:grade|label)\s+it\s+(?:as\s+|with\s+|an?\s+)?{_QUOTE}[0-9][\"'”’]?\s*(?:[.!](?:\s|\Z)|\Z)",
    ),
    sign(
        "answer address satisf match cover meet",
        rf"\bthis\s+(?:{_PASSAGE}|page)\s+(?:fully|completely|perfectly|entirely|exactly)\s+"
        r"(?:answers|addresses|satisfies|matches|covers|meets)\s+(?:the|this|your|any|every|all)\s+"
        r"(?:\w+\s+)?(?:query|queries|question|search|information\s+needs?)\b",
    ),
    sign(
        "give assign award deserve",
        rf"\b(?:give|assign|award)\s+{_THIS}{_PASSAGE}\s+{_words(4)}(?:{_TOP}|[0-9]{{1,3}})\b",
    ),
    sign("deserve merit", rf"\bthis\s+{_PASSAGE}\s+(?:deserves|merits)\s+{_words(3)}{_TOP}\b"),
    sign(
        "relevance relevant",
        r"\b(?:give|assign|award|answer|output|return|report|use|choose|set)\b"
        rf"{_gap(6)}{_TOP}\s+(?:possible\s+)?relevance\s+{_MARK}\b",
    ),
    sign(
        "passage document text snippet chunk | rate grade score label mark",
        rf"\b(?:rate|grade|score|label|mark)\s+{_THIS}(?:passage|document|text|snippet|chunk)\s+"
        rf"(?:(?:with|as|at|an?|the)\s+){{0,2}}(?:{_MARK}\s+(?:of\s+)?)?{_QUOTE}[0-9]{{1,3}}\b"
        r"(?![.,]?\d|\s*[-–])",
    ),
    sign(
        "only always",
        r"\b(?:only|always)\s+(?:answers?|responds?|repl(?:y|ies)|says?|rates?|grades?)\s+(?:with\s+|as\s+)?(?:the\s+)?(?:number\s+|digit\s+|label\s+|grade\s+"
        rf"|score\s+|level\s+)?{_QUOTE}(?:[0-9]{{1,3}}(?![.,]?\d|\s*%|\s+\w)|relevant\b|fully\b)",
    ),
    sign(
        "grade label score level",
        r"\b(?:correct|right|expected|true|gold|required|only\s+acceptable|only\s+valid)\s+"
        r"(?:relevance\s+)?(?:grade|label|score|level|code)\s+(?:here\s+)?"
        rf"(?:for\s+{_THIS}{_PASSAGE}\s+)?"
        rf"(?:is|must\s+be|=|:)\s*{_QUOTE}(?:[0-9]\b(?![.,]\d)|fully\b|{_GRADE})",
    ),
    sign(
        "relevance",
        r"\brelevance\s+(?:grade|label|score|level|rating)\s+(?:must|should|has\s+to)\s+be\s+"
        rf"(?:set\s+to\s+)?{_QUOTE}(?:[0-9]|fully\b|{_TOP}\b)",
    ),
    sign("relevant", r"[\"“„«「『`']fully[\s_-]relevant[\"”“»」』`']"),
    # Letters that stood apart one by one come together without blanks between their words.
    sign(
        "ignoreall ignoreany ignorethe ignoreyour ignoreprevious ignoreprior ignoreabove "
        "ignoreevery disregard forgetall",
        r"(?:ignore|disregard|forget)(?:all|any|the|every|your|previous|prior|above|earlier){1,4}"
        r"(?:instruction|prompt|rubric)",
    ),
    sign(
        "fullyrelevant perfectlyrelevant",
        r"(?:answer|rate|grade|label|mark|score|as|is|be)(?:fully|perfectly)relevant",
    ),
)

ORDERS: tuple[Sign, ...] = (*_OF_IGNORING, *_OF_ROLES, *_OF_SPEAKING_TO_JUDGES, *_OF_GRADES)
"""The signs in English; `labeler.judges.suspicion.orders_abroad` has those in other languages."""
