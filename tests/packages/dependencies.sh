#!/bin/bash
# Checks that the packages' build dependencies are what the build installs.     dependencies.sh SOURCE_DIR
set -euo pipefail
cd "$1"

# shellcheck source=/dev/null
. deploy/packages.sh
# g++ belongs to build-essential, which every Debian build has; ccache is a convenience; only
# packages need debhelper and po-debconf.
installed="$(tr -s ' \n' '\n' <<< "$BUILD_PACKAGES" | grep -vxE 'g\+\+|ccache|' | sort)"
declared="$(sed -n '/^Build-Depends:/,/^[^ ]*:/s/^ \([a-z0-9.+-]*\).*/\1/p' deploy/debian/control |
  grep -vxE 'debhelper-compat|po-debconf' | sort)"
diff <(echo "$installed") <(echo "$declared") || {
  echo "BUILD_PACKAGES of deploy/packages.sh (<) and Build-Depends of deploy/debian/control (>) differ"
  exit 1
}
