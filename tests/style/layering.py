"""Checks that every include and every link edge is one the layering table allows.

Usage: layering.py SOURCE_DIR.  Prints each forbidden edge; exit status 1 if there is one.
"""

import re
import sys
from pathlib import Path

# folder -> (folders it may see in addition to itself, third-party headers it may include by first path part)
TABLE = {
    "common/base": ([], ["spdlog"]),
    "common/json": (["base"], ["boost/json"]),
    "common/command": (["base"], []),
    "common/config": (["base"], ["toml++"]),
    "common/systemd": (["base"], ["systemd/"]),
    "common/shm": ([], []),
    "agent/unwind": (["base"], ["Zydis/"]),
    "common/stats": (["base", "shm"], []),
    "common/inference": (["base", "shm", "stats"], ["boost/math/", "boost/random/"]),
    # The statistics for what an API key is.
    "common/names": (["base", "stats"], ["libiberty/"]),
    "common/tree": (["base", "stats", "inference", "names"], []),
    # The tree for what names are the same in every build.
    "agent/symbols": (["base", "tree"], ["elfutils/"]),
    "common/draw": (["base", "shm", "stats", "names"], []),
    "common/recording": (["base", "stats", "tree"], []),
    "common/idle": (["base", "recording", "tree"], []),
    "common/wire": (["base", "shm", "stats", "crypto"], ["google", "zstd.h", "boost/json"]),
    "common/crypto": (["base"], ["openssl"]),
    "common/http": (["base"], ["boost", "openssl"]),
    "common/serve": (["base", "config", "http", "systemd"], ["prometheus/"]),
    "common/sqlite": (["base"], ["sqlite3.h"]),
    "common/probe": (["base", "inference", "shm", "sqlite", "stats", "wire"], ["google", "boost/json"]),
    "common/catalog": (["base", "names", "shm", "stats", "wire", "crypto", "http", "sqlite"], []),
    "agent/intercept": (["shm"], []),
    "agent/preload": (["shm", "intercept"], []),
    "agent/settings": (["base", "config", "shm", "stats", "wire"], []),
    # The wire for what a name may be, the settings for the file through which programs learn them.
    "agent/runs": (["base", "shm", "stats", "wire", "settings"], []),
    "agent/reach": (["base", "shm"], []),
    # Harvest and spool only for the package that a library is of, reach for the name of ours.
    "agent/lab": (["base", "shm", "stats", "wire", "crypto", "settings", "runs", "spool", "harvest", "reach"], []),
    "agent/lab_preload": (["shm", "intercept"], []),
    # The rings, threads and modules that trace, idle and the probe recorder share.
    "agent/perf": (["base", "recording", "runs", "settings", "symbols", "tree", "unwind"], []),
    # Reach for why a function that was asked for, or a child, has no events.
    "agent/trace": (["base", "events", "intercept", "perf", "reach", "recording", "runs", "settings",
                     "tree", "unwind"], []),
    "agent/idle": (["base", "idle", "perf", "recording", "settings", "tree", "unwind"], ["bpf/"]),
    "agent/events": (["base", "shm", "reach", "runs", "tree"], []),
    "agent/events_preload": (["shm", "intercept"], []),
    # Consent and settings as files are read alike, and nothing else of the anonymous road.
    "agent/probe": (["base", "json", "config", "crypto", "http", "probe", "reach", "runs", "settings", "shm", "sqlite"],
                    ["boost/json"]),
    "agent/probe_recorder": (["agent_probe", "base", "crypto", "probe", "perf", "reach", "runs", "settings", "shm",
                              "symbols", "unwind"], []),
    "agent/probe_preload": (["shm", "intercept"], []),
    "agent/spool": (["base", "stats", "wire", "crypto", "sqlite", "settings"], []),
    "agent/harvest": (["base", "shm", "stats", "wire", "runs", "settings", "spool"], []),
    "agent/upload": (["base", "shm", "wire", "crypto", "http", "settings", "spool"], ["systemd/"]),
    "agent/policy": (["base", "shm", "stats", "wire", "crypto", "catalog", "settings", "runs", "upload"], []),
    # The power and connection that uploads wait for, too.
    "agent/refresh": (["base", "catalog", "http", "settings", "upload"], []),
    # The facade of the volunteer's path, and the loop around it.
    "agent/volunteer": (["base", "shm", "stats", "wire", "crypto", "settings", "runs", "spool", "harvest", "upload",
                         "policy"], []),
    "agent/daemon": (["base", "command", "harvest", "policy", "refresh", "runs", "settings", "systemd", "volunteer"],
                      ["systemd/"]),
    "aggregator": (["base", "command", "operate", "service"], []),
    # Upkeep only for the states that /metrics reports.
    "aggregator/admin": (["base", "json", "http", "ingest", "publish", "serve", "store", "upkeep"], ["boost/json"]),
    "aggregator/config": (["base", "config", "serve", "wire", "http", "ingest", "publish", "store"], []),
    "aggregator/upkeep": (["base", "crypto", "ingest", "publish", "store"], []),
    "aggregator/service": (["base", "serve", "systemd", "wire", "http", "admin", "aggregator_config", "ingest",
                            "publish", "store", "upkeep"], []),
    # The operator's commands, with or without the service: never see it.
    "aggregator/operate": (["base", "command", "crypto", "draw", "http", "serve", "admin", "aggregator_config",
                            "ingest", "publish", "store", "wire"], ["boost/json"]),
    # A file for each command, on top of what they share.
    "aggregator/operate/commands": (["base", "command", "admin", "aggregator_config", "bench", "demo", "ingest",
                                     "operate", "publish", "upkeep"], []),
    "aggregator/demo": (["base", "shm", "stats", "wire", "crypto", "http", "ingest", "publish", "store"], []),
    "aggregator/bench": (["base", "shm", "stats", "wire", "crypto", "http", "ingest", "store"], []),
    "aggregator/store": (["base", "shm", "stats", "wire", "crypto"], ["rocksdb"]),
    "aggregator/ingest": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    "aggregator/publish": (["base", "config", "shm", "stats", "wire", "crypto", "http", "store"], []),
    # A server of its own: nothing of the one that sums.
    "aggregator/probe_server": (["base", "command", "config", "draw", "http", "probe", "serve", "systemd", "data",
                                 "web"],
                          []),
    "aggregator/probe_server/commands": (["base", "command", "draw", "accounts", "data", "probe_server"], []),
    "aggregator/probe_server/accounts": (["base", "crypto", "probe", "sqlite"], []),
    "aggregator/probe_server/data": (["base", "crypto", "probe", "sqlite", "accounts"], []),
    "aggregator/probe_server/pages": (["base", "draw", "probe"], []),
    "aggregator/probe_server/web": (["base", "json", "crypto", "http", "probe", "serve", "accounts", "data", "pages"],
                                     ["boost/json"]),
    "tools/exchange": (["base", "names", "recording", "stats", "tree", "wire"], ["boost/json", "google", "zlib.h"]),
    # Of drawing only what a histogram's bars are, of the wire what a lab table is.
    "tools/analysis": (["base", "inference", "names", "shm", "stats", "tree", "wire", "draw", "idle", "recording"], []),
    # The top holds what its folders share (page, CSV, words), and the documents of the catalogue's costs.
    "tools/report": (["base", "crypto", "inference", "names", "shm", "stats", "draw", "analysis"], []),
    "tools/report/cards": (["base", "names", "shm", "stats", "draw", "analysis", "report"], []),
    "tools/report/lab": (["base", "names", "exchange", "shm", "stats", "wire", "draw", "analysis", "report"], []),
    "tools/report/tree": (["base", "names", "stats", "tree", "draw", "analysis", "report"], []),
    # Idle time is shown as a call tree, too.
    "tools/report/idle": (["base", "names", "shm", "tree", "draw", "analysis", "idle", "report",
                           "tools_report_tree"], []),
    # From the bottom up: the terminal; what all commands share (options, JSON); reading and answering costs, starting
    # programs, the output of `agent`; sessions, documentation and the instruments, each for itself but idle CPUs, whose
    # recordings are call trees; the commands.
    "tools/cli/terminal": (["base", "command", "draw"], []),
    # The program shows the errors of its commands.
    "tools/cli": (["base", "json", "names", "command", "shm", "stats", "draw", "catalog", "analysis", "report",
                   "terminal"], ["boost/json"]),
    # The language server only for the tokens of headers.
    "tools/cli/costs": (["base", "names", "command", "http", "stats", "wire", "draw", "catalog", "recording",
                         "settings", "volunteer", "analysis", "report", "tools_report_tree", "lsp", "cli",
                         "terminal"],
                        ["boost/json"]),
    "tools/cli/run": (["base", "names", "command", "shm", "stats", "draw", "reach", "runs", "volunteer", "analysis",
                       "report", "cli", "terminal"], []),
    "tools/cli/agent": (["base", "stats", "wire", "draw", "catalog", "settings", "reach", "refresh", "upload",
                         "volunteer", "analysis", "cli", "terminal"], ["boost/json"]),
    # A session's report names what `agent status` names.
    "tools/cli/session": (["base", "shm", "settings", "reach", "runs", "cli", "terminal", "agent"],
                          ["boost/json"]),
    "tools/cli/join": (["base", "catalog", "crypto", "draw", "http", "refresh", "settings", "stats", "volunteer",
                        "wire", "cli", "costs", "run", "terminal", "agent", "session"], []),
    "tools/cli/docs": (["base", "analysis", "crypto", "report", "cards", "cli", "costs", "terminal"],
                       ["boost/json", "boost/property_tree/"]),
    # Prepares measuring for `measure` and `check`.
    "tools/cli/lab": (["base", "names", "command", "config", "shm", "stats", "wire", "draw", "settings", "reach",
                       "runs", "lab", "analysis", "report", "tools_report_lab", "cli", "costs", "run", "terminal"],
                      ["boost/json"]),
    "tools/cli/probe": (["base", "command", "crypto", "draw", "probe", "sqlite", "settings", "reach", "agent_probe",
                         "cli", "run", "terminal"],
                        ["boost/json"]),
    "tools/cli/tree": (["base", "names", "command", "stats", "draw", "tree", "recording", "idle", "exchange",
                        "analysis",
                        "report", "tools_report_tree", "cli", "run", "terminal"], ["boost/json"]),
    "tools/cli/idle": (["base", "shm", "tree", "recording", "idle", "analysis", "cli", "tools_cli_tree"],
                       ["boost/json"]),
    "tools/cli/commands": (["base", "names", "command", "config", "shm", "stats", "wire", "http", "sqlite", "draw",
                            "catalog",
                            "tree", "recording", "idle", "probe", "settings", "reach", "refresh", "runs", "lab",
                            "upload", "volunteer", "agent_probe", "exchange", "analysis", "report", "cards",
                            "tools_report_idle",
                            "tools_report_lab",
                            "tools_report_tree", "cli", "costs", "run", "terminal", "join", "session",
                            "docs", "agent", "tools_cli_lab", "tools_cli_probe", "tools_cli_tree",
                            "tools_cli_idle"], ["boost/json"]),
    # The settings only for where a user's files are.
    "tools/lsp": (["base", "json", "names", "command", "shm", "stats", "wire", "catalog", "settings", "draw",
                   "analysis",
                   "report",
                   "cards"],
                  ["boost/json"]),
}
# A folder's library has the folder's name; the first of two such, the other one the name of its whole path.
WHERE = {}
for path in filter(lambda name: "/" in name, TABLE):
    WHERE[path.replace("/", "_") if path.split("/")[-1] in WHERE else path.split("/")[-1]] = path
# Expensive headers: exactly these files may include them, so that each is compiled once.
OWNERS = {
    "boost/math/": ["common/inference/tails.cc"],
    "boost/random/": ["common/inference/hypergeometric.cc"],
    "dwarf.h": ["agent/symbols/dwarf_module.cc"],
    "elfutils/": ["agent/symbols/dwarf_module.cc"],
    "gelf.h": ["agent/symbols/dwarf_module.cc", "agent/symbols/function_names.cc", "agent/symbols/go_table.cc"],
    "libiberty/": ["common/names/rust_name.cc"],
    "sodium.h": ["aggregator/probe_server/accounts/password.cc"],
    "spdlog/": ["common/base/log.cc"],
    "toml++/": ["common/config/toml_file.cc"],
    "Zydis/": ["agent/unwind/x86_64/machine_return_path.cc"],
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
                      "agent/probe_preload", "agent/events_preload"):
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


def check_readme(root, problems):
    """The folders that the README's table of libraries names use such a library."""
    rows = [line for line in (root / "README.md").read_text().splitlines() if line.startswith("| ")]
    for row in rows[rows.index("| library | why |") + 1:]:
        for folder in re.findall(r"\(`((?:common|agent|aggregator|tools)/[a-z_/]+)`\)", row):
            if folder in TABLE and not TABLE[folder][1]:
                problems.append(f"README.md: {folder} uses no library: {row[:40]}")


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
    check_readme(root, problems)
    print("\n".join(problems) if problems else f"{len(files)} sources follow the layering table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
