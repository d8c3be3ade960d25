#!/usr/bin/env bash
# run_polkit.sh PREFIX RULE MEMBER: a user alice without a terminal records, as the user unit does, where polkit has RULE and the group
# argus has MEMBER. In a mount namespace of its own (unshare -m) with a message bus and a polkitd of its own.
set -u
prefix=$1
mount --make-rprivate / && mount -t tmpfs -o mode=755 none /run || exit 77
own=$(mktemp -d)
trap 'kill $polkit $bus 2>/dev/null; rm -rf "$own"' EXIT
polkit='' bus=''
mkdir -p /run/dbus "$own/rules" "$own/home/hangs"
chmod 755 "$own" "$own/rules"
cp "$2" "$own/rules/" && chmod 644 "$own/rules/"*
cp /etc/passwd /etc/group /etc/shadow "$own/"
echo "alice:x:4711:4711::$own/home:/bin/sh" >>"$own/passwd"
echo "alice:*:19000::::::" >>"$own/shadow"
printf 'alice:x:4711:\nargus:x:4712:%s\n' "$3" >>"$own/group"
chown -R 4711:4711 "$own/home"
for name in passwd group shadow; do
    mount --bind "$own/$name" "/etc/$name" || exit 77
done
mount --bind "$own/rules" /etc/polkit-1/rules.d || exit 77

bus=$(dbus-daemon --system --fork --nopidfile --print-pid) || exit 77
/usr/lib/polkit-1/polkitd --no-debug >"$own/polkit.log" 2>&1 &
polkit=$!
for _ in {1..50}; do
    ! grep -q "Acquired the name" "$own/polkit.log" || break
    sleep 0.1
done

as_alice() {
    setsid env -i HOME="$own/home" PATH=/usr/bin:/bin:/usr/sbin:/sbin \
        setpriv --reuid 4711 --regid 4711 --init-groups "$@" </dev/null
}

as_alice "$prefix/bin/argus" start --on-hang 2s -o "$own/home/hangs" || exit 1
as_alice "$prefix/bin/argus" status
as_alice "$prefix/bin/argus" stop
