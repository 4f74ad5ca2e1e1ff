"""From options to what a run needs: models, kinds, the split, the pack, what is compared."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from labeler.errors import NotFoundError, UsageError
from labeler.providers.embeddings import Embedder
from labeler.providers.profiles import Profile, presumed_profile, read_profile
from labeler.records import table
from labeler.records.project import Text
from labeler.records.queries import Query, QueryVersion
from labeler.records.questions import QuestionKind
from labeler.sealing.split_in_force import FrozenSplit
from labeler.sealing.split_texts import sealed_texts
from labeler.synthesis.frozen import SourceKeys, Withheld, make_pack, split_to_use
from labeler.synthesis.likeness import KnownQuestions
from labeler.synthesis.limits import GenerateLimits
from labeler.synthesis.measuring import AnswerJudge, Measuring, SealedSide
from labeler.synthesis.pack import SafePack
from labeler.synthesis.prompts import answerable_prompt, prompt_for
from labeler.synthesis.reading import Stands, question_states
from labeler.synthesis.rendering import Model
from labeler.synthesis.sealed import SealedSet
from labeler.synthesis.tasks import PASSES, PlanOptions

__all__ = [
    "DEFAULT_MODEL",
    "GenerateOptions",
    "Ground",
    "domains_of",
    "known_queries",
    "lay_ground",
    "model_named",
]

DEFAULT_MODEL = "embedded/gemma-3-270m"
"""The generator that needs no key."""
_EMBEDDED_PASSES = 8


@dataclass(frozen=True)
class GenerateOptions:
    """What is to be generated.

    Attributes:
        generator: The model that writes questions.
        judge: The model that is asked whether they can be answered; None asks none.
        per_domain: How many accepted questions each domain gets.
        domains: The domains; none means all that the pack has.
        kinds: The kinds of questions, in the order in which they take turns.
        personas: Who is to be asking, in turn.
        language: The language of the questions, or empty for that of their sources.
        seed: Decides between sources that are equal otherwise.
        split: The split's name; None takes the newest.
        review_share: Which share of the accepted questions people look at first.
        limits: What it may take.
    """

    generator: Model
    judge: Model | None = None
    per_domain: int = 10
    domains: tuple[str, ...] = ()
    kinds: tuple[QuestionKind, ...] = (QuestionKind.FACTUAL,)
    personas: tuple[str, ...] = ()
    language: str = ""
    seed: int = 0
    split: str | None = None
    review_share: float = 0.2
    limits: GenerateLimits = field(default_factory=GenerateLimits)

    def __post_init__(self) -> None:
        if self.per_domain < 1:
            raise UsageError("--per-domain is 1 or more")
        if not 0 <= self.review_share <= 1:
            raise UsageError("--review-share is a share from 0 to 1")
        if not self.kinds:
            raise UsageError(f"--kinds takes {', '.join(QuestionKind)}")
        able = prompt_for(self.kinds[0], embedded=True).kinds
        unable = [kind for kind in self.kinds if kind not in able]
        if self.generator.is_embedded and unable:
            raise UsageError(
                f"the embedded generator can't write {' and '.join(unable)} questions: it is a "
                "base model, which follows examples and no instructions",
                hint=f"`--kinds {','.join(able)}` works; for the others name a model "
                "that follows instructions by --model",
            )
        if self.generator.is_embedded and self.personas:
            raise UsageError("the embedded generator takes no --persona", hint="--model does")
        if self.judge is not None and self.judge.name == self.generator.name:
            raise UsageError(
                "the judge is the model that writes the questions, so it would mark its own work",
                hint="name another one by --judge, or leave it out",
            )
        if self.judge is not None and self.judge.is_embedded:
            raise UsageError("the embedded language model is at chance as a judge")
        self.limits.refuse_unknown_price(judged=self.judge is not None)

    def plan(self, domain: str | None) -> PlanOptions:
        """Say what a domain's plan is made for; an embedded model is asked more often."""
        passes = _EMBEDDED_PASSES if self.generator.is_embedded else PASSES
        return PlanOptions(
            domain, self.kinds, self.personas, self.language, self.seed, passes=passes
        )

    @property
    def generator_name(self) -> str:
        """The name of the assessor that writes questions."""
        return f"{self.generator.name}+generate"

    @property
    def prompt_digests(self) -> dict[str, str]:
        """The digest of each kind's prompt."""
        embedded = self.generator.is_embedded
        return {kind.value: prompt_for(kind, embedded=embedded).digest for kind in self.kinds}

    @property
    def generator_digest(self) -> str:
        """The SHA-256 of all that decides what the generator writes beside its sources."""
        content = [self.generator.settings, self.prompt_digests]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def judge_name(self) -> str:
        """The name of the assessor that is asked whether questions can be answered, or empty."""
        return "" if self.judge is None else f"{self.judge.name}+{answerable_prompt().name}"

    @property
    def judge_digest(self) -> str:
        """The SHA-256 of all that decides what that judge answers beside what it is shown."""
        content = [None if self.judge is None else self.judge.settings, answerable_prompt().digest]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def settings(self) -> dict[str, Any]:
        """What tells two jobs apart; how many questions are wanted isn't part of it."""
        return {
            "generator": self.generator.settings,
            "prompts": self.prompt_digests,
            "judge": None if self.judge is None else self.judge.settings,
            "kinds": [kind.value for kind in self.kinds],
            "personas": list(self.personas),
            "language": self.language,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Ground:
    """What a run stands on.

    Attributes:
        split: The frozen split.
        pack: The safe pack.
        sealed: The hashes of what is sealed.
        keys: The keys of the pack's chunks.
        withheld: What of train and dev shares text with something sealed.
        measuring: Measures questions.
    """

    split: FrozenSplit
    pack: SafePack
    sealed: SealedSet
    keys: Mapping[str, SourceKeys]
    withheld: Sequence[Withheld]
    measuring: Measuring


def lay_ground(
    connection: Connection,
    split_name: str | None,
    embedder: Embedder | None,
    judge: AnswerJudge | None,
) -> Ground:
    """Read the split, make the pack, and gather what new questions are compared with.

    Raises:
        NotFoundError: When there is no frozen split, or nothing in it is safe to use.
    """
    split = split_to_use(connection, split_name)
    pack, sealed, keys, withheld = make_pack(connection, split)
    if not pack.chunks:
        raise NotFoundError(
            f"the split '{split.name}' has no text in train or dev to generate from",
            hint="`labeler split show` tells what is in each part",
        )
    side = SealedSide.of(list(sealed_texts(connection, split)), sealed)
    texts = known_queries(connection, split.id)
    vectors = None
    if embedder is not None and texts:
        vectors = embedder.queries(list(texts.values()))
    known = KnownQuestions.of(texts, vectors)
    return Ground(
        split, pack, sealed, keys, withheld, Measuring(pack, side, known, embedder, judge)
    )


def known_queries(connection: Connection, split_id: int) -> dict[str, str]:
    """Read what a new question must not repeat: every wording of every query, and questions kept.

    By the query's id, or ``question N`` for one that has become no query yet.
    """
    version, query, text = table(QueryVersion), table(Query), table(Text)
    statement = (
        sa.select(query.c.external_id, version.c.version, text.c.body)
        .join(query, query.c.id == version.c.query_id)
        .join(text, text.c.id == version.c.text_id)
        .where(text.c.body.is_not(None))
        .order_by(version.c.id)
    )
    found: dict[str, str] = {}
    for name, number, body in connection.execute(statement):
        found[name if number == 1 else f"{name} (version {number})"] = body
    from labeler.records.questions import Question

    for state in question_states(connection, table(Question).c.split_id == split_id):
        if state.stands in {Stands.ACCEPTED, Stands.WAITING} and state.text is not None:
            found[f"question {state.question_id}"] = state.text
    return found


def domains_of(pack: SafePack, wanted: Sequence[str]) -> list[str | None]:
    """List the domains to generate for; None stands for documents without one.

    Raises:
        NotFoundError: When the pack has no such domain.
    """
    there = {chunk.domain for chunk in pack.chunks}
    names = sorted(name for name in there if name is not None)
    unknown = [name for name in wanted if name not in there]
    if unknown:
        listed = f"there is {', '.join(names)}" if names else "no document has a domain"
        raise NotFoundError(f"train and dev have no domain '{unknown[0]}'", hint=listed)
    if wanted:
        return list(dict.fromkeys(wanted))
    return [*names, *([None] if None in there else [])]


def model_named(connection: Connection | None, name: str, endpoint: str | None) -> Model:
    """Make a model as it will be asked, by what doctor found out or by what is presumed.

    Raises:
        MissingExtraError: When what the embedded model runs on is not installed.
        UsageError: When the address holds a password, which would be stored.
    """
    if name.startswith("embedded/"):
        from labeler.providers import embedded_language_model as embedded

        embedded.weights_path()
        parameters = {"logprobs": True, "top_logprobs": 1, "cache_prompt": True}
        mode = presumed_profile(name).mode
        return Model(name, mode, parameters, weights=embedded.digest())
    address = endpoint
    if address is None and name.startswith("openai/"):
        address = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    if address and re.search(r"://[^/]*@", address):
        raise UsageError(
            "the address holds a user or a password, which would be stored with every request",
            hint="give the key in the provider's environment variable",
        )
    address = address.rstrip("/") if address else None
    profile: Profile | None = None
    if connection is not None:
        profile = read_profile(connection, name, address)
    profile = profile or presumed_profile(name)
    more: dict[str, Any] = {"temperature": 0.0} if profile.temperature else {}
    if profile.logprobs:
        more |= {"logprobs": True, "top_logprobs": 5}
    return Model(name, profile.mode, more, address)
