#!/usr/bin/env bash
# Runs benchmarks:  ./tests/bench/run.sh [NAME...] [--json]      (details: --help)
set -euo pipefail
cd "$(dirname "$0")/../.."

case " $* " in *" --help "* | *" -h "*) exec python3 tests/bench/bench.py --help ;; esac

packages=()
command -v uftrace > /dev/null || packages+=(uftrace)
command -v perf > /dev/null || packages+=(linux-perf)
command -v ab > /dev/null || packages+=(apache2-utils)
command -v bpftrace > /dev/null || packages+=(bpftrace)
command -v ltrace > /dev/null || packages+=(ltrace)
command -v lttng-sessiond > /dev/null || packages+=(lttng-tools)
[[ -e /usr/include/$(uname -m)-linux-gnu/lttng/tracepoint.h ]] || packages+=(liblttng-ust-dev)
command -v redis-benchmark > /dev/null || packages+=(redis-tools)
# Row 7's peers. The servers of PostgreSQL and ClickHouse are only unpacked, because installing would start them.
command -v redis-cli > /dev/null || packages+=(redis-tools)
command -v psql > /dev/null || packages+=(postgresql-client-15)
compgen -G "/usr/lib/postgresql/*/bin/postgres" > /dev/null || packages+=(libxml2 libldap-2.5-0 libgssapi-krb5-2 tzdata)
compgen -G "/usr/lib/*/libclickhouse.so.*" > /dev/null || packages+=(clickhouse-common)
if ((${#packages[@]})) && ((EUID == 0)); then
  echo "bench: installing peers: ${packages[*]}" >&2
  apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null ||
    echo "bench: could not install ${packages[*]}: reported as missing" >&2
fi
source deploy/packages.sh
compgen -G "/usr/lib/postgresql/*/bin/postgres" > /dev/null || unpack_package postgresql-15 >&2
command -v clickhouse-server > /dev/null || unpack_package clickhouse-server >&2
unpack_go >&2
cmake --preset release > /dev/null
programs=(fieldcost fieldcost-aggregator fieldcost-idle fieldcost-lsp fieldcost-probe fieldcost-trace fieldcostd)
cmake --build build/release --target bench "${programs[@]}" > /dev/null
exec python3 tests/bench/bench.py --build build/release "$@"
