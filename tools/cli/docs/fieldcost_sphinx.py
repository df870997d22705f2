"""Adds cost cards to functions documented with Sphinx.

    extensions = ["fieldcost_sphinx"]
    fieldcost_cards = "cards"  # the directory that `fieldcost docs cards --output cards` has written

Each documented function whose name is in the catalogue gets its card at the top of its description,
in HTML output: functions and methods of the C and C++ domains by their name, those of the Python
domain if a C function has the same name with underscores ("zlib.crc32" and zlib_crc32). Overloads
of a C++ function get the cards of all. A function without a card stays as it is.

Developed with Sphinx 5.3 (Debian 12). The cards are HTML in which the program has escaped all names.
"""

import hashlib
import json
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ExtensionError

_DOMAINS = ("c", "cpp", "py")
_KINDS = ("function", "method", "classmethod", "staticmethod")


def _read_cards(app, config):
    """Reads the cards by function name into app.fieldcost_cards_by_name."""
    app.fieldcost_cards_by_name = {}
    if not config.fieldcost_cards:
        return
    folder = Path(app.confdir, config.fieldcost_cards)
    try:
        index = (folder / "index.json").read_bytes()
        for card in json.loads(index)["cards"]:
            app.fieldcost_cards_by_name.setdefault(card["name"], []).append(
                ((folder / card["fragment"]).read_text(encoding="utf-8"), card["link"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExtensionError(f"fieldcost_cards: cannot read the cards in {folder}: {error}; "
                             f"write them with: fieldcost docs cards --output {folder}") from error
    # Part of the configuration, so that Sphinx writes all pages again after a sync.
    config.fieldcost_contents = hashlib.sha256(index).hexdigest()


def _names_of(app, page):
    """The functions that a page describes: their names by anchor."""
    names = {}
    for domain in _DOMAINS:
        for _, name, kind, document, anchor, _ in app.env.get_domain(domain).get_objects():
            if document == page and kind in _KINDS:
                names[anchor] = name.replace(".", "_") if domain == "py" else name
    return names


def _card_on(app, page, card):
    """The card's HTML; a relative link leads from the HTML directory, wherever the page is."""
    text, link = card
    if link and not link.startswith(("http://", "https://", "/", "?", "#")):
        up = "../" * app.builder.get_target_uri(page).count("/")
        text = text.replace(f'href="{escape(link)}"', f'href="{up}{escape(link)}"')
    return text


def _add_cards(app, doctree, page):
    if app.builder.format != "html":
        return
    cards = app.fieldcost_cards_by_name
    names = _names_of(app, page) if cards else {}
    for description in doctree.findall(addnodes.desc):
        # Several signatures may share a description. Members of a class have their own.
        anchors = [anchor for signature in description if isinstance(signature, addnodes.desc_signature)
                   for anchor in signature["ids"]]
        added = sorted({names[anchor] for anchor in anchors if names.get(anchor) in cards})
        description[-1][:0] = [nodes.raw("", _card_on(app, page, card), format="html")
                               for name in added for card in cards[name]]


def setup(app):
    app.add_config_value("fieldcost_cards", "", "html")
    app.add_config_value("fieldcost_contents", "", "html")
    app.connect("config-inited", _read_cards)
    app.connect("doctree-resolved", _add_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
