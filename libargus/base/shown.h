/* Text as it is shown to a person.
 *
 * Names of threads, files and functions come from other programs, and a trace can come from a
 * stranger. A terminal obeys control characters in them, and marks of writing direction (U+202E …)
 * make a line read as another one than it is. So all output of commands goes through this filter:
 * to the terminal, into files, and into questions, notes and errors. What it escapes is written as
 * \u001b, which is also JSON's way to write it, so a filtered JSON text has the same value; a byte
 * that is not UTF-8 is written as \xff.
 *
 * Line breaks and tabs are part of output. Names have none: their readers write them as
 * SHOWN_NAME_NEWLINE and SHOWN_NAME_TAB (utf8_repair_name()), which the filter shows as what they
 * stand for.
 */
#ifndef ARGUS_BASE_SHOWN_H
#define ARGUS_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

#define SHOWN_NAME_NEWLINE '\v'
#define SHOWN_NAME_TAB     '\f'

/* Where the filter's output goes; false: it cannot be written. */
typedef bool (*shown_write)(void *context, const char *text, size_t bytes);

/* What is between two calls of shown_put(). A zeroed struct escapes everything. */
struct shown {
    bool lines;   /* a newline and a tab pass */
    bool colours; /* the sequences that Argus itself writes pass */
    char kept[8]; /* the beginning of a character or sequence */
    size_t kept_bytes;
};

/* Passes `text` on. The end of `text` can be kept for the next call. */
bool shown_put(struct shown *shown, const char *text, size_t bytes, shown_write write,
               void *context);
/* Passes on what was kept. */
bool shown_end(struct shown *shown, shown_write write, void *context);

/* The most that a text shows of a trace's notes: of each, of the warnings, and of all. A stranger's
 * trace can have any number of notes, of any length; the recorder writes a few sentences. JSON has
 * all. */
enum { SHOWN_NOTE_BYTES = 500, SHOWN_WARNINGS = 20, SHOWN_NOTES = 500 };

/* How many bytes of a note of `length` bytes are shown: all, or at most SHOWN_NOTE_BYTES, which end
 * between two characters of UTF-8; then the caller shows "…" behind them. */
size_t shown_note_bytes(const char *note, size_t length);

/* A copy of a single line as it is shown: owned by the caller, NULL without memory. */
char *shown_line(const char *text);

#endif
