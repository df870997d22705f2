"""Checks the manual pages of deploy/man against the programs and the configuration files.

Usage: man_pages.py SOURCE_DIR BINARY_DIR.  Prints what is wrong, one line each; exit status 1 if something is.

- mandoc finds nothing to warn about, and no pair of quotes encloses a list;
- every option and command that --help prints is in its page, and the page has no other;
- every key of deploy/config/*.toml is in its page with the same value, and the page has no other.
"""

import re
import subprocess
import sys
from pathlib import Path

COMMON = {"--help", "-h", "--json", "--csv", "--no-pager", "--color", "--version"}  # of fieldcost(1) for all commands


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def help_of(program, commands):
    """Options and commands below that its --help prints."""
    text = run(program, *commands, "--help").stdout
    options = set(re.findall(r"(?<![\w'-])(--?[a-z][a-z-]*)", "\n".join(
        line.split("   ")[0] for line in text.splitlines() if re.match(r"  -", line))))
    below = text.partition("\nCommands:\n")[2].partition("\n\n")[0]
    return options, re.findall(r"^  ([a-z-]+)  ", below, re.MULTILINE)


def options_below(program, commands):
    options, below = help_of(program, commands)
    names = set(below)
    for command in below:
        more, deeper = options_below(program, commands + [command])
        options |= more
        names |= deeper
    return options, names


def options_in(page):
    options = set()
    for line in re.findall(r"^\.It (Fl .*)$", page, re.MULTILINE):
        options |= {"-" + name for name in re.findall(r"Fl (-?[a-z][a-z-]*)", line)}
    return options


def compare(what, wanted, found, problems):
    problems += [f"{what}: {name} is missing" for name in sorted(wanted - found)]
    problems += [f"{what}: there is no {name}" for name in sorted(found - wanted)]


def check_commands(man, binaries, problems):
    program = str(binaries / "fieldcost")
    top, commands = help_of(program, [])
    compare("fieldcost.1", top, options_in((man / "fieldcost.1").read_text()), problems)
    for command in commands:
        name = f"fieldcost-{command}.1"
        if not (man / name).exists():
            problems.append(f"{name} is missing")
            continue
        page = (man / name).read_text()
        options, below = options_below(program, [command])
        compare(name, options - COMMON, options_in(page), problems)
        words = set(re.findall(r"[a-z]+", " ".join(re.findall(r"^\.(?:It )?Cm (.*)$", page, re.MULTILINE))))
        problems += [f"{name}: command {word} is missing" for word in sorted(below - words)]
    for server in ("fieldcost-aggregator", "fieldcost-probe-server"):
        options, below = options_below(str(binaries / server), [])
        page = (man / f"{server}.8").read_text()
        compare(f"{server}.8", options, options_in(page), problems)
        words = set(re.findall(r"[a-z-]+", " ".join(re.findall(r"^\.(?:It )?Cm (.*)$", page, re.MULTILINE))))
        problems += [f"{server}.8: command {word} is missing" for word in sorted(below - words)]
    for page in ("fieldcostd.8", "fieldcost-lsp.1"):
        text = run(str(binaries / page[:-2]), "--help").stdout.partition("\nExamples:")[0]
        options = set(re.findall(r"--[a-z][a-z-]*", text))
        compare(page, options, options_in((man / page).read_text()), problems)


def check_settings(man, config, problems):
    for file in sorted(config.glob("*.toml")):
        name = file.name + ".5"
        if not (man / name).exists():
            problems.append(f"{name} is missing")
            continue
        section, wanted = "", set()
        for line in file.read_text().splitlines():
            if header := re.match(r"\[(\w+)\]", line):
                section = header.group(1)
            elif section and (key := re.match(r"(?:# )?([a-z]\w* = .*)$", line)):
                wanted.add(f"[{section}] {key.group(1)}")
        found = set()
        for line in (man / name).read_text().splitlines():
            if header := re.match(r"\.Ss \[(\w+)\]", line):
                section = header.group(1)
            elif key := re.match(r"\.It Va (\w+) Pq Li (.*)$", line):
                found.add(f"[{section}] {key.group(1)} = " + key.group(2).replace("\\(dq", '"'))
        compare(name, wanted, found, problems)


def main():
    source, binaries = Path(sys.argv[1]), Path(sys.argv[2])
    man = source / "deploy" / "man"
    pages = sorted(man.glob("*.[158]"))
    problems = [] if len(pages) > 10 else [f"only {len(pages)} pages in {man}"]
    for page in pages:
        lint = run("mandoc", "-T", "lint", "-W", "warning", str(page))
        problems += lint.stdout.splitlines() + lint.stderr.splitlines()
        # Ql quotes the whole rest of its line, including further words after a comma.
        problems += [f"{page.name}: one pair of quotes around several words: {line}"
                     for line in page.read_text().splitlines() if re.search(r"Ql .* (?:,|No|Ql) \S", line)]
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
            if f".Sh {section}\n" not in page.read_text():
                problems.append(f"{page.name}: no section {section}")
    check_commands(man, binaries, problems)
    check_settings(man, source / "deploy" / "config", problems)
    print("\n".join(problems) if problems else f"{len(pages)} pages fit the programs and their settings")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
