#!/usr/bin/env bash
# Applies Argus's tracepoints to xnu's source, or takes them out again.
#
#   xnu-patch/check_apply.sh [--dry-run | --undo] [--patches FOLDER] [--original FOLDER] XNU_DIR
#
# In another version of xnu, nothing is applied; where_to.py then says of each hunk what moved and where it would go. For this it
# compares with xnu-11417.121.6, which is in --original, or in the git repository of XNU_DIR.
#
# The patches have no context lines (every line in them is Argus's, none Apple's), so `patch` itself could not notice
# that it puts them into the wrong place. What they belong to is therefore named by SHA-256: each patch lists every file
# that it changes, before and after. All files are checked first, then changed in a copy, then checked again, and only
# then put in place: either all patches are in XNU_DIR afterwards, or nothing has changed.
#
# Runs with the bash, patch and shasum of macOS as well as on Linux. Exit code 0: done; 1: refused, and why.
set -euo pipefail

patches=$(cd "$(dirname "$0")" && pwd)
mode=apply
original=
tag=xnu-11417.121.6

die() {
    echo "check_apply.sh: $*" >&2
    exit 1
}

usage() {
    sed -n 's/^#   //p' "$0" | head -1
    exit "$1"
}

sha256() {
    if command -v sha256sum >/dev/null; then
        sha256sum "$1" | cut -d' ' -f1
    else
        shasum -a 256 "$1" | cut -d' ' -f1
    fi
}

# The lines "before HASH FILE" and "after HASH FILE" of all patches.
hashes() {
    sed -n "s/^$1  *\([0-9a-f]\{64\}\) \(.*\)/\1 \2/p" "$patches"/*.patch
}

# Fails at the end, so that all files that differ are named.
check_files() {
    local which=$1 folder=$2 hash file actual wrong=0
    while read -r hash file; do
        if [ ! -f "$folder/$file" ]; then
            echo "check_apply.sh: $file: not there" >&2
            wrong=$((wrong + 1))
            continue
        fi
        actual=$(sha256 "$folder/$file")
        if [ "$actual" != "$hash" ]; then
            echo "check_apply.sh: $file: has SHA-256 $actual, not $hash" >&2
            wrong=$((wrong + 1))
        fi
    done <<<"$(hashes "$which")"
    [ "$wrong" -eq 0 ]
}

# A file that two patches change would make the hash of one of them wrong; a file that a patch does not name is not checked.
check_patches() {
    local twice named changed
    ls "$patches"/*.patch >/dev/null 2>&1 || die "$patches: no patches there"
    twice=$(hashes before | cut -d' ' -f2 | sort | uniq -d)
    [ -z "$twice" ] || die "two patches change $twice"
    named=$(hashes before | cut -d' ' -f2 | sort)
    changed=$(sed -n 's|^+++ b/||p' "$patches"/*.patch | sort)
    [ "$named" = "$changed" ] || die "$patches: the files that are named by hash are not those that are changed"
}

# All of them, before the first is changed.
check_writable() {
    local hash file wrong=0
    while read -r hash file; do
        if [ ! -w "$1/$file" ]; then
            echo "check_apply.sh: $file: cannot be written" >&2
            wrong=$((wrong + 1))
        fi
    done <<<"$(hashes before)"
    [ "$wrong" -eq 0 ]
}

copy_files() {
    local hash file
    while read -r hash file; do
        mkdir -p "$2/$(dirname "$file")"
        cp "$1/$file" "$2/$file" || return 1
    done <<<"$(hashes before)"
}

# The files of the tag, from the repository of XNU_DIR. Prints the folder; "": it has none of the tag.
original_of() {
    local folder=$2/original hash file
    git -C "$1" rev-parse -q --verify "$tag^{commit}" >/dev/null 2>&1 || return 0
    while read -r hash file; do
        mkdir -p "$folder/$(dirname "$file")"
        git -C "$1" show "$tag:./$file" >"$folder/$file" || return 0
    done <<<"$(hashes before)"
    echo "$folder"
}

say_where() {
    command -v python3 >/dev/null || return 0
    [ -n "$original" ] || original=$(original_of "$1" "$2")
    if [ -z "$original" ] || ! check_files before "$original" 2>/dev/null; then
        echo "check_apply.sh: to see where each hunk would go, name the files of $tag: --original FOLDER, or fetch the tag into $1" >&2
        return 0
    fi
    python3 "$(cd "$(dirname "$0")" && pwd)/where_to.py" "$original" "$1" "$patches" >&2 || true
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --dry-run) mode=dry ;;
        --undo) mode=undo ;;
        --patches)
            [ $# -gt 1 ] || usage 1 >&2
            patches=$(cd "$2" && pwd)
            shift
            ;;
        --original)
            [ $# -gt 1 ] || usage 1 >&2
            original=$(cd "$2" && pwd)
            shift
            ;;
        --help | -h) usage 0 ;;
        -*) usage 1 >&2 ;;
        *) break ;;
        esac
        shift
    done
    [ $# -eq 1 ] || usage 1 >&2
    local xnu=$1 from=before to=after reverse=() work one
    [ -d "$xnu" ] || die "$xnu: no such folder"
    check_patches
    if [ "$mode" = undo ]; then
        from=after to=before reverse=(-R)
    fi

    if [ "$mode" != undo ] && check_files after "$xnu" 2>/dev/null; then
        echo "$xnu has these patches already; nothing was changed"
        return
    fi
    if [ "$mode" = undo ] && check_files before "$xnu" 2>/dev/null; then
        die "$xnu has none of these patches; nothing was changed"
    fi
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" EXIT
    if ! check_files "$from" "$xnu"; then
        [ "$mode" = undo ] || say_where "$xnu" "$work"
        die "$xnu is not what these patches are for ($([ "$mode" = undo ] && echo "$tag with them" || echo "$tag")); nothing was changed"
    fi
    copy_files "$xnu" "$work"
    for one in "$patches"/*.patch; do
        patch -d "$work" -p1 -s -F0 ${reverse[@]+"${reverse[@]}"} <"$one" || die "$one does not apply; nothing was changed"
    done
    check_files "$to" "$work" || die "the patches did not give what they should; nothing was changed"

    if [ "$mode" != dry ]; then
        check_writable "$xnu" || die "$xnu cannot be changed; nothing was changed"
        copy_files "$xnu" "$work/before"
        copy_files "$work" "$xnu" || {
            copy_files "$work/before" "$xnu" || die "$xnu is half changed: not even what was there could be written back"
            die "not all files could be written (is the disk full?); nothing was changed"
        }
    fi
    echo "$(hashes before | wc -l | tr -d ' ') files by $(find "$patches" -name '*.patch' | wc -l | tr -d ' ') patches: $(
        case $mode in
        dry) echo "would apply, and give the right files; nothing was changed" ;;
        undo) echo "taken out, all files as Apple published them" ;;
        apply) echo "applied, all files as they should be" ;;
        esac
    )"
}

main "$@"
