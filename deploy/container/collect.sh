#!/bin/bash
# Collects the files of the image.     collect.sh SOURCE_DIR PROGRAM OUTPUT_DIR
set -euo pipefail
here=$1/deploy/container
program=$2
output=$3

install -D --strip -m 755 "$program" "$output/usr/sbin/fieldcost-aggregator"
install -D -m 755 -t "$output/usr/libexec/fieldcost" "$here/healthcheck.sh" "$here/install-libraries.sh"
install -D -m 644 "$here/aggregator.toml" "$output/etc/fieldcost/aggregator.toml"
# ldd prints paths below /lib, a link to /usr/lib; packages may contain either path.
ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | while read -r library; do
  dpkg-query -S "$library" 2> /dev/null || dpkg-query -S "/usr$library" 2> /dev/null ||
    dpkg-query -S "$(realpath "$library")"
done | sed 's/:.*//' | sort -u > "$output/usr/libexec/fieldcost/libraries"
