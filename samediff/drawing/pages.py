"""Pages of one file: everything that they need stands in them."""
from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any


def asset(name: str) -> str:
    """The text of a file that pages consist of."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(title: str, body: str) -> str:
    """A whole page.

    Examples
    --------
    >>> page("A & B", "<p>text</p>").startswith("<!DOCTYPE html>"), "<title>A &amp; B</title>" in page("A & B", "")
    (True, True)
    """
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{escape(title)}</title><style>{asset('page.css')}</style></head>\n"
            f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>\n")


def script_data(name: str, document: Any) -> str:
    """JSON for the scripts of a page, which no text inside of it can leave."""
    text = json.dumps(document).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'
