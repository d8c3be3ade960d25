/* Two callers and two echoes on a real D-Bus daemon: a caller waits for its own echo, through the
 * daemon, whatever the other pair sends at the same time. The daemon's address is in
 * DBUS_SESSION_BUS_ADDRESS; BUS_PID is its process. */
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

enum { PAIRS = 2, ROUNDS = 8, ROUND_MS = 50, THINK_MS = 4 };

struct shared {
    volatile int echoes[PAIRS], callers[PAIRS];
    volatile int ready[PAIRS];
    volatile int done[PAIRS]; /* callers that have finished */
    int daemon;
};

static void fail_unless(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "bus_riders: %s\n", what);
    _exit(1);
}

static void name_of(int own, char *ret, size_t bytes)
{
    snprintf(ret, bytes, "org.argus.Echo%d", own);
}

/* The daemon notices the end of a process as an event, so no process ends before the last reply. */
static void linger(struct shared *shared)
{
    while (!shared->done[0] || !shared->done[1])
        usleep(1000);
}

static void echo(int own, struct shared *shared)
{
    char name[32];
    name_of(own, name, sizeof(name));
    DBusConnection *bus = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    fail_unless(bus, "no bus");
    fail_unless(dbus_bus_request_name(bus, name, 0, NULL) == DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER,
                "the name is taken");
    shared->ready[own] = 1;
    for (int answered = 0; answered < ROUNDS && dbus_connection_read_write(bus, -1);) {
        DBusMessage *call;
        while ((call = dbus_connection_pop_message(bus))) {
            if (dbus_message_is_method_call(call, "org.argus.Echo", "Say")) {
                truth_spin_ms(THINK_MS);
                DBusMessage *reply = dbus_message_new_method_return(call);
                dbus_connection_send(bus, reply, NULL);
                dbus_connection_flush(bus);
                dbus_message_unref(reply);
                answered++;
            }
            dbus_message_unref(call);
        }
    }
    linger(shared);
}

static void call(int own, struct shared *shared)
{
    char name[32];
    name_of(own, name, sizeof(name));
    DBusConnection *bus = dbus_bus_get_private(DBUS_BUS_SESSION, NULL);
    fail_unless(bus, "no bus");
    while (!shared->ready[0] || !shared->ready[1])
        usleep(1000);
    uint64_t start_ns = truth_now_ns() / 1000000 / ROUND_MS * ROUND_MS * 1000000 + 100000000;
    for (int round = 0; round < ROUNDS; round++) {
        truth_sleep_until_ns(start_ns + (uint64_t)(round * ROUND_MS + 2 * own) * 1000000);
        struct truth_wait wait = truth_begin();
        DBusMessage *message = dbus_message_new_method_call(name, "/", "org.argus.Echo", "Say");
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, 10000, NULL);
        fail_unless(reply, "no reply");
        wait.direct = shared->daemon;
        wait.through[0] = shared->echoes[own];
        wait.never[0] = shared->echoes[!own];
        wait.never[1] = shared->callers[!own];
        dbus_message_unref(reply);
        dbus_message_unref(message);
        truth_say(&wait);
    }
    shared->done[own] = 1;
    linger(shared);
}

static void begin(bool is_echo, int own, struct shared *shared)
{
    pid_t pid = fork();
    fail_unless(pid >= 0, "no fork");
    if (pid)
        return;
    (is_echo ? shared->echoes : shared->callers)[own] = getpid();
    if (is_echo)
        echo(own, shared);
    else
        call(own, shared);
    _exit(0);
}

int main(void)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *daemon = getenv("BUS_PID");
    fail_unless(shared != MAP_FAILED && daemon, "no memory, or no BUS_PID");
    shared->daemon = daemon ? atoi(daemon) : 0;
    for (int i = 0; i < PAIRS; i++) {
        begin(true, i, shared);
        begin(false, i, shared);
    }
    while (wait(NULL) > 0)
        continue;
    return 0;
}
