/* Darwin's kernel names a thread by what it serves. */
#include "report/device_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The interface's name follows. Longer beginnings first. To add one: a row, with its source in xnu.
 */
static const char *const interface_threads[] = {
    "dlil_input_poll_",      /* bsd/net/dlil_input.c:1464 */
    "dlil_input_",           /* bsd/net/dlil_input.c:1126 */
    "ifnet_start_",          /* bsd/net/dlil.c:2247 */
    "ifnet_poller_",         /* bsd/net/dlil.c:2500 */
    "skywalk_netif_poller_", /* bsd/skywalk/nexus/netif/nx_netif_poll.c:503 */
    "skywalk_doorbell_",     /* bsd/net/dlil.c:2252 */
    "fsw_rx_",               /* bsd/skywalk/nexus/flowswitch/fsw_dp.c:2287 */
};

/* The name of an interface: letters and a number ("en0", "utun3"). What follows is left out. */
static size_t interface_length(const char *name)
{
    size_t length = 0, letters;
    while (islower((unsigned char)name[length]))
        length++;
    letters = length;
    while (isdigit((unsigned char)name[length]))
        length++;
    return letters && length > letters ? length : 0;
}

static bool put_interface(const char *thread, char *buffer, size_t bytes)
{
    for (size_t i = 0; i < sizeof(interface_threads) / sizeof(*interface_threads); i++) {
        size_t length = strlen(interface_threads[i]);
        if (strncmp(thread, interface_threads[i], length) != 0)
            continue;
        const char *name = thread + length;
        size_t name_length = interface_length(name);
        if (name_length)
            snprintf(buffer, bytes, "the network interface %.*s", (int)name_length, name);
        return name_length > 0;
    }
    return false;
}

/* The thread of a driver's work loop has the name of the driver's class (IOWorkLoop.cpp:306): a C++
 * identifier in capitals and small letters. Other threads of the kernel have an underscore or are
 * written in small letters. */
static bool is_class_name(const char *name)
{
    size_t i = 0;
    bool small = false;
    for (; isalnum((unsigned char)name[i]); i++)
        small |= islower((unsigned char)name[i]) != 0;
    return !name[i] && small && i > 4 && isupper((unsigned char)name[0]);
}

const char *text_device(const struct view *view, uint32_t vertex, char *buffer, size_t bytes)
{
    uint32_t server = timeline_device_server(view, vertex);
    const char *thread = server == ARGUS_NONE ? "" : view->threads[server].name;
    if (put_interface(thread, buffer, bytes))
        return buffer;
    if (is_class_name(thread))
        snprintf(buffer, bytes, "the driver %s", thread);
    else
        snprintf(buffer, bytes, "a device or the network");
    return buffer;
}
