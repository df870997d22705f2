#!/usr/bin/env bash
# Builds the Debian packages, and uses them as a new user would.     tests/packages/run.sh [--help]
#
# dpkg-buildpackage, lintian, then in a fresh minimal Debian 12 with systemd (below build/, removed at the end):
# install, permit, opt in, measure, upload, publish, read, take back; uninstall, purge. inside.sh is
# that part. Then the container image (container.sh), and the archive for other distributions (archive.sh; about a
# minute), also in the trees of the Debian releases in $FIELDCOST_TEST_RELEASES ("bullseye trixie testing").
#
# Exit status: 0 passed; 77 skipped, with the reason; otherwise failed. Needs root and a Debian mirror
# ($FIELDCOST_TEST_MIRROR, default: the one this machine uses). Two or three minutes with a warm
# compiler cache ($CCACHE_DIR, default ~/.cache/ccache); each part is bounded.
set -euo pipefail
cd "$(dirname "$0")/../.."

case "${1:-}" in
  -h | --help)
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac

readonly HERE="$PWD/tests/packages"
readonly WORK="$PWD/build/packages-test"
readonly DEBS="$WORK/debs"
readonly BASE="$WORK/base.tar"
readonly ROOT="$WORK/root"
readonly MIRROR="${FIELDCOST_TEST_MIRROR:-$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' \
  'Created-By: Packages' | sed -n '/^bookworm /{s///p;q}')}"
readonly MAX_BASE_AGE_DAYS=30

step() { printf '== packages: %s\n' "$*"; }
fail() {
  printf 'tests/packages/run.sh: %s\n' "$*" >&2
  exit 1
}
skip() {
  printf 'tests/packages/run.sh: skipped: %s\n' "$*"
  exit 77
}

# Fails with the last lines of the step's log.
fail_with_log() {
  tail -n 20 "$2" >&2
  fail "$1 (the whole log: $2)"
}

check_tools() {
  local tool
  for tool in dpkg-buildpackage dh lintian mmdebstrap unshare openssl; do
    command -v "$tool" > /dev/null || skip "$tool is missing"
  done
  ((EUID == 0)) || skip "a Debian tree can only be made and entered by root"
  unshare --mount --pid --uts --ipc --cgroup --fork true 2> /dev/null || skip "namespaces are not permitted here"
}

build() {
  step "build the .deb files"
  CCACHE_DIR="${CCACHE_DIR:-$HOME/.cache/ccache}" timeout 1200 deploy/debian/build.sh \
    --output "$DEBS" > "$WORK/build.log" 2>&1 ||
    fail_with_log "building the packages failed" "$WORK/build.log"
}

check_with_lintian() {
  step "lintian"
  lintian --allow-root --fail-on error,warning --display-info --pedantic "$DEBS"/*.changes \
    > "$WORK/lintian.log" 2>&1 || fail_with_log "lintian objects" "$WORK/lintian.log"
}

# Checks properties of the measuring library that a distribution's flags must not change.
check_measuring_library() {
  step "the measuring library"
  local unpacked="$WORK/unpacked" library dynamic
  rm -rf "$unpacked"
  dpkg-deb -x "$DEBS"/fieldcost-agent_*.deb "$unpacked"
  library="$(echo "$unpacked"/usr/lib/*/fieldcost/libfieldcost_preload.so)"
  dynamic="$(readelf --dynamic --wide "$library")"
  [[ "$(grep -c '(NEEDED)' <<< "$dynamic")" == 1 ]] && grep -q 'NEEDED.*\[libc\.so\.6\]' <<< "$dynamic" ||
    fail "it needs more than libc.so.6: $dynamic"
  grep -q 'FLAGS.*NOW' <<< "$dynamic" || fail "it is not linked with -z now"
  # Its own functions must not call anything that a distribution's flags add.
  ! readelf --dyn-syms --wide "$library" | grep -E '__stack_chk_fail|_chk@' ||
    fail "it was built with a stack protector or fortified functions"
}

# The package contains what the VS Code stage has packed; if that packed nothing, there is no package.
check_editors() {
  local package packed=build/vscode/fieldcost.vsix unpacked="$WORK/unpacked-editors"
  package="$(find "$DEBS" -name 'fieldcost-editors_*.deb')"
  if [[ -z "$package" ]]; then
    grep '^build.sh: no fieldcost-editors: ' "$WORK/build.log" ||
      fail "there is no fieldcost-editors, and no reason is given"
    return 0
  fi
  step "the editors' files"
  rm -rf "$unpacked"
  dpkg-deb -x "$package" "$unpacked"
  cmp "$packed" "$unpacked/usr/share/fieldcost/editors/fieldcost.vsix" ||
    fail "it holds another extension than was packed"
  grep -q "cmd = { 'fieldcost-lsp' }" "$unpacked/usr/share/fieldcost/editors/fieldcost.lua" ||
    fail "no file for Neovim"
  ! command -v nvim > /dev/null ||
    timeout 30 nvim --headless --clean -c "lua local ok, why = pcall(dofile, \
      '$unpacked/usr/share/fieldcost/editors/fieldcost.lua'); print(why); vim.cmd(ok and 'qa!' or 'cquit')" \
      > "$WORK/nvim.log" 2>&1 || fail_with_log "Neovim does not take its file" "$WORK/nvim.log"
}

make_base() {
  if [[ -n "$(find "$BASE" -mtime -$MAX_BASE_AGE_DAYS 2> /dev/null)" ]]; then return 0; fi
  step "fetch a minimal Debian 12"
  # Keeps the package lists, so that they match what is installed later.
  if ! timeout 300 mmdebstrap --mode=root --variant=minbase --include=systemd \
    --skip=cleanup/apt/lists bookworm \
    "$WORK/new-base.tar" "$MIRROR" > "$WORK/mmdebstrap.log" 2>&1; then
    [[ -s "$BASE" ]] && return 0
    skip "no Debian mirror: $(tail -n 1 "$WORK/mmdebstrap.log")"
  fi
  mv "$WORK/new-base.tar" "$BASE"
}

make_certificates() {
  local common=(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30)
  rm -rf "$WORK/tls"
  mkdir -p "$WORK/tls"
  { "${common[@]}" -subj "/CN=test CA" -keyout "$WORK/tls/ca.key" -out "$WORK/tls/ca.pem" &&
    "${common[@]}" -subj "/CN=localhost" -CA "$WORK/tls/ca.pem" -CAkey "$WORK/tls/ca.key" \
      -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -addext "basicConstraints=CA:FALSE" \
      -keyout "$WORK/tls/private_key.pem" -out "$WORK/tls/certificate.pem"; } \
    > "$WORK/openssl.log" 2>&1 || fail_with_log "openssl made no certificates" "$WORK/openssl.log"
}

# Removes a control group whose processes have all ended; namespaces do not remove it.
remove_cgroup() { [[ ! -d "$1" ]] || find "$1" -depth -type d -exec rmdir {} \; ; }

# Uses namespaces, so that neither a mount nor a process remains in any case.
use_them() {
  step "use them in a new Debian tree"
  rm -rf "$ROOT"
  mkdir -p "$ROOT" "$WORK/archives/partial"
  tar -x -C "$ROOT" --numeric-owner -f "$BASE"
  make_certificates
  mkdir -p "$ROOT/given/build/debian" "$ROOT/given/tls"
  cp "$DEBS"/*.deb "$ROOT/given/build/debian"
  cp "$WORK"/tls/*.pem "$ROOT/given/tls"
  cp "$HERE"/{inside,user_units,joining,answer}.sh "$ROOT/given"
  : > "$ROOT/given/output"
  cp -L /etc/resolv.conf "$ROOT/etc/resolv.conf"
  local status=0 cgroup
  cgroup="$(findmnt --noheadings --first-only --output TARGET --types cgroup2)/fieldcost-packages-test-$$"
  mkdir "$cgroup" 2> /dev/null || skip "no control group can be made here"
  (
    echo $BASHPID > "$cgroup/cgroup.procs"
    exec timeout 400 unshare --mount --pid --uts --ipc --cgroup --fork --kill-child \
      --propagation private "$HERE/boot.sh" "$ROOT" "$WORK/archives"
  ) > "$WORK/boot.log" 2>&1 || status=$?
  cat "$ROOT/given/output"
  rm -rf "$ROOT"
  remove_cgroup "$cgroup"
  case $status in
    0) ;;
    77) skip "packages that ours need cannot be fetched" ;;
    124) fail "using the packages took too long" ;;
    *) fail "using the packages failed (status $status; systemd's log: $WORK/boot.log)" ;;
  esac
}

use_container() {
  step "the container image"
  local unpacked="$WORK/unpacked-aggregator" status=0
  rm -rf "$unpacked"
  dpkg-deb -x "$DEBS"/fieldcost-aggregator_*.deb "$unpacked"
  timeout 600 "$HERE/container.sh" "$BASE" "$unpacked/usr/sbin/fieldcost-aggregator" "$WORK/container" ||
    status=$?
  ((status == 0 || status == 77)) || fail "the container image does not work"
}

# The archive for other distributions, from the same programs. By default, it is used only in the tree of Debian 12,
# which has none of the libraries; $FIELDCOST_TEST_RELEASES names further Debian releases.
use_archive() {
  step "the archive for other distributions"
  local trees=("$BASE") release
  command -v patchelf > /dev/null || skip "patchelf is missing"
  timeout 300 deploy/tarball.sh --packages "$DEBS" --output "$WORK/archive" > "$WORK/archive.log" 2>&1 ||
    fail_with_log "making the archive failed" "$WORK/archive.log"
  for release in ${FIELDCOST_TEST_RELEASES:-}; do
    # The mirror's testing may be older than its lists are valid for.
    timeout 300 mmdebstrap --mode=root --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' "$release" \
      "$WORK/$release.tar" "$MIRROR" > "$WORK/mmdebstrap.log" 2>&1 ||
      fail_with_log "there is no tree of $release" "$WORK/mmdebstrap.log"
    trees+=("$WORK/$release.tar")
  done
  timeout $((180 * ${#trees[@]})) "$HERE/archive.sh" "$WORK"/archive/fieldcost-*-x86_64.tar.zst "$WORK/archive/test" \
    "${trees[@]}" || fail "the archive does not work"
}

check_tools
mkdir -p "$WORK"
build
check_with_lintian
check_measuring_library
check_editors
make_base
use_them
use_container
use_archive
step "passed"
