/* The way from the recorder to a file: a process of its own writes it.
 *
 * A write to a file can take as long as a file system likes: FUSE, NFS, a disk that fails. A
 * process that waits there cannot answer, cannot detach, and after SIGKILL stays until the file
 * system returns, with all its descriptors. So the recorder never touches the file. Before it
 * attaches anything, or with a copy of nothing that is attached, it forks a process without rights,
 * which gets the descriptor and takes orders from shared memory (outlet_queue.h). If the process is
 * stuck, only it is.
 *
 * The recorder does not even hold the descriptor for a moment: closing it is an operation on the
 * file system as well. The new process itself receives the message that carries it.
 *
 * What is queued is bounded. While much is queued, a recording leaves its records in the kernel's
 * rings (outlet_is_behind()), where the oldest are overwritten and counted as lost.
 *
 * An outlet belongs to one thread.
 */
#ifndef ARGUS_RECORDER_OUTLET_H
#define ARGUS_RECORDER_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/trace.h"

struct outlet;

/* Where the descriptor comes from: with the next message of a socket, or (-1) from this process,
 * which loses it. */
struct outlet_source {
    int socket, fd;
    const char *what; /* the file, in messages; borrowed; NULL: the trace */
};

/* Called again and again while the outlet waits for its file system. Waits up to `ms`, and may
 * serve others. False: the recorder is to end, and the outlet waits only one second longer. */
struct outlet_waiter {
    bool (*wait)(void *context, int ms);
    void *context;
};

/* Starts the process, with the rights of `uid` or fewer. It takes the descriptor and looks at the
 * file, which must be empty, regular and open for writing (USAGE). `waiter` is copied; NULL: no one
 * is to be served. In each case the source's message or descriptor is used up. */
struct argus_error *outlet_create(const struct outlet_source *source, uid_t uid,
                                  const struct outlet_waiter *waiter, struct outlet **ret);
/* Ends the process, at the latest when the file system lets go of it. NULL is fine. */
void outlet_destroy(struct outlet *outlet);

/* For a writer. Calls return when their bytes are queued. A failure is reported by the next call;
 * outlet_check() has its message. */
struct argus_output outlet_output(struct outlet *outlet);
/* The failure to write so far; NULL: none. */
struct argus_error *outlet_check(const struct outlet *outlet);
/* Whether so much is queued that no more records should be read. */
bool outlet_is_behind(const struct outlet *outlet);
/* For how long the file system has taken nothing of what is queued; 0: it is not waited for. */
uint64_t outlet_waiting_ns(const struct outlet *outlet);
/* Lets the waiter serve others for a moment, without waiting. */
void outlet_serve(const struct outlet *outlet);
/* Waits until everything is written, and closes the file. Fails after ten seconds in which the file
 * system has taken nothing. */
struct argus_error *outlet_finish(struct outlet *outlet);

/* The path of the file, as the kernel reports it, also after it was closed; "": unknown.
 * `*ret_gone`: it was removed. */
void outlet_path(struct outlet *outlet, char *ret, size_t room, bool *ret_gone);
/* CPU time of the process. */
uint64_t outlet_cpu_ns(const struct outlet *outlet);

#endif
