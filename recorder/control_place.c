#include "control_place.h"

#include <stdio.h>

#include "protocol.h"

struct control_place control_place(uid_t uid)
{
    struct control_place place;
    if (uid == 0)
        snprintf(place.folder, sizeof(place.folder), "%s", PROTOCOL_DIRECTORY);
    else
        snprintf(place.folder, sizeof(place.folder), "/run/user/%u/argus", (unsigned)uid);
    snprintf(place.socket, sizeof(place.socket), "%.40s/recorder.socket", place.folder);
    snprintf(place.lock, sizeof(place.lock), "%.40s/recorder.lock", place.folder);
    return place;
}
