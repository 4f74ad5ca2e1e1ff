"""The manifest: what is in which part, digested so that nobody can move anything unseen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

__all__ = ["group_digest", "manifest_root"]


def group_digest(leaves: Mapping[str, str]) -> str:
    """Digest a group: its members' names with the digests of their texts."""
    return _digest(sorted(leaves.items()))


def manifest_root(seed: str, scheme: str, groups: Sequence[tuple[int, str, str]]) -> str:
    """Digest a split: seed, scheme, and of each group the number, the part and the digest."""
    return _digest([seed, scheme, sorted(groups)])


def _digest(content: object) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
