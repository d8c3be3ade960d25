/* The probes and interpreters that the front end has sent. They are kept until the recording
 * begins, their names until it ends. */
#ifndef ARGUS_RECORDER_PROBE_LIST_H
#define ARGUS_RECORDER_PROBE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "base/vec.h"
#include "protocol.h"

struct probe_file {
    int fd; /* of the library; owned; -1: closed, or owned by another probe */
    uint64_t device, inode;
};

struct probe {
    uint32_t file; /* index into files */
    uint64_t offset;
    struct probe_spec spec;
    struct argus_probe_entry entry; /* its strings are owned */
};

struct probe_list {
    VEC(struct probe) probes;
    VEC(struct probe_file) files; /* each library once, however many probes it has */
    VEC(struct interpreter_spec) interpreters;
    VEC(char *) absent; /* owned sentences about probes that could not be found */
    /* The user who sent a probe or an interpreter. 0: root sent all of them. Root may start the
     * recording for which another user has sent probes. */
    uid_t client;
};

/* Takes `fd`, a regular file open for reading, also after an error. */
struct argus_error *probe_list_add(struct probe_list *list, const struct request_probe *request,
                                   int fd);
struct argus_error *probe_list_add_absent(struct probe_list *list, const char *text);
struct argus_error *probe_list_add_interpreter(struct probe_list *list,
                                               const struct interpreter_spec *spec);
/* Removes the probe at this index; the order of the others stays. */
void probe_list_remove(struct probe_list *list, size_t index);
/* Closes the files. Nothing more can be attached; existing attachments stay. */
void probe_list_close_files(struct probe_list *list);
/* Writes the names of all probes, or only of hooks (for a backend without probes). */
struct argus_error *probe_list_write(const struct probe_list *list, bool only_hooks,
                                     struct argus_writer *writer);
void probe_list_deinit(struct probe_list *list);

#endif
