#!/usr/bin/env bash
# load.sh NAME: one ordinary task, with its servers as children, so that their time counts. Exits 75 when this machine lacks
# what it needs. To add a load: a function, and a row in bench_overhead.py.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d /tmp/argus-overhead-XXXXXX)
trap 'rm -rf "$folder"' EXIT

needs() {
    local program
    for program in "$@"; do
        command -v "$program" >/dev/null || exit 75
    done
}

load_compile() {
    needs gcc
    find "$here/../../libargus" -name '*.c' -path '*/trace/*' -o -name '*.c' -path '*/base/*' | sort |
        xargs -P 2 -I {} gcc -std=gnu17 -D_GNU_SOURCE -O2 -w -I"$here/../../libargus/include" -I"$here/../../libargus" \
            -c -o /dev/null {}
}

load_copy() {
    local i
    for i in 1 2 3; do
        cp -r /usr/share/doc "$folder/copy$i"
    done
}

load_sqlite() {
    needs sqlite3
    local i
    {
        echo 'create table t (a integer primary key, b text, c integer);'
        for ((i = 0; i < 400; i++)); do
            echo "insert into t (b, c) select hex(randomblob(20)), random() % 1000 from generate_series(1, 50);"
        done
        echo 'create index i on t (c); select count(*), sum(length(b)) from t where c > 10 group by c % 7;'
    } | sqlite3 "$folder/test.db" >/dev/null
}

load_convert() {
    needs groff gunzip
    local page
    for page in /usr/share/man/man1/{bash,gcc,perl,git,tar}*.1.gz; do
        gunzip -c "$page" | groff -man -Tps >/dev/null 2>&1 || true
    done
}

load_web() {
    local server
    server=$(command -v apache2 || command -v httpd) || exit 75
    needs ab
    local modules=/usr/lib/apache2/modules
    mkdir "$folder/pages"
    head -c 4000 /dev/zero | tr '\0' 'x' >"$folder/pages/index.html"
    chmod -R a+rX "$folder"
    cat >"$folder/conf" <<CONF
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule dir_module $modules/mod_dir.so
ServerName localhost
Listen 127.0.0.1:8093
PidFile $folder/pid
ErrorLog $folder/errors
DocumentRoot $folder/pages
KeepAlive On
MaxKeepAliveRequests 0
User nobody
Group nogroup
CONF
    "$server" -f "$folder/conf" -DFOREGROUND &
    local pid=$!
    for _ in {1..50}; do
        ab -q -n 1 http://127.0.0.1:8093/ >/dev/null 2>&1 && break
        sleep 0.1
    done
    ab -q -k -c 8 -n "${REQUESTS:-40000}" http://127.0.0.1:8093/ >/dev/null 2>&1
    kill "$pid"
    wait "$pid" || true
}

load_keyvalue() {
    needs redis-server redis-benchmark redis-cli
    local socket=$folder/socket
    redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no --dir "$folder" >/dev/null &
    local pid=$!
    for _ in {1..50}; do
        redis-cli -s "$socket" ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    redis-benchmark -s "$socket" -q -c 8 -n "$((${REQUESTS:-40000} / 2))" -t set,get >/dev/null
    kill "$pid"
    wait "$pid" || true
}

load_pgbench() {
    needs pgbench runuser
    local programs
    programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort | tail -1)
    [ -n "$programs" ] && id postgres >/dev/null 2>&1 || exit 75
    chown postgres "$folder"
    runuser -u postgres -- "$programs/initdb" -D "$folder/db" >/dev/null 2>&1
    runuser -u postgres -- "$programs/postgres" -D "$folder/db" -k "$folder" -c listen_addresses= >/dev/null 2>&1 &
    local pid=$!
    for _ in {1..100}; do
        runuser -u postgres -- psql -h "$folder" -c 'select 1' postgres >/dev/null 2>&1 && break
        sleep 0.1
    done
    runuser -u postgres -- pgbench -h "$folder" -q -i -s 1 postgres >/dev/null 2>&1
    runuser -u postgres -- pgbench -h "$folder" -n -c 4 -j 2 -t 500 postgres >/dev/null 2>&1
    runuser -u postgres -- "$programs/pg_ctl" -D "$folder/db" -m fast stop >/dev/null 2>&1
    wait "$pid" || true
}

"load_$1"
