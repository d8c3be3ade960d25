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
own_records='^/root/\.(cache|local/share)/fish|^/var/lib/(dpkg|apt)/|^/etc/ld\.so\.cache$|^/usr/share/mime/|/__pycache__'

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

# A user with sudo, and a folder of theirs.
add_stranger() {
    id stranger >/dev/null 2>&1 || useradd --create-home --shell /bin/bash stranger
    echo 'stranger ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/stranger
    # sudo looks the host's name up
    grep -q "$(hostname)" /etc/hosts || echo "127.0.1.1 $(hostname)" >>/etc/hosts
}

# Runs a script as that user, with the argus of $1, a folder.
as_stranger() {
    su - stranger -c "set -eu -o pipefail; PATH=$1:\$PATH; try=$try; mkdir -p ~/work; cd ~/work; $2" </dev/null
}

# $@: a text, then the commands whose answer has it, whatever the exit code.
# shellcheck disable=SC2016 # expanded there
says='
says() {
    local answer
    answer=$("${@:2}" 2>&1 </dev/null) || true
    echo "$answer"
    grep -qF -- "$1" <<<"$answer" || { echo "\"${*:2}\" does not say: $1"; return 1; }
}
'

# shellcheck disable=SC2016 # expanded there
in_a_folder='
argus -V | grep "^argus [0-9]"
says "there is no trace (*.argus) in this folder" argus diagnose
says "recording into a ring of 512 MB in memory" argus start
says "started by uid $(id -u)" argus status
says "already recording" argus start
"$try/frozen-editor"
says "freeze.argus: " argus stop -o freeze.argus
says "no recorder is running" argus stop
says "using freeze.argus (the only trace here" argus diagnose --process editor --auto
says "dict-server" argus diagnose --process editor --auto
mkdir -p second
cd second
says "argus.argus: " argus record -- "$try/frozen-editor"
says "using argus.argus (the only trace here" argus hangs
says "dict-server" argus diagnose --process editor --auto
says "looking for hangs of 2 s or more" argus start --on-hang 2s -o ~/hangs
"$try/frozen-editor"
says " kept as files" argus stop
cd ~/hangs
says "dict-server" argus diagnose --auto --process editor "$(ls -t hang-editor-*.argus | head -n 1)"
'

step_folder() {
    apt_install --no-install-recommends sudo
    add_stranger
    as_stranger /usr/bin "$says$in_a_folder"
    echo "freeze.argus, argus.argus and ~/hangs"
}

# "TEXT | COMMAND" of each. After step_folder.
wrong_commands() {
    cat <<'ROWS'
V is missing: a vertex such as v1234 | argus slice
it is plain text | argus import /etc/passwd -o x.argus
it is a perf.data file | argus info perf.data
vertices, for ui.perfetto.dev | argus graph export -o x.json freeze.argus
no hang 99: 'argus hangs' lists | argus diagnose --hang 99 freeze.argus
no process 'nosuch' in the trace | argus diagnose --process nosuch freeze.argus
No hangs: | argus hangs --threshold 100s freeze.argus
no process or thread of this name was seen | argus record --unwind nosuch -o y.argus -- sleep 0.1
recording into a ring | argus start
it belongs to root, and this is user | argus watchflag 1 libc.so environ
nothing was written (argus stop -o FILE keeps | argus stop
there is no such program in PATH | argus record -- nosuch
No such file or directory | argus diagnose nosuch.argus
did you mean 'argus hangs'? | argus hangz
did you mean --process? | argus diagnose --proces editor
Permission denied | argus record -o /etc/x.argus -- true
v0 | argus slice --auto freeze.argus v0
v0 | argus slice --auto v0 freeze.argus
ROWS
}

step_errors() {
    local text command script=
    while IFS='|' read -r text command; do
        script+="says $(printf %q "${text% }") $command"$'\n'
    done < <(wrong_commands)
    as_stranger /usr/bin "$says printf PERFILE2 >perf.data; $script"
    echo "$(wrong_commands | wc -l) answers"
}

# Types into a shell at a terminal, with Tab; its output is left in /root/typed.
press() {
    local keys
    { sleep 4; for keys in "${@:2}"; do printf '%b' "$keys"; sleep 1.5; done; } |
        TERM=vt100 script -qc "$1" /root/typed >/dev/null || true
}

step_shells() {
    local shell
    apt_install --no-install-recommends man-db bash-completion zsh fish
    whatis argus argus-recorder
    printf 'autoload -Uz compinit; compinit -u\n' >/root/.zshrc
    for shell in "bash --rcfile /usr/share/bash-completion/bash_completion -i" "zsh -i" "fish -i"; do
        press "$shell" 'argus hel\t' 'diagn\t' '\r' 'argus schema re\t' 'x\r' 'exit\r'
        tr -d '\0\r' </root/typed >/root/typed-text
        cat /root/typed-text
        grep -q '^usage: argus diagnose ' /root/typed-text
        grep -q 'no rules are kept as "x"' /root/typed-text || { echo "$shell: schema re<Tab>"; exit 1; }
    done
    echo "whatis, bash, zsh, fish"
}

step_units() {
    apt_install --no-install-recommends systemd
    systemd-analyze verify /usr/lib/systemd/system/argus.service
    XDG_RUNTIME_DIR=/run systemd-analyze --user verify /usr/lib/systemd/user/argus-on-hang.service
    [ "$(systemctl --root=/ is-enabled argus.service || true)" = disabled ]
    systemd-analyze --version | head -n 1
}

# The package as an earlier version; dpkg compares only the numbers.
pack_older() {
    dpkg-deb -R /share/"$release"/argus_*.deb /root/older
    sed -i "s/^Version: .*/Version: 0.0.1~$release/" /root/older/DEBIAN/control
    dpkg-deb -b /root/older /root/argus_older.deb
    rm -rf /root/older
}

step_upgrade() {
    apt-get -q update
    # shellcheck disable=SC2046 # several words
    apt_install --no-install-recommends $(dpkg-deb -f /share/"$release"/argus_*.deb Depends | sed 's/([^)]*)//g; s/,/ /g')
    list_files >"$files_before"
    pack_older
    apt_install --no-install-recommends /root/argus_older.deb
    argus start
    "$try/frozen-editor"
    apt_install --no-install-recommends /share/"$release"/argus_*.deb
    package_version | grep -v '^0\.0\.1'
    argus status
    argus stop -o "$trace"
    diagnose_with argus
    argus start
    apt-get -q remove -y argus
    sleep 1
    ! readlink /proc/[0-9]*/exe | grep '^/usr/bin/argus-recorder' || { echo "the recorder still runs"; exit 1; }
    apt-get -q purge -y argus
    list_files >/root/files-after
    LC_ALL=C comm -13 "$files_before" /root/files-after | tee /root/left
    [ ! -s /root/left ]
    echo "recorded across the upgrade; removed while it recorded"
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
    apt_install --no-install-recommends sudo
    add_stranger
    as_stranger "$home/bin" "$says$in_a_folder"
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
    add_stranger
    su - stranger -c "git clone -q $try/argus.bundle argus && cd argus && ./scripts/demo --batch" </dev/null
    brought=$(($(packages_size) - before))
    [ "$brought" -le 400 ] || { echo "the demo brought $brought MB of packages"; exit 1; }
    echo "$brought MB of packages, build/clang $(du -sm /home/stranger/argus/build/clang | cut -f1) MB"
}

# The recorder is a process of this machine: a step that fails must not leave it behind.
trap 'PATH=$PATH:/opt/argus/bin argus stop >/dev/null 2>&1 || true' EXIT
"step_$1"
