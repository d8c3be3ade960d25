/* The program that serves a file: a file system in user space (FUSE). */
#ifndef ARGUS_DIAGNOSE_FILE_SERVER_H
#define ARGUS_DIAGNOSE_FILE_SERVER_H

#include "diagnose/diagnoser.h"

/* The thread that has to end the wait of `vertex` for a file or a page, and did not do so in
 * `window`; ARGUS_NONE: none is known, so the wait may be for a disk. `*ret_busy`: the thread
 * has not taken the request, so it is a guess. Errors: memory. */
struct argus_error *file_server_find(const struct view *view, uint32_t vertex, struct window window,
                                     uint32_t *ret, bool *ret_busy);

#endif
