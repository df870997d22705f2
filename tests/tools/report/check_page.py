"""Reads an HTML page from stdin and prints its problems, one per line.   check_page.py [--scripts]

Problems are: tags that do not nest, a repeated id, a reference to an id that does not exist, anything that would be
fetched or run (script, link, img, http:, url(), event handlers, style attributes), text in the style element that the
page's own policy does not permit, and a drawing or table without a text description.

--scripts: the page may have scripts that its policy permits, and JSON, which must be well-formed.
"""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "rect", "polyline", "circle"}
ALLOWED = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "article", "h1",
           "h2", "h3", "h4", "p", "code", "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr",
           "th", "td", "a", "small", "span", "details", "summary", "svg", "rect", "polyline", "circle",
           "text", "strong"}
SCRIPTED = {"script", "noscript", "canvas", "input", "label", "select", "button", "output", "g", "defs", "pattern",
            "path"}
if "--scripts" in sys.argv:
    ALLOWED |= SCRIPTED
    VOID |= {"input", "path"}


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.references, self.problems = [], [], [], []
        self.policy = ""
        self.styles, self.scripts, self.json = [], [], []

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
        if tag == "svg" and not {"aria-label", "aria-hidden"} & set(dict(attributes)):
            self.problems.append("a drawing without words")
        if tag == "meta" and dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "style":
            self.styles.append("")
        if tag == "script":
            is_json = dict(attributes).get("type") == "application/json"
            self.texts = self.json if is_json else self.scripts
            self.texts.append("")

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.styles[-1] += data
        if self.open and self.open[-1] == "script":
            self.texts[-1] += data


checker = Checker()
page = sys.stdin.read()
checker.feed(page)
checker.close()
problems = checker.problems
problems += [f"<{tag}> is not closed" for tag in checker.open]
problems += [f"id {name} twice" for name in set(checker.ids) if checker.ids.count(name) > 1]
problems += [f"no id {name}" for name in checker.references if name not in checker.ids]
for directive, texts in (("style-src", checker.styles), ("script-src", checker.scripts)):
    allowed = next((part for part in checker.policy.split(";") if directive in part), "")
    for text in texts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        if f"'sha256-{digest}'" not in allowed:
            problems.append(f"the policy does not let it through: {directive} sha256-{digest}")
    if "unsafe" in allowed or allowed.count("'sha256-") != len(texts):
        problems.append(f"the policy allows more than there is: {allowed}")
for text in checker.json:
    try:
        json.loads(text)
    except ValueError as error:
        problems.append(f"no JSON: {error}")
    problems += [f"found {found} in JSON" for found in re.findall(r"[<>&]", text)]
if "default-src 'none'" not in checker.policy:
    problems.append("the policy does not forbid everything else")
problems += [f"found {text}" for text in re.findall(r"url\(|@import|https?:|//", "".join(checker.styles))]
print("\n".join(problems), end="")
