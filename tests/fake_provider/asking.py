"""A chat request as a judge's provider reads it: the item, the wanted form, the codes of levels."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from tests.fake_provider.settings import Settings

ABSTENTION = "?"
"""The code by which a judge says that it cannot judge."""
_LEVEL_MARK = re.compile(r"\[\[level=([^\]\s]+)\]\]")
_SCENARIO_MARK = re.compile(r"\[\[scenario=([^\]\s]+)\]\]")
QUOTABLE = "[[quotable]]"

Schema = dict[str, Any]


def text_of(message: dict[str, Any]) -> str:
    """Give the text of a message, whether it came as a string or in parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def number_of(*parts: object) -> int:
    """Turn texts into a number of 64 bits: always the same for the same texts."""
    joined = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big")


def resolved(schema: Schema, root: Schema) -> Schema:
    """Follow references and take the first choice that isn't null."""
    while True:
        if "$ref" in schema:
            target: Any = root
            for step in schema["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            schema = target
            continue
        choices = next(
            (schema[key] for key in ("anyOf", "oneOf", "allOf") if schema.get(key)), None
        )
        if choices is None:
            return schema
        schema = next((one for one in choices if one.get("type") != "null"), choices[0])


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion that is asked for."""

    body: dict[str, Any]
    authorization: str
    settings: Settings

    @property
    def model(self) -> str:
        """The model's name as it was asked."""
        return str(self.body.get("model", ""))

    @cached_property
    def digest(self) -> bytes:
        """The same for the same body, however its keys are ordered."""
        canonical = json.dumps(self.body, sort_keys=True, separators=(",", ":"))
        return blake2b(canonical.encode("ascii"), digest_size=16).digest()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        found = self.body.get("messages")
        return found if isinstance(found, list) else []

    @cached_property
    def item(self) -> str:
        """The last user message that doesn't merely ask again: examples may stand before it."""
        users = [text_of(message) for message in self.messages if message.get("role") == "user"]
        while len(users) > 1 and users[-1].lstrip().startswith(self.settings.re_asks):
            users.pop()
        return users[-1] if users else "".join(map(text_of, self.messages))

    @cached_property
    def prompt_tokens(self) -> int:
        """About how many tokens were sent: a quarter of the characters."""
        return -(-sum(len(text_of(message)) for message in self.messages) // 4)

    @cached_property
    def tool(self) -> dict[str, Any] | None:
        """The function that the answer must call, if the request offers any."""
        tools = self.body.get("tools")
        if not tools or self.body.get("tool_choice") == "none":
            return None
        function: dict[str, Any] = tools[0]["function"]
        return function

    @cached_property
    def schema(self) -> Schema | None:
        """What the answer must satisfy, if the request says it."""
        if self.tool is not None:
            return self.tool.get("parameters")
        wanted = self.body.get("response_format") or {}
        return (wanted.get("json_schema") or {}).get("schema")

    @cached_property
    def allowed(self) -> list[Any]:
        """Every code that the answer's level may take, in the schema's order."""
        properties = (self.schema or {}).get("properties", {})
        if self.schema is None or "level" not in properties:
            return list(self.settings.codes)
        level = resolved(properties["level"], self.schema)
        if "enum" in level:
            return list(level["enum"])
        if "const" in level:
            return [level["const"]]
        if level.get("type") == "integer":
            return list(range(level.get("minimum", 0), level.get("maximum", 2) + 1))
        return list(self.settings.codes)

    @cached_property
    def levels(self) -> list[Any]:
        """The codes of levels, without the one that says "cannot judge"; lowest first."""
        codes = [code for code in self.allowed if code is not None and code != ABSTENTION]
        if all(str(code).lstrip("-").isdigit() for code in codes):
            return sorted(codes, key=int)
        return codes

    @cached_property
    def marked_level(self) -> str | None:
        """The level that the item's text asks for by ``[[level=CODE]]``."""
        found = _LEVEL_MARK.search(self.item)
        return found[1] if found else None

    @cached_property
    def marked_scenario(self) -> str | None:
        """The scenario that the item's text asks for by ``[[scenario=NAME]]``."""
        found = _SCENARIO_MARK.search(self.item)
        return found[1] if found else None

    @cached_property
    def quotable(self) -> str:
        """The longest line of the item that is marked ``[[quotable]]``, or nothing."""
        if QUOTABLE not in self.item:
            return ""
        lines = [line.strip() for line in self.item.splitlines() if QUOTABLE in line]
        return max(lines, key=len)
