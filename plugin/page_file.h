/* Writes a page of HTML to a file of the user's. */
#ifndef ARGUS_PLUGIN_PAGE_FILE_H
#define ARGUS_PLUGIN_PAGE_FILE_H

#include "argus/report.h"
#include "plugin/session.h"

/* Writes what `write` writes to `path`, which exists only if all of it could be written. */
struct argus_error *page_file_save(struct session *session, const char *path,
                                   struct argus_error *(*write)(const struct argus_sink *sink,
                                                                void *context),
                                   void *context);

#endif
