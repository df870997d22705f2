#!/bin/bash
# Succeeds if the service in this container accepts batches (asks its admin listener).   healthcheck.sh [PORT]
set -euo pipefail
exec 3<> "/dev/tcp/127.0.0.1/${1:-8444}"
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
IFS= read -r -t 4 line <&3
[[ "$line" == 'HTTP/1.1 200 '* ]]
