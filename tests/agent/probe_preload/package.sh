#!/bin/bash
# Uses fieldcost-probe-dev as a program's author would: builds header_test.c with each compiler, language, optimisation
# level and way of linking, with and without the runtime; with pkg-config, with CMake, with the stub library, with USDT
# probes.
#   package.sh BUILD_DIRECTORY SOURCE_DIRECTORY
set -euo pipefail
readonly BUILD="$1" SOURCE="$2/tests/agent/probe_preload"
work="$(mktemp -d)"
session="$(mktemp -d -p /dev/shm)"
trap 'rm -rf "$work" "$session"' EXIT

fail() {
  printf 'package.sh: %s\n' "$*" >&2
  exit 1
}

cmake --install "$BUILD" --component probe-dev --prefix "$work/usr" > /dev/null
# The files contain the configured installation path; here they are elsewhere.
find "$work/usr" \( -name '*.pc' -o -name '*.cmake' \) -exec sed -i \
  "s|$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$BUILD/CMakeCache.txt")|$work/usr|g" {} +
header="$(find "$work/usr" -path '*/fieldcost/probe.h')"
[[ -n "$header" ]] || fail "no header"
readonly INCLUDE="${header%/fieldcost/probe.h}"
stub="$(find "$work/usr" -name libfieldcost_probe_stub.a)"
[[ -n "$stub" ]] || fail "no stub library"

# A plan without points, as described in common/shm/probe_file.h.
/usr/bin/python3 -c 'import struct, sys; sys.stdout.buffer.write(
  struct.pack("<8sIIQQ", b"fcprbpln", 1, 0, 512, 1).ljust(512, b"\0"))' > "$session/plan"
chmod 600 "$session/plan"  # one that others could write is ignored
probed() {
  FIELDCOST_PROBE_DIR="$session" LD_PRELOAD="$BUILD/lib/libfieldcost_probe.so" "$@"
}

readonly WARNINGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
cp "$SOURCE/header_test.c" "$work/test.c"
cp "$SOURCE/header_test.c" "$work/test.cc"
# try FILE COMMAND...: builds it and runs it; it prints what it has found.
try() {
  local file="$1"
  shift
  # shellcheck disable=SC2086
  "$@" $WARNINGS "-I$INCLUDE" "$work/$file" -o "$work/program" 2> "$work/errors" ||
    fail "$*: $(head -n 3 "$work/errors")"
  [[ "$("$work/program")" == "alone" ]] || fail "$*: prints $("$work/program")"
  [[ "$*" == *static* || "$(probed "$work/program")" == "not alone" ]] || fail "$*: is alone with the runtime"
  rm -f "$session"/*.probe
  tried=$((tried + 1))
}

tried=0
for level in -O0 -O2; do
  for link in "-fPIE -pie" "-fno-pie -no-pie" "-static" "-fPIE -static-pie"; do
    for compiler in gcc clang-14; do
      command -v "$compiler" > /dev/null || continue
      # shellcheck disable=SC2086
      for standard in c11 gnu17; do try test.c "$compiler" -std=$standard $level $link; done
    done
    for compiler in g++ clang++-14; do
      command -v "$compiler" > /dev/null || continue
      # shellcheck disable=SC2086
      for standard in c++11 c++20; do
        try test.cc "$compiler" -std=$standard -Wold-style-cast -Wzero-as-null-pointer-constant $level $link
      done
    done
  done
done
((tried >= 32)) || fail "only $tried programs"

gcc $WARNINGS "-I$INCLUDE" "$work/test.c" "$stub" -o "$work/program"
[[ "$("$work/program")" == "alone" ]] || fail "with the stub library it prints $("$work/program")"

if echo '#include <sys/sdt.h>' | gcc -E - > /dev/null 2>&1; then
  gcc $WARNINGS -DFIELDCOST_PROBE_USDT "-I$INCLUDE" "$work/test.c" -o "$work/program"
  [[ "$("$work/program")" == "alone" ]] || fail "with USDT probes it prints $("$work/program")"
  readelf --notes --wide "$work/program" | grep -A 1 'Provider: fieldcost' | grep -q 'Name: point' ||
    fail "no USDT probe"
else
  echo "package.sh: USDT probes not tried: sys/sdt.h is missing"
fi

pc="$(find "$work/usr" -name fieldcost-probe.pc)"
# shellcheck disable=SC2046
PKG_CONFIG_PATH="${pc%/*}" gcc $(PKG_CONFIG_PATH="${pc%/*}" pkg-config --cflags --libs fieldcost-probe) \
  "$work/test.c" -o "$work/program" || fail "by pkg-config"

mkdir "$work/project"
cp "$work/test.c" "$work/project"
cat > "$work/project/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.20)
project(probed LANGUAGES C)
find_package(fieldcost-probe 0 REQUIRED)
add_executable(probed test.c)
target_link_libraries(probed PRIVATE fieldcost::probe)
add_executable(stubbed test.c)
target_link_libraries(stubbed PRIVATE fieldcost::probe_stub)
END
cmake -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/usr" > "$work/log" 2>&1 &&
  cmake --build "$work/project/build" > "$work/log" 2>&1 || fail "by CMake: $(tail -n 5 "$work/log")"
[[ "$("$work/project/build/stubbed")" == "alone" ]] || fail "CMake's stubbed program"

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/usr/lib/python3/dist-packages" /usr/bin/python3 -c \
  'import fieldcost_probe as probe; probe.point("x"); assert not probe.enabled()' || fail "Python's module"
