"""Checks that every include and every link edge is one the layering table allows.

Usage: layering.py SOURCE_DIR.  Prints each forbidden edge; exit status 1 if there is one.
"""

import re
import sys
from pathlib import Path

# folder -> (folders it may see beside itself, third-party headers it may include by first path part)
TABLE = {
    "common/base": ([], ["spdlog"]),
    "common/config": (["base"], ["toml++"]),
    "common/systemd": (["base"], ["systemd/"]),
    "common/shm": ([], []),
    "common/stats": (["base", "shm"], ["boost/math/", "boost/random/"]),
    "common/wire": (["base", "shm", "stats", "crypto"], ["google", "zstd.h", "zlib.h", "boost/json"]),
    "common/crypto": (["base"], ["openssl"]),
    "common/http": (["base"], ["boost", "openssl"]),
    "common/sqlite": (["base"], ["sqlite3.h"]),
    "common/catalog": (["base", "shm", "stats", "wire", "crypto", "http", "sqlite"], []),
    "agent/intercept": (["shm"], []),
    "agent/preload": (["shm", "intercept"], []),
    "agent/daemon": (["base", "config", "systemd", "shm", "stats", "wire", "crypto", "http", "sqlite", "catalog"], ["systemd/"]),
    "aggregator": (["base", "config", "systemd", "crypto", "http", "wire", "admin", "demo", "ingest", "publish", "store"], ["boost/json"]),
    "aggregator/admin": (["base", "config", "http", "ingest", "publish", "store"], ["prometheus/", "boost/json"]),
    "aggregator/demo": (["base", "stats", "wire", "crypto", "http", "ingest", "publish", "store"], []),
    "aggregator/store": (["base", "shm", "stats", "wire", "crypto"], ["rocksdb", "boost/crc.hpp"]),
    "aggregator/ingest": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    "aggregator/publish": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    "tools/report": (["base", "shm", "stats"], []),
    "tools/cli": (["base", "config", "shm", "stats", "wire", "crypto", "http", "catalog", "daemon", "report"],
                  ["CLI/CLI.hpp", "boost/json", "boost/property_tree/"]),
    # The daemon only for where a user's files are.
    "tools/lsp": (["base", "shm", "stats", "wire", "catalog", "daemon", "report"], ["boost/json"]),
}
WHERE = {name.split("/")[-1]: name for name in TABLE if "/" in name}
# Expensive headers: exactly these files may include them, so that each is compiled once.
OWNERS = {
    "boost/crc.hpp": ["aggregator/store/log_scan.cc"],
    "CLI/CLI.hpp": ["tools/cli/"],
    "boost/math/": ["common/stats/tails.cc"],
    "boost/random/": ["common/stats/hypergeometric.cc"],
    "spdlog/": ["common/base/log.cc"],
    "toml++/": ["common/config/toml_file.cc"],
}
SYSTEM = re.compile(r"^(sys|linux|arpa|net|netinet|x86_64-linux-gnu)/|^[a-z0-9_]+(\.h)?$")


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


def folder_of(name):
    best = ""
    for folder in TABLE:
        if name.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def check_file(root, path, problems):
    name = str(path.relative_to(root))
    folder = folder_of(name)
    if not folder:
        problems.append(f"{name}: its folder is not in the layering table")
        return
    seen, third_party = TABLE[folder]
    if folder not in ("common/shm", "agent/intercept", "agent/preload"):  # those know no C++ library at all
        third_party = third_party + ["fmt/", "tl/"]
    allowed = {folder} | {WHERE[short] for short in seen}
    for number, quoted, included in includes(path):
        place = f"{name}:{number}: includes {included}"
        target = folder_of(included)
        if quoted and target:
            if target not in allowed and not included.startswith(folder + "/"):
                problems.append(f"{place}, which {folder} may not see")
        elif quoted and not included.endswith(".pb.h"):
            problems.append(f"{place}: not a path from the root")
        elif not quoted and not any(included.startswith(t) for t in third_party):
            if not SYSTEM.match(included) or included in ("sqlite3.h", "zstd.h", "zlib.h"):
                problems.append(f"{place}, a library {folder} may not use")
        for expensive, owners in OWNERS.items():
            if included.startswith(expensive) and not any(name.startswith(owner) for owner in owners):
                problems.append(f"{place}: only {', '.join(owners)} may")


def check_links(root, folder, problems):
    """Link edges: the fieldcost_* targets a folder's CMakeLists.txt names for its library."""
    seen, _ = TABLE[folder]
    text = (root / folder / "CMakeLists.txt").read_text()
    for target in set(re.findall(r"fieldcost_([a-z]+)\b", text)) - {"library", "program", "options", "test"}:
        if target in WHERE and WHERE[target] != folder and target not in seen:
            problems.append(f"{folder}/CMakeLists.txt: links fieldcost_{target}, which {folder} may not see")


def main():
    root = Path(sys.argv[1])
    problems = []
    files = [p for top in ("common", "agent", "aggregator", "tools")
             for p in (root / top).rglob("*") if p.suffix in (".h", ".cc", ".S")]
    if len(files) < 20:
        problems.append(f"only {len(files)} sources found below {root}: wrong directory?")
    for path in files:
        check_file(root, path, problems)
    for folder in TABLE:
        if (root / folder / "CMakeLists.txt").exists():
            check_links(root, folder, problems)
    # Whoever includes CLI11 pays seconds for it: one header, for the sources of the command line.
    owners = [p.name for p in files if any(i == "CLI/CLI.hpp" for _, _, i in includes(p))]
    users = [p.name for p in files if any(i.endswith("/command_line_parser.h") for _, _, i in includes(p))]
    if owners != ["command_line_parser.h"] or not set(users) <= {"command_line.cc", "command_line_read.cc"}:
        problems.append("CLI11 is included beside the command line: " + ", ".join(owners + users))
    print("\n".join(problems) if problems else f"{len(files)} sources follow the layering table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
