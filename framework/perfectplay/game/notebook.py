"""HTML tables for notebooks, which show an object by its `_repr_html_`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str = "") -> str:
    """Return a table. All texts are escaped; integers get separators and are aligned to the right."""
    head = "".join(f"<th>{escape(each)}</th>" for each in headings)
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(content: object) -> str:
    if type(content) is int:
        return f'<td style="text-align: right">{content:,}</td>'
    return f'<td style="text-align: left">{escape(str(content))}</td>'
