"""Reads an HTML page from stdin; prints what is wrong with it, one line each.

Wrong is: tags that do not nest, an id twice, a reference to an id that is not there, anything that would
be fetched or run (script, link, img, http:, url(), event handlers, style attributes), text in the style
element that the page's own policy does not let through, a drawing or table without words.
"""

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "rect", "polyline", "circle"}
ALLOWED = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "article", "h1",
           "h2", "h3", "h4", "p", "code", "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr",
           "th", "td", "a", "small", "span", "details", "summary", "svg", "rect", "polyline", "circle",
           "text", "strong"}


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references, self.problems = [], [], [], []
        self.policy = self.style = ""

    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED:
            self.problems.append(f"<{tag}> must not be here")
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.references.append(value.removeprefix("#"))
                if not value.startswith("#"):
                    self.problems.append(f"leads outside: {value}")
            elif name == "aria-labelledby":
                self.references.append(value)
            elif name.startswith("on") or name in ("style", "src", "srcset", "action"):
                self.problems.append(f"attribute {name} of <{tag}>")
        if tag == "svg" and not dict(attributes).get("aria-label"):
            self.problems.append("a drawing without words")
        if tag == "meta" and dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data


checker = Checker()
page = sys.stdin.read()
checker.feed(page)
checker.close()
problems = checker.problems
problems += [f"<{tag}> is not closed" for tag in checker.open]
problems += [f"id {name} twice" for name in set(checker.ids) if checker.ids.count(name) > 1]
problems += [f"no id {name}" for name in checker.references if name not in checker.ids]
digest = base64.b64encode(hashlib.sha256(checker.style.encode()).digest()).decode()
if f"'sha256-{digest}'" not in checker.policy:
    problems.append(f"the policy does not let the style through: sha256-{digest}")
if "default-src 'none'" not in checker.policy:
    problems.append("the policy does not forbid everything else")
problems += [f"found {text}" for text in re.findall(r"url\(|@import|https?:|//", checker.style)]
print("\n".join(problems), end="")
