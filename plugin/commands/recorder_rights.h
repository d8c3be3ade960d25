/* What a running recorder is able to do, as the kernel reports it, not the recorder itself. */
#ifndef ARGUS_PLUGIN_COMMANDS_RECORDER_RIGHTS_H
#define ARGUS_PLUGIN_COMMANDS_RECORDER_RIGHTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct recorder_rights {
    bool known; /* false: this system does not tell */
    uid_t uid;
    uint64_t capabilities; /* effective; bits of CAP_… */
    bool filtered;         /* its system calls are filtered (seccomp) */
};

/* Reads /proc. */
struct recorder_rights recorder_rights_get(pid_t recorder_pid);
/* "uid 0 with 3 capabilities (bpf, perfmon, syslog), system calls are filtered"; cut off to
 * `room` bytes. */
void recorder_rights_text(const struct recorder_rights *rights, char *ret, size_t room);
/* Null if unknown; NULL without memory. */
json_t *recorder_rights_json(const struct recorder_rights *rights);

#endif
