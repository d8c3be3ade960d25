/* Notes of a recorder: a sentence about what could not be attached, and after a tab a detail that
 * only developers need. */
#ifndef ARGUS_PLUGIN_NOTE_H
#define ARGUS_PLUGIN_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "plugin/command.h"

/* Prints one line; with `detail` a second one, if the note has a detail. Of a long one, the
 * beginning (shown_note_bytes()). */
void note_print(struct session *session, const char *note, size_t length, bool detail);

/* The note as "sentence (detail)"; NULL without memory. */
json_t *note_json(const char *note, size_t length);

#endif
