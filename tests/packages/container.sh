#!/usr/bin/env bash
# Builds the second stage of the container image and runs the service in it as the image specifies: read-only, without
# privileges, with its data in a volume.     container.sh BASE_TAR PROGRAM WORK_DIR
#
# The first stage would compile everything again: its result is created here from PROGRAM, by the
# same script as there. Everything else is the Containerfile's. Exit status 77: skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly BASE_TAR="$(realpath "$1")"
readonly PROGRAM="$(realpath "$2")"
readonly WORK="$(realpath -m "$3")"
readonly DATA=var/lib/fieldcost-aggregator

fail() {
  printf 'tests/packages/container.sh: %s\n' "$*" >&2
  exit 1
}
skip() {
  printf 'tests/packages/container.sh: skipped: %s\n' "$*"
  exit 77
}

# Runs inside separate mount and network namespaces.
run_service() {
  local root=$1 pid i status=0
  ip link set lo up
  mount --bind "$root" "$root"
  mkdir -p "$WORK/data"
  chown 64812:64812 "$WORK/data"
  chmod 700 "$WORK/data"
  mount --bind "$WORK/data" "$root/$DATA"
  mount --bind "$WORK/tls/certificate.pem" "$root/etc/fieldcost/aggregator/certificate.pem"
  mount --bind "$WORK/tls/private_key.pem" "$root/etc/fieldcost/aggregator/private_key.pem"
  mount -t proc proc "$root/proc"
  mount --bind /dev/null "$root/dev/null"
  mount -o remount,bind,ro "$root"
  ! touch "$root/etc/x" 2> /dev/null || fail "the root is not read-only"
  local inside=(chroot "--userspec=64812:64812" "$root" setpriv --no-new-privs)
  "${inside[@]}" /usr/sbin/fieldcost-aggregator --config /etc/fieldcost/aggregator.toml --check-config
  ! "${inside[@]}" /usr/libexec/fieldcost/healthcheck.sh 2> /dev/null ||
    fail "healthy before it was started"
  "${inside[@]}" /usr/sbin/fieldcost-aggregator serve --config /etc/fieldcost/aggregator.toml \
    > "$WORK/service.log" 2>&1 &
  pid=$!
  for ((i = 0; i < 300; ++i)); do
    if "${inside[@]}" /usr/libexec/fieldcost/healthcheck.sh 2> /dev/null; then break; fi
    kill -0 "$pid" 2> /dev/null || fail "it ended: $(tail -n 3 "$WORK/service.log")"
    sleep 0.1
  done
  ((i < 300)) || fail "never healthy: $(tail -n 3 "$WORK/service.log")"
  kill -TERM "$pid"
  wait "$pid" || status=$?
  ((status == 0)) || fail "it ended with status $status: $(tail -n 3 "$WORK/service.log")"
  [[ -f "$WORK/data/store/CURRENT" ]] || fail "its data are not in the volume"
}

if [[ "${4:-}" == inside ]]; then
  run_service "$5"
  exit
fi

((EUID == 0)) || skip "needs root"
for tool in buildah unshare setpriv ip openssl; do
  command -v "$tool" > /dev/null || skip "$tool is missing"
done
unshare --mount --net true 2> /dev/null || skip "namespaces are not permitted here"

rm -rf "$WORK"
mkdir -p "$WORK/context" "$WORK/tls"
readonly STORAGE=(--root "$WORK/storage" --runroot "$WORK/run" --storage-driver vfs)
buildah() { command buildah "${STORAGE[@]}" "$@"; }
remove() {
  buildah rm --all > /dev/null 2>&1 || true
  rm -rf "$WORK/storage" "$WORK/run"
}
trap remove EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
  -keyout "$WORK/tls/private_key.pem" -out "$WORK/tls/certificate.pem" > "$WORK/openssl.log" 2>&1 ||
  fail "openssl made no certificate: $(tail -n 1 "$WORK/openssl.log")"
chmod 644 "$WORK"/tls/*

deploy/container/collect.sh . "$PROGRAM" "$WORK/context/out"
[[ -s "$WORK/context/out/usr/libexec/fieldcost/libraries" ]] || fail "no libraries were found"
sed -e 's,^COPY \. /source$,COPY out /out,' -e '/^RUN \/source\//d' deploy/container/Containerfile \
  > "$WORK/Containerfile"
! grep -q /source "$WORK/Containerfile" || fail "the Containerfile's first stage has changed"

container=$(buildah from scratch) || skip "buildah cannot work here"
buildah add "$container" "$BASE_TAR" / > "$WORK/buildah.log" 2>&1 &&
  buildah commit --quiet "$container" fieldcost-test-base >> "$WORK/buildah.log" 2>&1 ||
  skip "buildah cannot make an image here: $(tail -n 1 "$WORK/buildah.log")"
timeout 300 buildah "${STORAGE[@]}" build --isolation chroot --format docker --pull-never \
  --build-arg BASE=localhost/fieldcost-test-base -f "$WORK/Containerfile" -t fieldcost-aggregator \
  "$WORK/context" > "$WORK/buildah.log" 2>&1 ||
  fail "building the image failed: $(tail -n 3 "$WORK/buildah.log") (log: $WORK/buildah.log)"
printed="$(buildah inspect --type image --format '{{.Docker.Config.User}} {{.Docker.Config.Healthcheck.Test}}' \
  fieldcost-aggregator)"
[[ "$printed" == "64812:64812 [CMD /usr/libexec/fieldcost/healthcheck.sh]" ]] || fail "it prints: $printed"
container=$(buildah from --pull-never fieldcost-aggregator)
root=$(buildah mount "$container")
install -d "$root/etc/fieldcost/aggregator"
: > "$root/etc/fieldcost/aggregator/certificate.pem"
: > "$root/etc/fieldcost/aggregator/private_key.pem"
timeout 120 unshare --mount --net --propagation private "$0" "$BASE_TAR" "$PROGRAM" "$WORK" inside "$root"
echo "the image builds, and the service runs in it"
