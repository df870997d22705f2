"""Checks the files for other distributions: PKGBUILD, spec and flake.

- Each lists exactly the build dependencies of its column in deploy/dependencies.tsv, whose first column is the list of
  deploy/packages.sh.
- Each has the version of CMakeLists.txt.
- Each is well-formed, as far as Debian has the program that checks it: bash and shellcheck, rpmspec, nix-instantiate.

Usage: distributions.py SOURCE_DIR.  Prints each violation; exit status 1 if there is one.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# In BUILD_PACKAGES for convenience, and no dependency of the programs.
CONVENIENCE = {"ccache"}


def words_of(pattern, text):
    """The words in all matches of the pattern's group, without comments."""
    found = re.findall(pattern, re.sub(r"(?m)#.*$", "", text), re.S)
    return {word for match in found for word in match.split()}


def lists_of(root):
    """{name: (file, dependencies)} of the five lists."""
    def read(name):
        return (root / "deploy" / name).read_text()

    return {
        "debian": ("packages.sh", words_of(r'BUILD_PACKAGES="([^"]*)"', read("packages.sh")) - CONVENIENCE),
        "arch": ("arch/PKGBUILD", words_of(r"(?:^|\n)(?:make)?depends=\(([^)]*)\)", read("arch/PKGBUILD"))),
        "fedora": ("rpm/fieldcost.spec", words_of(r"BuildRequires:([^\n]*)", read("rpm/fieldcost.spec"))),
        "nixpkgs": ("nix/flake.nix", words_of(r"uildInputs = with pkgs; \[([^\]]*)\]", read("nix/flake.nix"))),
    }


def check_lists(root, problems):
    lines = [line.split("\t") for line in (root / "deploy/dependencies.tsv").read_text().splitlines()
             if line and not line.startswith("#")]
    lists = lists_of(root)
    for column, distribution in enumerate(lines[0]):
        file, listed = lists[distribution]
        wanted = {line[column] for line in lines[1:]} - {"-"}
        for name in sorted(wanted - listed):
            problems.append(f"deploy/{file}: lacks {name}, which deploy/dependencies.tsv has")
        for name in sorted(listed - wanted):
            problems.append(f"deploy/{file}: {name} is not in deploy/dependencies.tsv")


def check_versions(root, problems):
    version = re.search(r"project\(fieldcost VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)
    for name, pattern in (("arch/PKGBUILD", r"(?m)^pkgver=(\S+)"), ("rpm/fieldcost.spec", r"(?m)^Version:\s*(\S+)"),
                          ("nix/flake.nix", r'version = "([^"]*)"')):
        match = re.search(pattern, (root / "deploy" / name).read_text())
        if not match or match.group(1) != version:
            problems.append(f"deploy/{name}: the version is not {version}")


def check_syntax(root, problems):
    """Runs the checkers that are installed; returns the names of those that are not."""
    missing = []
    with tempfile.TemporaryDirectory() as directory:
        for name, *command in (
                ("arch/PKGBUILD", "bash", "-n"), ("arch/PKGBUILD", "shellcheck"),
                ("rpm/fieldcost.spec", "rpmspec", "--define", f"_topdir {directory}", "-P"),
                ("nix/flake.nix", "nix-instantiate", "--store", "dummy://", "--parse")):
            if not shutil.which(command[0]):
                missing.append(command[0])
                continue
            done = subprocess.run([*command, root / "deploy" / name], capture_output=True, text=True,
                                  env={"PATH": "/usr/bin:/bin", "HOME": directory, "LC_ALL": "C.UTF-8",
                                       "NIX_STATE_DIR": directory, "NIX_STORE_DIR": directory})
            if done.returncode != 0:
                problems.append(f"deploy/{name}: {command[0]}: {(done.stdout + done.stderr).strip()}")
    return missing


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    root = Path(sys.argv[1])
    problems = []
    check_lists(root, problems)
    check_versions(root, problems)
    missing = check_syntax(root, problems)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit(1)
    print("the lists and versions of four distributions agree" +
          (f"; not checked, as not installed: {' '.join(missing)}" if missing else "; all are well-formed"))


if __name__ == "__main__":
    main()
