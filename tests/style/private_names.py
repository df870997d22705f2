#!/usr/bin/env python3
"""Checks that sources of a library can be compiled in groups: no two declare the same private name.

    python3 tests/style/private_names.py ROOT

Builds from scratch compile up to twelve sources of a library as one (FIELDCOST_UNITY). Names in unnamed namespaces
then clash if two sources of one namespace declare them: types and constants always, functions unless they are
overloads. Development builds compile each source alone and do not notice. A private function that hides a public one
from the other sources of its group is not found here. Exit status 1 if a name clashes.
"""
import collections
import pathlib
import re
import sys

LIBRARY = re.compile(r"^fieldcost_library\((\w+)([^)]*)\)", re.M)
OPENED = re.compile(r"namespace(?: (?P<name>[\w:]+))? \{")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum|union) (?P<name>\w+)(?= [{:]|;)")
ALIAS = re.compile(r"(?:using|namespace) (?P<name>\w+) = ")
FUNCTION = re.compile(r"[\w:<>,&*\[\] ]*?[\w>&*\]] [&*]*(?P<name>\w+)\((?P<parameters>.*?)\)[\w ]* \{", re.S)
CONSTANT = re.compile(r"[\w:<>,&*\[\]() ]*? [&*]*(?P<name>k[A-Z]\w*)(?=\[| =|\{|;)")


def parameter_types(text):
    """The types of a parameter list, without names and defaults."""
    types, depth, part = [], 0, ""
    for character in text + ",":
        depth += (character in "<({[") - (character in ">)}]")
        if character == "," and depth == 0:
            words = part.split("=")[0].split()
            types.append(" ".join(words[:-1] if len(words) > 1 else words))
            part = ""
        else:
            part += character
    return tuple(types)


def private_names(source):
    """Yields (namespace, name, kind, what distinguishes it) of each declaration in an unnamed namespace."""
    text = source.read_text()
    open_names, at = [], 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        opened = OPENED.match(line)
        if opened:
            open_names.append(opened["name"] or "")
        elif line.startswith("}  // namespace"):
            open_names.pop()
        elif open_names and open_names[-1] == "" and line[0].isalpha():
            space = "::".join(name for name in open_names if name)
            for kind, pattern in (("alias", ALIAS), ("type", TYPE), ("function", FUNCTION), ("constant", CONSTANT)):
                found = pattern.match(text, start)
                if found and (kind != "constant" or found.end() <= at):
                    what = {"alias": line, "function": parameter_types(found.groupdict().get("parameters", ""))}
                    yield space, found["name"], kind, what.get(kind)
                    break


def clashes(library, sources):
    seen = collections.defaultdict(list)
    for source in sources:
        for space, name, kind, what in private_names(source):
            seen[space, name].append((source, kind, what))
    for (space, name), places in sorted(seen.items()):
        if len({source for source, _, _ in places}) == 1:
            continue
        if {kind for _, kind, _ in places} == {"alias"} and len({what for _, _, what in places}) == 1:
            continue
        if {kind for _, kind, _ in places} == {"function"} and len({what for _, _, what in places}) == len(places):
            continue
        yield f"{library}: {space}::{name} is private in " + " and in ".join(str(source) for source, _, _ in places)


def main():
    root = pathlib.Path(sys.argv[1])
    problems, count = [], 0
    for lists in sorted(root.glob("[a-z]*/**/CMakeLists.txt")):
        if lists.relative_to(root).parts[0] in ("build", "tests"):
            continue
        for library in LIBRARY.finditer(lists.read_text()):
            sources = [lists.parent / name for name in re.findall(r"[\w/]+\.cc", library[2])]
            sources = [source for source in sources if source.exists()]
            count += len(sources)
            problems += clashes(library[1], sources)
    if problems:
        sys.exit("\n".join(problems) + "\nChoose another name, or move what both need to a place that both include.")
    print(f"{count} sources can be compiled in groups")


if __name__ == "__main__":
    main()
