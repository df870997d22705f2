#!/bin/bash
# The first stage: builds the program in Debian 12.     build-program.sh SOURCE_DIR OUTPUT_DIR
#
# Creates in OUTPUT_DIR the files of the image, at their paths from its root, and the list of the
# Debian packages whose libraries the program needs.
set -euo pipefail
source_dir=$1
output=$2

. "$source_dir/deploy/packages.sh"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # a list of names
apt-get install -y -qq --no-install-recommends $BUILD_PACKAGES
cmake -S "$source_dir" -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release
cmake --build /build --target fieldcost-aggregator
"$source_dir/deploy/container/collect.sh" "$source_dir" /build/bin/fieldcost-aggregator "$output"
