#!/bin/sh
# The second stage: the libraries that the program needs, and nothing that only installing needed.
set -eu
apt-get update -qq
DEBIAN_FRONTEND=noninteractive xargs apt-get install -y -qq --no-install-recommends \
  < /usr/libexec/fieldcost/libraries
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
