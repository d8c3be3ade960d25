#include "plugin/note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "plugin/json_output.h"

/* The length of the first sentence; `length` if nothing follows it. */
static size_t sentence_length(const char *note, size_t length)
{
    const char *tab = memchr(note, '\t', length);
    return tab ? (size_t)(tab - note) : length;
}

static void print_part(struct session *session, const char *before, const char *text, size_t length)
{
    size_t bytes = shown_note_bytes(text, length);
    session_printf(session, "%-10s %.*s%s\n", before, (int)bytes, text, bytes < length ? "…" : "");
}

void note_print(struct session *session, const char *note, size_t length, bool detail)
{
    size_t sentence = sentence_length(note, length);
    print_part(session, "note", note, sentence);
    if (detail && sentence < length)
        print_part(session, "", note + sentence + 1, length - sentence - 1);
}

json_t *note_json(const char *note, size_t length)
{
    size_t sentence = sentence_length(note, length);
    size_t detail = sentence < length ? length - sentence - 1 : 0;
    char *text = NULL;
    if (asprintf(&text, detail ? "%.*s (%.*s)" : "%.*s", (int)sentence, note, (int)detail,
                 note + length - detail) < 0)
        return NULL;
    json_t *json = json_text(text);
    free(text);
    return json;
}
