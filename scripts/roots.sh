# shellcheck shell=bash
# Clean root file systems of other releases, on this kernel. Sourced by scripts/package-matrix and scripts/release.
#
# debootstrap makes a release's base system once. Each use is an overlay on it, called a layer, so the base stays clean. A layer is
# mounted in a mount namespace of its own: when the command in it ends, however it ends, the kernel removes its mounts.
#
# Everything is under $ARGUS_ROOTS, /var/tmp/argus-roots by default. Needs root and scripts/deps roots.

roots=${ARGUS_ROOTS:-/var/tmp/argus-roots}

# Release, distribution, suite. To add a release, add a row. "sysroot" is what scripts/portable compiles against.
roots_table() {
    cat <<'ROWS'
sysroot     debian bullseye
debian12    debian bookworm
debian13    debian trixie
ubuntu24.04 ubuntu noble
ubuntu26.04 ubuntu resolute
ROWS
}

roots_die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# Column $2 of release $1.
root_field() {
    local field
    field=$(roots_table | awk -v release="$1" -v column="$2" '$1 == release { print $column }')
    [ -n "$field" ] || roots_die "no release '$1', only: $(roots_table | awk '{ print $1 }' | xargs)"
    echo "$field"
}

# debootstrap knows an Ubuntu suite by a script of that name, and older versions of it lack the newest suites. All have been links to
# "gutsy" since 2007. The mirrors are debootstrap's own.
debootstrap_scripts() {
    local suite=$1 copy=$roots/debootstrap
    rm -rf "$copy"
    cp -a /usr/share/debootstrap "$copy"
    [ -e "$copy/scripts/$suite" ] || ln -s gutsy "$copy/scripts/$suite"
    echo "$copy"
}

# Ubuntu's keyring. Debian 12 does not package it, Debian 13 does: so it comes from there, signed by Debian.
ubuntu_keyring() {
    local keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
    if [ ! -e "$keyring" ]; then
        root_make debian13 >&2 || return 1
        keyring=$roots/debian13/base$keyring
        [ -e "$keyring" ] ||
            root_run debian13 base apt-get install -y --no-install-recommends ubuntu-keyring >&2 || return 1
    fi
    echo "$keyring"
}

# Makes the base system of release $1, unless it is there.
root_make() {
    local release=$1 distribution suite keyring base=$roots/$1/base
    [ ! -e "$roots/$release/done" ] || return 0
    [ "$(id -u)" -eq 0 ] || roots_die "making a root file system needs root: run it as root"
    distribution=$(root_field "$release" 2) suite=$(root_field "$release" 3)
    local options=(--variant=minbase --include=ca-certificates)
    if [ "$distribution" = ubuntu ]; then
        keyring=$(ubuntu_keyring) || return 1
        options+=("--keyring=$keyring" "--components=main,universe")
    fi
    rm -rf "${base:?}"
    mkdir -p "$base"
    echo "== $release: debootstrap $suite (log: $roots/$release/debootstrap.log)"
    DEBOOTSTRAP_DIR=$(debootstrap_scripts "$suite") \
        debootstrap "${options[@]}" "$suite" "$base" >"$roots/$release/debootstrap.log" 2>&1 || {
        tail -n 5 "$roots/$release/debootstrap.log" >&2
        return 1
    }
    root_settle "$base"
    touch "$roots/$release/done"
}

# Packages start no services there, and dpkg does not wait for the disk.
root_settle() {
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod +x "$1/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/argus-roots"
    rm -f "$1"/var/cache/apt/archives/*.deb
}

# root_run RELEASE LAYER COMMAND…: runs the command as root in a layer; the layer keeps what it writes. Layer "base" is the base.
# $root_share is a folder of this machine that is seen there as /share.
root_run() {
    local release=$1 layer=$2
    shift 2
    mkdir -p "$roots/$release/$layer/upper" "$roots/$release/$layer/work" "$roots/$release/mnt"
    unshare --mount --propagation private bash -c "$root_inside" root_run "$roots/$release" "$layer" "${root_share:-}" "$@" </dev/null
}

# Empties a layer.
root_clean() {
    rm -rf "${roots:?}/$1/${2:?}"
}

# The file of a layer: where this machine sees path $3 after a command in the layer has written it.
root_written() {
    echo "$roots/$1/$2/upper$3"
}

# What root_run does in its namespace: mounts, then the command.
# shellcheck disable=SC2016 # expanded there
root_inside='
set -e
home=$1 layer=$2 share=$3 root=$home/mnt
shift 3
if [ "$layer" = base ]; then
    mount --bind "$home/base" "$root"
else
    mount -t overlay overlay -o "lowerdir=$home/base,upperdir=$home/$layer/upper,workdir=$home/$layer/work" "$root"
fi
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tracefs tracefs "$root/sys/kernel/tracing"
mount --bind /dev "$root/dev"
mount -t devpts devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
cat /etc/resolv.conf >"$root/etc/resolv.conf"
if [ -n "$share" ]; then
    mkdir -p "$root/share"
    mount --bind "$share" "$root/share"
fi
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
    DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
'
