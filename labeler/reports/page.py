"""One self-contained HTML page: its own style, inline charts, nothing that is loaded.

The page forbids itself to load or run anything (a content security policy), and every text that
comes from a project is escaped by `text` or `table`; charts escape their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labeler.reports.charts import shown

__all__ = ["facts", "heading", "notes", "page", "paragraph", "table"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --quiet: #667; --edge: #d5d9e0;
  --good: #18794e; --bad: #c4320a; --open: #9a6700; --line: #2563c9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #15181c; --quiet: #9aa3ad;
  --edge: #343a42; --good: #4cc38a; --bad: #ff8b5e; --open: #e2b340; --line: #7aa9f7; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; }
th { font-weight: 600; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.note { border-left: 3px solid var(--open); padding-left: .8rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .small { font-size: 11px; } svg .quiet { fill: var(--quiet); }
svg .axis { stroke: var(--edge); } svg .mark { stroke: var(--ink); stroke-dasharray: 3 2; }
svg line.good { stroke: var(--good); stroke-width: 3; } svg circle.good { fill: var(--good); }
svg line.bad { stroke: var(--bad); stroke-width: 3; } svg circle.bad { fill: var(--bad); }
svg line.open { stroke: var(--open); stroke-width: 3; } svg circle.open { fill: var(--open); }
svg rect.line { fill: var(--line); }
svg line.line { stroke: var(--line); stroke-width: 2; } svg circle.line { fill: var(--line); }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, body: Sequence[str]) -> str:
    """Put parts that are safe already into a page.

    Args:
        title: Any text.
        body: What the functions of this module and of `labeler.reports.charts` gave.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{shown(title)}</h1>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )


def heading(words: str) -> str:
    """Give a heading."""
    return f"<h2>{shown(words)}</h2>"


def paragraph(words: str) -> str:
    """Give a paragraph."""
    return f"<p>{shown(words)}</p>"


def notes(lines: Sequence[str]) -> str:
    """Give notices, one a paragraph."""
    return "".join(f'<p class="note">{shown(line)}</p>' for line in lines)


def facts(known: Mapping[str, object]) -> str:
    """Give names and values."""
    rows = (f"<dt>{shown(name)}</dt><dd>{shown(str(value))}</dd>" for name, value in known.items())
    return f"<dl>{''.join(rows)}</dl>"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Give a table; numbers are set to the right."""
    head = "".join(f"<th>{shown(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td>undefined</td>"
    if isinstance(value, float):
        return f'<td class="number">{value + 0.0:,.3f}</td>'
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{shown(str(value))}</td>"
