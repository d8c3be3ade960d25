/* `stuck_bus serve NAME`: owns a name, answers one call, and then reads nothing any more.
 * `stuck_bus answer NAME`: answers all calls.
 * `stuck_bus begin NAME`: a service that never takes its name; it has connected to the bus.
 * `stuck_bus ask NAME…`: calls a method of each, in this order, and waits for the answers. */
#include <dbus/dbus.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void serve(DBusConnection *bus, const char *name, bool is_once)
{
    DBusMessage *call;
    dbus_bus_request_name(bus, name, 0, NULL);
    printf("ready\n");
    fflush(stdout);
    for (bool answered = false; !answered || !is_once;) {
        while ((call = dbus_connection_pop_message(bus))) {
            DBusMessage *answer = dbus_message_get_type(call) == DBUS_MESSAGE_TYPE_METHOD_CALL
                                      ? dbus_message_new_method_return(call)
                                      : NULL;
            if (answer)
                dbus_connection_send(bus, answer, NULL);
            answered |= answer != NULL;
        }
        /* The next question, which may be there by now, is to stay unread. */
        if (!answered || !is_once)
            dbus_connection_read_write(bus, -1);
    }
    dbus_connection_flush(bus);
    sleep(600);
}

static void ask(DBusConnection *bus, char **names)
{
    for (; *names; names++) {
        DBusMessage *call = dbus_message_new_method_call(*names, "/", "org.argus.Why", "Ask");
        if (!names[1]) {
            printf("ready\n");
            fflush(stdout);
        }
        dbus_connection_send_with_reply_and_block(bus, call, DBUS_TIMEOUT_INFINITE, NULL);
    }
}

int main(int argc, char **argv)
{
    DBusConnection *bus = argc > 2 ? dbus_bus_get(DBUS_BUS_SESSION, NULL) : NULL;
    if (!bus)
        return 1;
    bool is_once = strcmp(argv[1], "serve") == 0;
    if (is_once || strcmp(argv[1], "answer") == 0)
        serve(bus, argv[2], is_once);
    else if (strcmp(argv[1], "ask") == 0)
        ask(bus, argv + 2);
    else
        while (dbus_connection_read_write(bus, -1)) /* until the bus ends */
            continue;
    return 0;
}
