/* Fetches files from debuginfod servers by build ID: the debug file of a program or library, or the
 * program or library itself if it was deleted.
 *
 * Servers are asked only if DEBUGINFOD_URLS names them, and only for frames that an answer shows.
 * By naming a server, the user permits telling it what was recorded. Everything is bounded: by the
 * time for one command, and by the library's limits (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME,
 * DEBUGINFOD_MAXSIZE). One object belongs to one thread.
 */
#ifndef ARGUS_EVENT_DEBUGINFOD_H
#define ARGUS_EVENT_DEBUGINFOD_H

#include "argus/event.h"

struct debuginfod;

enum debuginfod_kind { DEBUGINFOD_PROGRAM, DEBUGINFOD_DEBUG, DEBUGINFOD_KINDS };

/* NULL without DEBUGINFOD_URLS, or without memory. `progress` may be NULL; if it returns false,
 * fetching stops until debuginfod_renew(). */
struct debuginfod *debuginfod_create(argus_progress progress, void *context);
void debuginfod_destroy(struct debuginfod *servers);

/* Starts a new command: resets its time and counts. */
void debuginfod_renew(struct debuginfod *servers);

/* Opens the file with that build ID: from the library's cache, else from a server. `name` appears
 * in the progress line. -1: no server has the file, or fetching has stopped. The caller frees
 * `*ret_path`. */
int debuginfod_fetch(struct debuginfod *servers, enum debuginfod_kind kind, const uint8_t *id,
                     uint32_t id_bytes, const char *name, char **ret_path);

/* What was fetched since debuginfod_renew(); borrowed. */
const struct argus_fetched *debuginfod_totals(const struct debuginfod *servers);

#endif
