/* Notes of a recorder: a sentence about what could not be attached, and behind a tab what only a developer wants to read. */
#ifndef ARGUS_PLUGIN_NOTE_H
#define ARGUS_PLUGIN_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "plugin/command.h"

/* One line; with `detail` a second one, where the note has that part. */
void note_print(struct session *session, const char *note, size_t length, bool detail);

/* Both parts, as "sentence (detail)"; NULL without memory. */
json_t *note_json(const char *note, size_t length);

#endif
