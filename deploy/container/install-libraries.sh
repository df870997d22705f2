#!/bin/sh
# The second stage: installs the libraries that the program needs, and removes what only the
# installation needed.
set -eu
apt-get update -qq
DEBIAN_FRONTEND=noninteractive xargs apt-get install -y -qq --no-install-recommends \
  < /usr/libexec/fieldcost/libraries
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
