#!/usr/bin/env python3
"""Checks that sources of a library can be compiled in groups: names that are private to one mean nothing in another.

    python3 tests/style/private_names.py ROOT

Builds from scratch compile up to twelve sources of a library as one (FIELDCOST_UNITY). Development builds compile each
source alone and do not notice two kinds of problems:

- Two sources declare the same private name, in an unnamed namespace or as a static function, in one namespace. Types
  and constants always clash, functions unless they are overloads.
- A private name equals one that a header declares in the same namespace or one around it, and another source of the
  library includes that header. Calls there become ambiguous or find the private function.

Exit status 1 if there is such a name.
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
DECLARED_FUNCTION = re.compile(r"[\w:<>,&*\[\]() ]*?[\w>&*\]] [&*]*(?P<name>\w+)\(")
BORROWED = re.compile(r"using [\w:]+::(?P<name>\w+);")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


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


def declarations(path, functions):
    """Yields (namespace, whether it is private, name, kind, what distinguishes it) of each name at namespace scope."""
    text = path.read_text()
    kinds = (("alias", ALIAS), ("alias", BORROWED), ("type", TYPE), ("function", functions), ("constant", CONSTANT))
    open_names, at = [], 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        opened = OPENED.match(line)
        if opened:
            open_names.append(opened["name"] or "")
        elif line.startswith("}  // namespace"):
            open_names.pop()
        elif open_names and line[0].isalpha():
            for kind, pattern in kinds:
                found = pattern.match(text, start)
                if found and (kind != "constant" or found.end() <= at):
                    what = {"alias": line, "function": parameter_types(found.groupdict().get("parameters", ""))}
                    is_private = "" in open_names or (kind == "function" and line.startswith("static "))
                    space = "::".join(name for name in open_names if name)
                    yield space, is_private, found["name"], kind, what.get(kind)
                    break


def private_names(source):
    """Yields (namespace, name, kind, what distinguishes it) of each private declaration."""
    for space, is_private, name, kind, what in declarations(source, FUNCTION):
        if is_private:
            yield space, name, kind, what


def is_one_alias(kinds, texts):
    return set(kinds) == {"alias"} and len(set(texts)) == 1


def clashes(library, sources):
    """Describes each name that two of the sources declare privately."""
    seen = collections.defaultdict(list)
    for source in sources:
        for space, name, kind, what in private_names(source):
            seen[space, name].append((source, kind, what))
    for (space, name), places in sorted(seen.items()):
        _, kinds, texts = zip(*places)
        if len({source for source, _, _ in places}) == 1 or is_one_alias(kinds, texts):
            continue
        if set(kinds) == {"function"} and len(set(texts)) == len(places):
            continue
        yield f"{library}: {space}::{name} is private in " + " and in ".join(str(source) for source, _, _ in places)


class Headers:
    """The headers below a root and what they declare; each is read once."""

    def __init__(self, root):
        self.root = root
        self._included, self._declared = {}, {}

    def reached(self, source):
        """Returns the headers that a source includes, also by way of others."""
        found, pending = set(), [source]
        while pending:
            path = pending.pop()
            if path not in self._included:
                names = INCLUDE.findall(path.read_text())
                self._included[path] = [self.root / name for name in names if (self.root / name).exists()]
            pending += [header for header in self._included[path] if header not in found]
            found.update(self._included[path])
        return found

    def declared(self, header):
        """Returns (namespace, name): (kind, text of an alias) of what a header declares for its users."""
        if header not in self._declared:
            self._declared[header] = {(space, name): (kind, what) for space, is_private, name, kind, what
                                      in declarations(header, DECLARED_FUNCTION) if not is_private}
        return self._declared[header]


def hidden(library, sources, headers):
    """Describes each private name that another source of the library may take for one that a header declares."""
    users = collections.defaultdict(set)
    for source in sources:
        for header in headers.reached(source):
            users[header].add(source)
    public = collections.defaultdict(list)
    for header in sorted(users):
        for declared in headers.declared(header):
            public[declared].append(header)
    for source in sources:
        for space, name, kind, what in private_names(source):
            parts = space.split("::")
            for around in ("::".join(parts[:count]) for count in range(len(parts), 0, -1)):
                for header in public.get((around, name), []):
                    other_kind, other_what = headers.declared(header)[around, name]
                    others = sorted(users[header] - {source})
                    if others and not is_one_alias((kind, other_kind), (what, other_what)):
                        yield (f"{library}: {space}::{name} is private in {source} and hides the one of {header} "
                               f"from {others[0]}")


def main():
    root = pathlib.Path(sys.argv[1])
    headers = Headers(root)
    problems, count = [], 0
    for lists in sorted(root.glob("[a-z]*/**/CMakeLists.txt")):
        if lists.relative_to(root).parts[0] in ("build", "tests"):
            continue
        for library in LIBRARY.finditer(lists.read_text()):
            sources = [lists.parent / name for name in re.findall(r"[\w/]+\.cc", library[2])]
            sources = [source for source in sources if source.exists()]
            count += len(sources)
            problems += clashes(library[1], sources)
            problems += hidden(library[1], sources, headers)
    if problems:
        sys.exit("\n".join(problems) + "\nChoose another name, or move what both need to a place that both include.")
    print(f"{count} sources can be compiled in groups")


if __name__ == "__main__":
    main()
