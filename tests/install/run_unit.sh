#!/usr/bin/env bash
# run_unit.sh UNIT: runs the lines ExecStart and ExecStop of a system unit, in a mount namespace of its own (unshare -m).
set -u
mount --make-rprivate / && mount -t tmpfs none /run || exit 77

# The command of a line, its variable taken from the environment as systemd does.
line() {
    sed -n "s/^$1=//p" "$unit" | sed "s/\$ARGUS_OPTIONS/$ARGUS_OPTIONS/"
}

unit=$1
ARGUS_OPTIONS="--ring-size 64M"
read -ra start < <(line ExecStart)
read -ra stop < <(line ExecStop)
clean=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin)
"${clean[@]}" "${start[@]}" || exit 1
"${clean[@]}" "${start[0]}" status || exit 1
"${clean[@]}" "${stop[@]}"
