#!/usr/bin/env bash
# Runs benchmarks:  ./tests/bench/run.sh [NAME...] [--json]      (--help says more)
set -euo pipefail
cd "$(dirname "$0")/../.."

case " $* " in *" --help "* | *" -h "*) exec python3 tests/bench/bench.py --help ;; esac

packages=()
command -v uftrace > /dev/null || packages+=(uftrace)
command -v bpftrace > /dev/null || packages+=(bpftrace)
command -v ltrace > /dev/null || packages+=(ltrace)
command -v lttng-sessiond > /dev/null || packages+=(lttng-tools)
[[ -e /usr/include/$(uname -m)-linux-gnu/lttng/tracepoint.h ]] || packages+=(liblttng-ust-dev)
command -v redis-benchmark > /dev/null || packages+=(redis-tools)
if ((${#packages[@]})) && ((EUID == 0)); then
  echo "bench: installing peers: ${packages[*]}" >&2
  apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null ||
    echo "bench: could not install ${packages[*]}: reported as missing" >&2
fi
cmake --preset release > /dev/null
cmake --build build/release --target bench fieldcost fieldcostd > /dev/null
exec python3 tests/bench/bench.py --build build/release "$@"
