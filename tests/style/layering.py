"""Checks that every include and every link edge is one the layering table allows.

Usage: layering.py SOURCE_DIR.  Prints each forbidden edge; exit status 1 if there is one.
"""

import re
import sys
from pathlib import Path

# folder -> (folders it may see beside itself, third-party headers it may include by first path part)
TABLE = {
    "common/base": ([], ["spdlog"]),
    "common/command": (["base"], ["CLI/CLI.hpp"]),
    "common/config": (["base"], ["toml++"]),
    "common/systemd": (["base"], ["systemd/"]),
    "common/shm": ([], []),
    "common/unwind": (["base"], ["Zydis/"]),
    "common/stats": (["base", "shm"], ["boost/math/", "boost/random/", "libiberty/"]),
    "common/tree": (["base", "stats"], []),
    # The tree for what names are the same in every build.
    "common/symbols": (["base", "tree"], ["elfutils/"]),
    "common/draw": (["base", "shm", "stats"], []),
    "common/recording": (["base", "stats", "tree"], []),
    "common/idle": (["base", "recording", "tree"], []),
    "common/wire": (["base", "shm", "stats", "crypto"], ["google", "zstd.h", "zlib.h", "boost/json"]),
    "common/crypto": (["base"], ["openssl"]),
    "common/http": (["base"], ["boost", "openssl"]),
    "common/serve": (["base", "config", "http", "systemd"], []),
    "common/sqlite": (["base"], ["sqlite3.h"]),
    "common/probe": (["base", "shm", "sqlite", "stats", "wire"], ["google", "boost/json"]),
    "common/catalog": (["base", "shm", "stats", "wire", "crypto", "http", "sqlite"], []),
    "agent/intercept": (["shm"], []),
    "agent/preload": (["shm", "intercept"], []),
    "agent/settings": (["base", "config", "shm", "stats", "wire"], []),
    # The wire for what a name may be, the settings for the file that tells programs of them.
    "agent/runs": (["base", "shm", "stats", "wire", "settings"], []),
    "agent/reach": (["base", "shm"], []),
    # Harvest and spool only for the package that a library is of, reach for the name of ours.
    "agent/lab": (["base", "shm", "stats", "wire", "crypto", "settings", "runs", "spool", "harvest", "reach"], []),
    "agent/lab_preload": (["shm", "intercept"], []),
    # Reach for why a function that was asked for, or a child, has no events.
    "agent/sampler": (["base", "recording", "symbols", "tree", "unwind", "intercept", "reach", "settings", "runs",
                       "trace"], []),
    "agent/idle": (["base", "idle", "recording", "sampler", "settings", "tree", "unwind"], ["bpf/"]),
    "agent/trace": (["base", "shm", "reach", "runs", "tree"], []),
    "agent/trace_preload": (["shm", "intercept"], []),
    # Consent and settings as files are read alike, and nothing else of the anonymous road.
    "agent/probe": (["base", "config", "crypto", "http", "probe", "reach", "runs", "settings", "shm", "sqlite"],
                    ["boost/json"]),
    "agent/probe_recorder": (["agent_probe", "base", "crypto", "probe", "reach", "runs", "sampler", "settings", "shm",
                              "symbols", "unwind"], []),
    "agent/probe_preload": (["shm", "intercept"], []),
    "agent/spool": (["base", "stats", "wire", "crypto", "sqlite", "settings"], []),
    "agent/harvest": (["base", "shm", "stats", "wire", "runs", "settings", "spool"], []),
    "agent/upload": (["base", "shm", "wire", "crypto", "http", "settings", "spool"], ["systemd/"]),
    "agent/policy": (["base", "shm", "stats", "wire", "crypto", "catalog", "settings", "runs", "upload"], []),
    "agent/daemon": (["base", "command", "systemd", "shm", "stats", "wire", "crypto", "settings", "runs", "spool",
                      "harvest", "upload", "policy"], ["systemd/"]),
    "aggregator": (["base", "command", "operate", "service"], []),
    "aggregator/admin": (["base", "http", "ingest", "publish", "serve", "store"], ["prometheus/", "boost/json"]),
    "aggregator/config": (["base", "config", "serve", "wire", "http", "ingest", "publish", "store"], []),
    "aggregator/upkeep": (["base", "crypto", "admin", "ingest", "publish", "store"], []),
    "aggregator/service": (["base", "serve", "systemd", "wire", "http", "admin", "aggregator_config", "ingest",
                            "publish", "store", "upkeep"], []),
    # What an operator does beside the service, or without it: never sees it.
    "aggregator/operate": (["base", "command", "crypto", "draw", "http", "serve", "admin", "aggregator_config",
                            "ingest", "publish", "store"], ["boost/json"]),
    # A file for each command, on top of what they share.
    "aggregator/operate/commands": (["base", "command", "admin", "aggregator_config", "demo", "ingest", "operate",
                                     "publish", "upkeep"], []),
    "aggregator/demo": (["base", "shm", "stats", "wire", "crypto", "http", "ingest", "publish", "store"], []),
    "aggregator/store": (["base", "shm", "stats", "wire", "crypto"], ["rocksdb"]),
    "aggregator/ingest": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    "aggregator/publish": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    # A server of its own: nothing of the one that sums.
    "aggregator/probes": (["base", "command", "config", "draw", "http", "probe", "serve", "systemd", "data", "web"],
                          []),
    "aggregator/probes/commands": (["base", "command", "draw", "accounts", "data", "probes"], []),
    "aggregator/probes/accounts": (["base", "crypto", "probe", "sqlite"], []),
    "aggregator/probes/data": (["base", "crypto", "probe", "sqlite", "accounts"], []),
    "aggregator/probes/pages": (["base", "draw", "probe"], []),
    "aggregator/probes/web": (["base", "crypto", "http", "probe", "accounts", "data", "pages"], ["boost/json"]),
    "tools/exchange": (["base", "recording", "stats", "tree", "wire"], ["boost/json"]),
    # Of drawing only what a histogram's bars are, of the wire what a lab table is.
    "tools/analysis": (["base", "shm", "stats", "tree", "wire", "draw", "idle", "recording"], []),
    # The top holds what its folders share (page, CSV, words), and the documents of the catalogue's costs.
    "tools/report": (["base", "shm", "stats", "draw", "analysis"], []),
    "tools/report/cards": (["base", "shm", "stats", "draw", "analysis", "report"], []),
    "tools/report/lab": (["base", "shm", "stats", "wire", "draw", "analysis", "report"], []),
    "tools/report/tree": (["base", "stats", "tree", "draw", "analysis", "report"], []),
    # Idle time is shown as a call tree, too.
    "tools/report/idle": (["base", "shm", "tree", "draw", "analysis", "idle", "report",
                           "tools_report_tree"], []),
    # From the bottom up: what all commands share; sessions, documentation and the instruments, each for itself but
    # idle CPUs, whose recordings are call trees; the commands.
    "tools/cli": (["base", "command", "shm", "stats", "wire", "draw", "catalog", "recording", "settings", "reach",
                   "runs", "daemon", "analysis", "report", "tools_report_tree"], ["boost/json"]),
    "tools/cli/session": (["base", "shm", "settings", "reach", "runs", "cli"], ["boost/json"]),
    "tools/cli/docs": (["base", "crypto", "report", "cards", "cli"], ["boost/json", "boost/property_tree/"]),
    "tools/cli/lab": (["base", "command", "shm", "stats", "wire", "draw", "lab", "analysis", "report",
                       "tools_report_lab", "cli"], ["boost/json"]),
    "tools/cli/probe": (["base", "command", "crypto", "draw", "probe", "sqlite", "settings", "reach", "agent_probe",
                         "cli"],
                        ["boost/json"]),
    "tools/cli/tree": (["base", "command", "stats", "draw", "tree", "recording", "idle", "exchange", "analysis",
                        "report", "tools_report_tree", "cli"], ["boost/json"]),
    "tools/cli/idle": (["base", "shm", "tree", "recording", "idle", "analysis", "cli", "tools_cli_tree"],
                       ["boost/json"]),
    "tools/cli/commands": (["base", "command", "config", "shm", "stats", "wire", "http", "sqlite", "draw", "catalog",
                            "tree", "recording", "idle", "probe", "settings", "reach", "runs", "lab", "upload",
                            "daemon", "agent_probe", "exchange", "analysis", "report", "cards", "tools_report_idle",
                            "tools_report_lab", "tools_report_tree", "cli", "session", "docs", "tools_cli_lab",
                            "tools_cli_probe", "tools_cli_tree", "tools_cli_idle"], ["boost/json"]),
    # The settings only for where a user's files are.
    "tools/lsp": (["base", "command", "shm", "stats", "wire", "catalog", "settings", "draw", "analysis", "report",
                   "cards"],
                  ["boost/json"]),
}
# A folder's library has the folder's name; the first of two such, the other one the name of its whole path.
WHERE = {}
for path in filter(lambda name: "/" in name, TABLE):
    WHERE[path.replace("/", "_") if path.split("/")[-1] in WHERE else path.split("/")[-1]] = path
# Expensive headers: exactly these files may include them, so that each is compiled once.
OWNERS = {
    "CLI/CLI.hpp": ["common/command/parse.cc"],
    "boost/math/": ["common/stats/tails.cc"],
    "boost/random/": ["common/stats/hypergeometric.cc"],
    "dwarf.h": ["common/symbols/dwarf_module.cc"],
    "elfutils/": ["common/symbols/dwarf_module.cc"],
    "gelf.h": ["common/symbols/dwarf_module.cc", "common/symbols/function_names.cc"],
    "libiberty/": ["common/stats/rust_name.cc"],
    "sodium.h": ["aggregator/probes/accounts/password.cc"],
    "spdlog/": ["common/base/log.cc"],
    "toml++/": ["common/config/toml_file.cc"],
    "Zydis/": ["common/unwind/return_path.cc"],
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
    # Those know no C++ library at all.
    if folder not in ("common/shm", "agent/intercept", "agent/preload", "agent/lab_preload",
                      "agent/probe_preload", "agent/trace_preload"):
        third_party = third_party + ["fmt/", "tl/"]
    allowed = {folder} | {WHERE[short] for short in seen}
    for number, quoted, included in includes(path):
        place = f"{name}:{number}: includes {included}"
        target = folder_of(included)
        if quoted and target:
            if target not in allowed:
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
    # Folders below without a list of their own are in the same library.
    seen = {short for path, (row, _) in TABLE.items() for short in row
            if path == folder or (path.startswith(folder + "/") and not (root / path / "CMakeLists.txt").exists())}
    text = re.sub(r"OUTPUT_NAME \S+", "", (root / folder / "CMakeLists.txt").read_text())
    for target in set(re.findall(r"fieldcost_([a-z_]+)\b", text)) - {"library", "program", "options", "test"}:
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
    print("\n".join(problems) if problems else f"{len(files)} sources follow the layering table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
