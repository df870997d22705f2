"""Checks that inputs.txt lists a fuzz target, or a reason for none, for every source that reads external bytes.

Usage: inputs.py SOURCE_DIRECTORY
"""

import re
import sys
from pathlib import Path

COMPONENTS = ("agent", "aggregator", "common", "tools")


def sources_with_untrusted_bytes(root):
    found = set()
    for component in COMPONENTS:
        for path in (root / component).rglob("*"):
            if path.suffix not in (".h", ".cc"):
                continue
            code = "\n".join(line.split("//")[0] for line in path.read_text(errors="replace").split("\n"))
            if re.search(r"\buntrusted_\w", code):
                found.add(str(path.relative_to(root).with_suffix("")))
    return found


def read_table(text):
    """Returns the targets by source (empty for 'none')."""
    table, targets = {}, []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        sources = line
        if not line.startswith(" "):
            if line.startswith("none, "):
                targets, sources = [], line.rsplit(":", 1)[1]
            else:
                head, sources = line.split(":", 1)
                targets = head.split()
        for source in sources.split():
            if source in table:
                raise SystemExit(f"inputs.txt: {source} is listed twice")
            table[source] = targets
    return table


def problems(table, needed, existing, targets):
    for source in sorted(needed - table.keys()):
        yield f"{source} handles something untrusted_ and is not in tests/fuzz/inputs.txt: name its fuzz target"
    for source in sorted(table):
        if source not in existing:
            yield f"inputs.txt names {source}, which does not exist"
        for target in table[source]:
            if target not in targets:
                yield f"inputs.txt names the target {target}, which tests/fuzz/CMakeLists.txt does not have"
    for target in sorted(targets - {target for names in table.values() for target in names}):
        yield f"the target {target} has no source in inputs.txt"


def seedless(root, targets):
    for target in sorted(targets):
        corpus = root / "tests/fuzz/corpus" / target
        if not corpus.is_dir() or not any(corpus.iterdir()):
            yield f"the target {target} has no seeds in {corpus.relative_to(root)}"


def main():
    root = Path(sys.argv[1])
    table = read_table((root / "tests/fuzz/inputs.txt").read_text())
    targets = set(re.findall(r"^fieldcost_fuzzer\((\w+)", (root / "tests/fuzz/CMakeLists.txt").read_text(), re.M))
    existing = {source for source in table if any((root / f"{source}{suffix}").exists() for suffix in (".h", ".cc"))}
    found = [*problems(table, sources_with_untrusted_bytes(root), existing, targets), *seedless(root, targets)]
    print("\n".join(found) if found else f"{len(table)} sources, {len(targets)} targets")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
