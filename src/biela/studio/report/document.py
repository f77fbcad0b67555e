"""The page of a report: chapters of fragments, with a style for the screen and one for paper.

Nothing is asked of the network: style, figures and the player are inside of the file, and a policy
in its head forbids a browser to fetch anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Final

from biela.studio.report.fragments import Fragment, fragment_style

__all__ = ["Chapter", "document"]

#: What the page may load: what it has in itself.
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


@dataclass(frozen=True)
class Chapter:
    """A heading and what stands below it."""

    title: str
    fragments: tuple[Fragment, ...]

    @property
    def anchor(self) -> str:
        """What links point at."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


def document(
    title: str, lead: Sequence[str], cards: Sequence[tuple[str, str]], chapters: Sequence[Chapter]
) -> str:
    """The text of the page.

    Args:
        title: Of the page.
        lead: Lines below it; the last says when it was made.
        cards: Figures at a glance, labels and texts.
        chapters: All the rest.
    """
    style = files("biela.studio.report").joinpath("report.css").read_text(encoding="utf-8")
    links = "".join(
        f'<li><a href="#{chapter.anchor}">{escape(chapter.title)}</a></li>' for chapter in chapters
    )
    told = "".join(f"<p>{escape(line)}</p>" for line in lead[:-1] if line)
    last = f'<p class="made">{escape(lead[-1])}</p>' if lead else ""
    glance = "".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>" for label, text in cards
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{fragment_style()}{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{told}{last}</header>\n"
        f"<nav><ol>{links}</ol></nav>\n<main class='biela'>\n"
        + (f'<dl class="cards">{glance}</dl>\n' if glance else "")
        + "\n".join(map(_chapter, chapters))
        + "\n</main>\n</body>\n</html>\n"
    )


def _chapter(chapter: Chapter) -> str:
    inside = "\n".join(
        f"<section><h3>{escape(fragment.title)}</h3>{fragment.html}</section>"
        if fragment.title
        else fragment.html
        for fragment in chapter.fragments
    )
    return (
        f'<section class="chapter" id="{chapter.anchor}"><h2>{escape(chapter.title)}</h2>\n'
        f"{inside}</section>"
    )
