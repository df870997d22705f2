"""Finds the examples of README files, of every --help and of every manual page.

An example is one command line as documented, without comment or description, with continued lines joined; in pages of
section 5 and of editors, which show settings, it is a whole block.
"""

import re
import subprocess
from pathlib import Path

PROGRAMS = ("fieldcost", "fieldcostd", "fieldcost-aggregator", "fieldcost-probe-server", "fieldcost-lsp")
SETTINGS = re.compile(r"\.5$|^fieldcost-lsp\.1$")  # pages whose examples are not commands


def command_lines(text):
    """Joins lines continued by "\\" or "|", and removes comments and the descriptions next to commands."""
    text = re.sub(r"\s*\\\n\s*", " ", text)
    text = re.sub(r"\|\n\s*", "| ", text)
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in text.splitlines()]
    return [re.split(r"\s{2,}", line)[0] for line in lines if line]


def helps(binaries, words):
    """Yields each command below `words` with its --help."""
    command = [str(binaries / words[0]), *words[1:], "--help"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    yield words, text
    below = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  ([a-z-]+)  ", below, re.MULTILINE):
        yield from helps(binaries, words + [name])


def examples_of_help(text):
    blocks = re.findall(r"\bExamples?:\n((?: +.*\n?)+)", text)
    return [line for block in blocks for line in command_lines(block)]


def examples_of_page(name, text):
    section = re.search(r"^\.Sh EXAMPLES\n(.*?)(?=^\.Sh |\Z)", text, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", section[1] if section else "", re.MULTILINE | re.DOTALL)
    blocks = [block.replace("\\e", "\\").replace("\\(dq", '"') for block in blocks]
    if SETTINGS.search(name):
        return [block.strip() for block in blocks]
    return [line for block in blocks for line in command_lines(block)]


def examples_of_markdown(text):
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```\s*$", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in command_lines(block)]


def all_examples(source, binaries):
    """Returns a dictionary from each example to the places where it is documented."""
    places = {}

    def add(place, examples):
        for example in examples:
            places.setdefault(example, []).append(place)

    for path in subprocess.run(["git", "ls-files", "*.md"], cwd=source, capture_output=True, text=True,
                               check=True).stdout.split():
        add(path, examples_of_markdown((source / path).read_text()))
    for program in PROGRAMS:
        for words, text in helps(binaries, [program]):
            add(" ".join(words) + " --help", examples_of_help(text))
    for page in sorted((source / "deploy" / "man").glob("*.[1-8]")):
        add(f"{page.name}", examples_of_page(page.name, page.read_text()))
    return places
