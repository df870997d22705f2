# Sourced by quickstart.sh and tests/run.sh: the Debian 12 packages they need, and how to get them.

BUILD_PACKAGES="cmake ninja-build g++ ccache pkg-config libboost1.81-dev libboost-json1.81-dev
  libboost-url1.81-dev librocksdb-dev libssl-dev protobuf-compiler libprotobuf-dev libzstd-dev zlib1g-dev
  libsqlite3-dev libcli11-dev libtomlplusplus-dev libspdlog-dev libfmt-dev libexpected-dev
  libsystemd-dev prometheus-cpp-dev libdw-dev libbpf-dev libsodium-dev libzydis-dev libiberty-dev clang-14"
TEST_PACKAGES="libgtest-dev zstd util-linux libgmock-dev clang-format-14 openssl sqlite3 python3 binutils git jq"
# Programs that are measured: another C++ runtime and unwinders (LLVM's, nongnu), a collector, a debugger, the
# interpreter as a library, greenlets that copy stacks, and real programs with real workloads. Not here, but used
# if present: nodejs (hundreds of packages). nginx and prometheus are unpacked, not installed: that would
# start them.
# redis-tools holds the server too.
TEST_PACKAGES+=" clang-14 libclang-rt-14-dev libc++-14-dev libc++abi-14-dev libunwind-14-dev
  libunwind8 libgc1 gdb libpython3.11 python3-greenlet curl redis-tools vim musl-tools"

# Documentation that gets costs: pages of a real header (zlib.h), and manual pages.
TEST_PACKAGES+=" doxygen man-db groff-base"

# What makes, checks and tries out the Debian packages (tests/packages), and what reads the manual pages
# and completions that are in them.
TEST_PACKAGES+=" build-essential dpkg-dev debhelper po-debconf lintian mmdebstrap systemd mandoc zsh fish"
# A copy-on-write disk that fills up under measured programs.
TEST_PACKAGES+=" btrfs-progs"
# The container image, built and tried out without a daemon.
TEST_PACKAGES+=" buildah iproute2"
# A message bus for the test of what NetworkManager says of the connection.
TEST_PACKAGES+=" dbus-daemon"

# USDT probes of programs with probe points.
TEST_PACKAGES+=" systemtap-sdt-dev"

# A clock that is wrong, or passes a certificate's end, for a program that is tested.
TEST_PACKAGES+=" libfaketime"

# What packs the extension of VS Code and opens it in an editor in a browser (tests/tools/vscode), and pages
# (tests/tools/pages). Not
# in the list above: npm alone is hundreds of packages, and whoever has node from elsewhere keeps it.
EDITOR_PACKAGES="nodejs npm chromium"
install_editor_packages() {
  local package
  for package in $EDITOR_PACKAGES; do
    command -v "${package/nodejs/node}" > /dev/null || install_packages "$package"
  done
}

# The one font of the pictures of pages.
TEST_PACKAGES+=" fonts-dejavu-core"

# The editors that fieldcost-lsp is tried out with, without a screen, and the server that it stands beside.
TEST_PACKAGES+=" neovim clangd vim-nox vim-youcompleteme ycmd"

# install_packages NAME...: installs those that are missing; one clear line if that fails.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null | grep -qx installed ||
      missing+=("$package")
  done
  mkdir -p build
  if ((${#missing[@]} == 0)); then return 0; fi
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo > /dev/null || {
      echo "${0##*/}: packages are missing and this is neither root nor sudo: ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "== install ${missing[*]}"
  { "${as_root[@]}" apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq \
      --no-install-recommends "${missing[@]}"; } > build/packages.log 2>&1 || {
    echo "${0##*/}: installing packages failed: $(tail -n 1 build/packages.log) (log: build/packages.log)" >&2
    exit 1
  }
}

# unpack_package NAME [PATTERN...]: puts a package's files, or those that match a pattern of tar, below
# build/packages/NAME without installing it. What needs it does without if that fails.
unpack_package() {
  local name="$1"
  shift
  if [[ -d build/packages/$name ]]; then return 0; fi
  echo "== unpack $name"
  mkdir -p build/packages
  (
    set -o pipefail
    cd build/packages
    rm -rf "$name.part" && mkdir "$name.part" && apt-get download -qq "$name" &&
      dpkg-deb --fsys-tarfile "$name"_*.deb |
      tar -x -C "$name.part" --no-same-owner --wildcards --no-wildcards-match-slash "$@" &&
      mv "$name.part" "$name"
  ) >> build/packages.log 2>&1 ||
    echo "${0##*/}: cannot unpack $name: its tests are skipped (log: build/packages.log)" >&2
}

# unpack_go: Go's compiler, linker, libraries and pprof of Debian's package, without the rest of it (120 of 335 MB).
# GO_ROOT is where they are then.
unpack_go() {
  GO_ROOT="$PWD/build/packages/golang-1.19-go/usr/lib/go-1.19"
  unpack_package golang-1.19-go './usr/lib/go-1.19/pkg/tool/*/pprof' './usr/lib/go-1.19/pkg/tool/*/compile' \
    './usr/lib/go-1.19/pkg/tool/*/link' './usr/lib/go-1.19/pkg/linux_*/[!c]*' './usr/lib/go-1.19/pkg/linux_*/co*'
}
