/* Where a recorder's socket and its lock are. */
#ifndef ARGUS_RECORDER_CONTROL_PLACE_H
#define ARGUS_RECORDER_CONTROL_PLACE_H

#include <sys/types.h>

#define CONTROL_PATH_BYTES 64

struct control_place {
    char folder[CONTROL_PATH_BYTES], socket[CONTROL_PATH_BYTES], lock[CONTROL_PATH_BYTES];
};

/* Of a recorder that runs as `uid`. That of root is in a folder of root. An ordinary user's, which
 * has capabilities instead, is in the folder that systemd-logind makes for this user alone. */
struct control_place control_place(uid_t uid);

#endif
