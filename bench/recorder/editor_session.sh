#!/usr/bin/env bash
# The same session with a real editor each time: Mousepad (GTK 3) under Xvfb opens a text of 4,000 lines, is typed into,
# scrolled, searched, and closed; about fifteen seconds, nearly all of them waiting for the typist.
#
#   editor_session.sh            exits 1 when the editor did not do as it was told
set -euo pipefail

folder=$(mktemp -d)
started=()

clean_up() {
    local i
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill "${started[i]}" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT

die() {
    echo "editor_session: $*" >&2
    exit 1
}

# wait_for SECONDS COMMAND…: until the command succeeds.
wait_for() {
    local tries=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}

start_display() {
    Xvfb -displayfd 3 -screen 0 1280x1024x24 -nolisten tcp 3>"$folder/display" 2>"$folder/xvfb.log" &
    started+=($!)
    wait_for 20 test -s "$folder/display" || die "Xvfb did not start: $(tail -3 "$folder/xvfb.log")"
    DISPLAY=:$(cat "$folder/display")
    export DISPLAY
}

# A home of its own and no session bus: no settings, no other window, nothing that stays.
start_editor() {
    awk 'BEGIN { for (i = 1; i <= 4000; i++) print "Line " i " of a text that somebody is about to work on." }' \
        >"$folder/text.txt"
    HOME=$folder XDG_CONFIG_HOME=$folder XDG_CACHE_HOME=$folder XDG_DATA_HOME=$folder XDG_RUNTIME_DIR=$folder \
        GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 GIO_USE_VFS=local GDK_BACKEND=x11 DBUS_SESSION_BUS_ADDRESS=disabled: \
        mousepad --disable-server "$folder/text.txt" >"$folder/editor.log" 2>&1 &
    editor=$!
    started+=("$editor")
    wait_for 30 xdotool search --onlyvisible --name 'text.txt' ||
        die "the editor showed no window: $(tail -3 "$folder/editor.log")"
    window=$(xdotool search --onlyvisible --name 'text.txt' | head -1)
    xdotool windowfocus --sync "$window"
}

keys() {
    local key
    for key in "$@"; do
        xdotool key "$key"
        sleep 0.1
    done
}

main() {
    local i
    start_display
    start_editor
    for i in 1 2 3 4 5; do
        xdotool type --delay 60 "Paragraph $i: the quick brown fox jumps over the lazy dog. "
        keys Return Page_Down Page_Down Page_Up
    done
    keys ctrl+End Return
    xdotool type --delay 60 'What is typed at the end of the text.'
    keys Return ctrl+s
    xdotool mousemove --window "$window" 400 300 click --repeat 10 --delay 100 5
    keys ctrl+Home ctrl+a ctrl+c Right ctrl+v ctrl+z
    keys ctrl+q
    grep -q 'What is typed at the end of the text.' "$folder/text.txt" || die "the editor did not save what was typed"
    kill "$editor" 2>/dev/null || true
}

main
