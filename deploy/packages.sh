# Sourced by quickstart.sh and tests/run.sh: the Debian 12 packages that they need, and functions to
# install them.

BUILD_PACKAGES="cmake ninja-build g++ ccache pkg-config libboost1.81-dev libboost-json1.81-dev
  libboost-url1.81-dev librocksdb-dev libssl-dev protobuf-compiler libprotobuf-dev libzstd-dev zlib1g-dev
  libsqlite3-dev libtomlplusplus-dev libspdlog-dev libfmt-dev libexpected-dev
  libsystemd-dev prometheus-cpp-dev libdw-dev libbpf-dev libsodium-dev libzydis-dev libiberty-dev clang-14"
TEST_PACKAGES="libgtest-dev zstd util-linux libgmock-dev clang-format-14 openssl sqlite3 python3 binutils git jq"
# Measured programs: another C++ runtime and other unwinders (LLVM's, nongnu), a garbage collector,
# a debugger, the Python interpreter as a library, greenlets that copy stacks, and real programs
# with real workloads. redis-tools also contains the server. nodejs is used if present, but not
# installed here (hundreds of packages). nginx and prometheus are unpacked, not installed, since
# installing would start them.
TEST_PACKAGES+=" clang-14 libclang-rt-14-dev libc++-14-dev libc++abi-14-dev libunwind-14-dev
  libunwind8 libgc1 gdb libpython3.11 python3-greenlet curl redis-tools vim musl-tools"

# Documentation to which costs are added: pages of a real header (zlib.h) and of Sphinx, and manual
# pages.
TEST_PACKAGES+=" doxygen python3-sphinx man-db groff-base"

# Builds, checks and tests the Debian packages (tests/packages), and reads the manual pages and
# completions in them.
TEST_PACKAGES+=" build-essential dpkg-dev debhelper po-debconf lintian mmdebstrap systemd mandoc zsh fish"
# Makes the archive for other distributions, and checks their files (spec and flake).
TEST_PACKAGES+=" patchelf shellcheck rpm nix-bin"
# Creates a copy-on-write file system that fills up while programs are measured.
TEST_PACKAGES+=" btrfs-progs"
# Builds and tests the container image without a daemon.
TEST_PACKAGES+=" buildah iproute2"
# A message bus for the test of NetworkManager's report about the connection.
TEST_PACKAGES+=" dbus-daemon"

# USDT probes in programs with probe points.
TEST_PACKAGES+=" systemtap-sdt-dev"

# Gives a tested program a wrong clock, or one beyond a certificate's expiry.
TEST_PACKAGES+=" libfaketime"

# Packs the VS Code extension and opens it in an editor in a browser (tests/tools/vscode), and opens
# pages (tests/tools/pages). Not in the list above: npm alone is hundreds of packages, and a node
# from another source is used instead.
EDITOR_PACKAGES="nodejs npm chromium"
install_editor_packages() {
  local package
  for package in $EDITOR_PACKAGES; do
    command -v "${package/nodejs/node}" > /dev/null || install_packages "$package"
  done
}

# The only font in pictures of pages.
TEST_PACKAGES+=" fonts-dejavu-core"

# The editors in which fieldcost-lsp is tested, without a screen, and the server that runs next to
# it.
TEST_PACKAGES+=" neovim clangd vim-nox vim-youcompleteme ycmd"

# install_packages NAME...: installs the missing ones; prints one clear line if that fails.
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

# unpack_package NAME [PATTERN...]: unpacks a package's files, or those that match a pattern of tar,
# below build/packages/NAME without installing it. If that fails, the tests that need it are
# skipped.
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

# unpack_go: unpacks only compiler, linker, libraries and pprof from Debian's Go package (120 of 335
# MB), and sets GO_ROOT to their directory.
unpack_go() {
  GO_ROOT="$PWD/build/packages/golang-1.19-go/usr/lib/go-1.19"
  unpack_package golang-1.19-go './usr/lib/go-1.19/pkg/tool/*/pprof' './usr/lib/go-1.19/pkg/tool/*/compile' \
    './usr/lib/go-1.19/pkg/tool/*/link' './usr/lib/go-1.19/pkg/linux_*/[!c]*' './usr/lib/go-1.19/pkg/linux_*/co*'
}
