/* What a D-Bus daemon says about its connections. */
#ifndef ARGUS_LIVE_BUS_H
#define ARGUS_LIVE_BUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum { BUS_NAME_BYTES = 256 };

struct live_bus_name {
    char name[BUS_NAME_BYTES]; /* "org.example.Editor", ":1.42" */
    uint32_t pid;              /* of its owner; 0: none, or not known */
    bool can_start;            /* it has no owner, and the daemon can start one */
};

typedef VEC(struct live_bus_name) live_bus_names;

/* Asks the daemon that listens at `path` (an abstract name begins with '@') for all names and their
 * owners, as user `uid` if argus is root. Waits at most a second. False: it did not answer, or does
 * not let this user in. */
bool live_bus_ask(const char *path, uint32_t uid, live_bus_names *ret);

#endif
