#!/bin/bash
# Process 1 of new mount, pid, uts, ipc and control group namespaces, created by run.sh: becomes the
# systemd of the tree ROOT, which runs inside.sh and ends with its status.     boot.sh ROOT ARCHIVES
set -euo pipefail
root=$1
archives=$2

mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
# Kernel settings belong to the machine; if they are read-only, systemd detects a container.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount --bind "$archives" "$root/var/cache/apt/archives"

# Starts nothing but the test and the units that it requests.
find "$root/lib/systemd/system" "$root/etc/systemd/system" -name '*.wants' -prune -exec rm -r {} +
mkdir -p "$root/run/systemd/system"
cat > "$root/run/systemd/system/fieldcost-test.service" << END
[Unit]
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/bash /given/inside.sh
Environment=HOME=/root LC_ALL=C.UTF-8
StandardOutput=append:/given/output
StandardError=append:/given/output
Delegate=yes
END
hostname fieldcost-test
# Not chroot: it prevents the creation of user namespaces, which PrivateUsers= needs.
cd "$root"
pivot_root . mnt
cd /
umount --lazy /mnt
exec /usr/bin/env -i container=fieldcost-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=fieldcost-test.service --show-status=no \
  --log-target=console < /dev/null
