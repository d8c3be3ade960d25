#!/usr/bin/env bash
# The steps of scripts/package-matrix. Runs in a clean root, where /share is dist/:  package_steps.sh STEP RELEASE
#
# A step fails by its exit code. Its last line of output is what the matrix prints of it.
set -eu -o pipefail

try=/share/try
release=$2
trace=/root/freeze.argus
files_before=/root/files-before
# Where a package has no business to leave anything. dpkg's and apt's own records, and caches of other packages' triggers, change.
looked_at="/etc /usr /var/lib /opt /root/.config /root/.cache /root/.local"
own_records='^/var/lib/(dpkg|apt)/|^/etc/ld\.so\.cache$|^/usr/share/mime/|/__pycache__'

apt_install() {
    apt-get -q install -y "$@"
}

# Files, folders and links of the system, without what package managers keep of their own.
list_files() {
    local folder
    for folder in $looked_at; do
        [ ! -e "$folder" ] || find "$folder" -xdev
    done | grep -Ev "$own_records" | LC_ALL=C sort
}

package_version() {
    dpkg-query -W -f '${Version}' argus
}

# What the package needs is there before, so that the lists differ by the package alone.
step_install() {
    apt-get -q update
    dpkg-deb -f /share/"$release"/argus_*.deb Depends
    # shellcheck disable=SC2046 # several words
    apt_install --no-install-recommends $(dpkg-deb -f /share/"$release"/argus_*.deb Depends | sed 's/([^)]*)//g; s/,/ /g')
    list_files >"$files_before"
    apt_install --no-install-recommends /share/"$release"/argus_*.deb
    argus version
    argus-recorder --version
    echo "argus $(package_version), $(dpkg-deb -f /share/"$release"/argus_*.deb Depends | tr ',' '\n' | wc -l) dependencies"
}

record_with() {
    local argus=$1
    "$argus" record --backend=bpf -o "$trace" -- "$try/frozen-editor"
    "$argus" info --json "$trace" | tr ',{' '\n' | grep -E '"(records|lost)"' | tr -d ' "' | head -n 2 | paste -sd' '
}

diagnose_with() {
    "$1" diagnose --process editor --auto "$trace" >/root/diagnosis
    cat /root/diagnosis
    grep -q 'dict-server' /root/diagnosis
    grep -q 'rebuild_index' /root/diagnosis
}

step_record() {
    record_with argus
}

step_diagnose() {
    diagnose_with argus
    echo "names dict-server, rebuild_index"
}

# Runs argus commands in LLDB; $@: options of lldb. Nothing but what LLDB finds by itself makes the command known.
argus_in_lldb() {
    local lldb=$1
    shift
    (cd / && "$lldb" --batch "$@" -o "argus version" -o "argus load $trace" -o "argus diagnose --process editor --auto") >/root/in-lldb 2>&1
    cat /root/in-lldb
    if grep '^error:' /root/in-lldb; then
        return 1
    fi
    grep -q 'dict-server' /root/in-lldb
    grep -o 'in lldb version [0-9.]*' /root/in-lldb | tail -n 1
}

step_lldb() {
    apt_install --no-install-recommends lldb
    echo 'plugin load libargus.so' >/root/.lldbinit
    argus_in_lldb lldb
    rm /root/.lldbinit
    # And as a whole file, and through the front end.
    argus_in_lldb lldb --no-lldbinit -o "command source /usr/share/argus/argus.lldbinit"
    argus debug --batch -o "argus diagnose --process editor --auto" "$trace" >/root/in-lldb 2>&1
    grep -q dict-server /root/in-lldb
    lldb --version
}

step_autoload() {
    mkdir -p /usr/lib/lldb/plugins
    ln -s ../../argus/libargus.so /usr/lib/lldb/plugins/libargus.so
    argus_in_lldb lldb --no-lldbinit
    rm /usr/lib/lldb/plugins/libargus.so
    rmdir -p --ignore-fail-on-non-empty /usr/lib/lldb/plugins
    lldb --version
}

step_dbgsym() {
    apt_install --no-install-recommends /share/"$release"/argus-dbgsym_*.deb
    lldb --no-lldbinit --batch -o "image lookup --verbose --name main" /usr/bin/argus | tee /root/dbgsym
    grep -q 'shell\.c:[0-9]' /root/dbgsym
    grep -o 'shell\.c:[0-9]*' /root/dbgsym | head -n 1
}

step_manual() {
    local page count=0
    for page in $(dpkg -L argus | grep '/man/man.*/.*\.[1-8]'); do
        grep -qE '^\.SH NAME' "$page"
        count=$((count + 1))
    done
    [ "$count" -gt 0 ]
    echo "$count pages"
}

# lldb and what it brought stay, so the comparison is made of what dpkg does not know, and of the package's own list.
step_remove() {
    local left file
    dpkg -L argus | sort >/root/installed
    apt-get -q purge -y argus-dbgsym argus
    while read -r file; do
        [ -d "$file" ] && [ ! -L "$file" ] || [ ! -e "$file" ] || { echo "$file is left"; exit 1; }
    done </root/installed
    apt-get -q purge -y --autoremove lldb
    list_files >/root/files-after
    left=$(LC_ALL=C comm -13 "$files_before" /root/files-after | grep -i argus || true)
    [ -z "$left" ] || { echo "left: $(echo "$left" | xargs)"; exit 1; }
    if command -v argus; then
        return 1
    fi
    echo "$(wc -l </root/installed) paths gone"
}

step_tarball() {
    local home=/opt/argus
    mkdir -p "$home"
    apt-get -q update
    apt_install --no-install-recommends xz-utils lldb
    tar -xf /share/try/portable.tar.xz -C "$home" --strip-components=1
    record_with "$home/bin/argus"
    diagnose_with "$home/bin/argus"
    argus_in_lldb lldb --no-lldbinit -o "plugin load $home/lib/argus/libargus.so"
    # Into a file: LLDB 14 never ends when the reader of its output has closed the pipe.
    "$home/bin/argus" debug --batch -o "argus diagnose --process editor --auto" "$trace" >/root/in-lldb 2>&1
    grep -q dict-server /root/in-lldb
    "$home/bin/argus-hook" --help >/dev/null
    lldb --version
}

# Megabytes of all installed packages.
packages_size() {
    dpkg-query -W -f '${Installed-Size}\n' | awk '{ sum += $1 } END { printf "%d\n", sum / 1024 }'
}

# What a stranger has: git, sudo and a password-less account; no compiler.
step_demo() {
    local before brought
    apt-get -q update
    apt_install --no-install-recommends git sudo
    before=$(packages_size)
    useradd --create-home --shell /bin/bash stranger
    echo 'stranger ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/stranger
    su - stranger -c "git clone -q $try/argus.bundle argus && cd argus && ./scripts/demo --batch" </dev/null
    brought=$(($(packages_size) - before))
    [ "$brought" -le 400 ] || { echo "the demo brought $brought MB of packages"; exit 1; }
    echo "$brought MB of packages, build/clang $(du -sm /home/stranger/argus/build/clang | cut -f1) MB"
}

"step_$1"
