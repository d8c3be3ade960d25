/* Files that debuginfod servers have, by build ID: the debug file of a program or library, or itself where it is gone.
 *
 * Asked only where DEBUGINFOD_URLS names servers, and only for frames that an answer shows: the name of a server is the
 * user's permission to tell it what was recorded. Everything is bounded: the time for one command, and what the user sets for the library
 * (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE). One object belongs to one thread.
 */
#ifndef ARGUS_EVENT_DEBUGINFOD_H
#define ARGUS_EVENT_DEBUGINFOD_H

#include "argus/event.h"

struct debuginfod;

enum debuginfod_kind { DEBUGINFOD_PROGRAM, DEBUGINFOD_DEBUG, DEBUGINFOD_KINDS };

/* NULL without DEBUGINFOD_URLS, or without memory. `progress` may be NULL; false from it ends fetching until debuginfod_renew(). */
struct debuginfod *debuginfod_create(argus_progress progress, void *context);
void debuginfod_destroy(struct debuginfod *servers);

/* A new command begins: its time and its counts begin at 0. */
void debuginfod_renew(struct debuginfod *servers);

/* Opens the file with that build ID: from the library's cache, else from a server. `name` is what the progress line calls it. -1: no
 * server has it, or nothing is fetched any more. The caller frees `*ret_path`. */
int debuginfod_fetch(struct debuginfod *servers, enum debuginfod_kind kind, const uint8_t *id,
                     uint32_t id_bytes, const char *name, char **ret_path);

/* What was fetched since debuginfod_renew(); borrowed. */
const struct argus_fetched *debuginfod_totals(const struct debuginfod *servers);

#endif
