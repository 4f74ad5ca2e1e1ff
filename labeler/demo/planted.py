"""The planted misses as files: runs that miss known evidence, and the labels that know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labeler.demo.project import DemoProject, PlantedMiss

__all__ = ["KNOWN", "planted_files", "planted_hits"]

KNOWN = "planted/known.qrels"
"""The file with the labels."""

_FULLY = 2


def planted_files(demo: DemoProject) -> Mapping[str, bytes]:
    """Give each planted run and the labels, by file name, as TREC files."""
    files: dict[str, list[str]] = {}
    for miss in demo.misses:
        lines = files.setdefault(f"planted/{miss.run}.run", [])
        for rank, chunk in enumerate(planted_hits(demo, miss), start=1):
            lines.append(f"{miss.query} Q0 {chunk} {rank} {100 - rank} {miss.run}\n")
    known = (f"{miss.query} 0 {miss.relevant} {_FULLY}\n" for miss in demo.misses)
    return {
        **{name: "".join(lines).encode("utf-8") for name, lines in files.items()},
        KNOWN: "".join(known).encode("utf-8"),
    }


def planted_hits(demo: DemoProject, miss: PlantedMiss) -> Sequence[str]:
    """Give what the run returns for the query of a miss, best first."""
    if not miss.filler:
        return miss.hits
    near = miss.relevant.partition("#")[0]
    others = [
        chunk.id for chunk in demo.chunks if chunk.id not in miss.hits and chunk.document.id != near
    ]
    return (*miss.hits, *others[: miss.filler], miss.relevant)
