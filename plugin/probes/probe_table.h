/* The table of probes: text (share/probes.conf says what a line means) to rows.
 *
 * One line is one row. A mistake is an error that names file, line and reason; nothing of that file counts then.
 */
#ifndef ARGUS_PLUGIN_PROBE_TABLE_H
#define ARGUS_PLUGIN_PROBE_TABLE_H

#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/schema.h"
#include "base/vec.h"
#include "recorder/client.h"

/* A symbol: a function, or the function whose address the data at `name` + `offset` holds. */
struct probe_symbol {
    char *name; /* owned */
    uint64_t offset;
    bool is_pointer;
    bool is_pattern; /* of a user's rule: all functions that argus_function_matches() */
};

struct probe_row {
    char *library; /* owned: a file name, or a path */
    char *text;    /* owned: the symbol as it was written */
    char *label;   /* owned */
    char *space;   /* owned */
    struct probe_symbol symbol;
    struct probe_spec spec; /* `space` is its number in this table */
    bool found;             /* of a pattern: probes_send() found a function for it */
};

struct probe_table {
    VEC(struct probe_row) rows;
};

/* Adds the rows in `text`, which has `bytes` bytes and need not end with a NUL; `name` is for errors. On an error the
 * table is as before. */
struct argus_error *probe_table_parse(struct probe_table *table, const char *name, const char *text,
                                      size_t bytes);
struct argus_error *probe_table_read(struct probe_table *table, const char *path);
/* Adds a row, whose texts are the table's from then on, and numbers its space. False without memory. */
bool probe_table_add(struct probe_table *table, struct probe_row *row);
void probe_table_deinit(struct probe_table *table);
void probe_row_deinit(struct probe_row *row);

/* plugin/probes/probe_words.c: the parts of a line. Each is false when `text` is not what it should be. */

/* What the recorder is told of a place. */
struct probe_value probe_value_of(const struct argus_place *place);
/* "arg2->16:u16" */
bool probe_word_value(const char *text, struct probe_value *ret);
/* "arg2->16:u16>=1000" */
bool probe_word_condition(const char *text, struct probe_condition *ret);
/* "1:key_press,4:button_press" */
bool probe_word_kinds(const char *text, struct probe_spec *ret);
/* "queue" */
bool probe_word_shape(const char *text, uint32_t *ret);
/* "g_source_attach", "*g_idle_funcs+16" */
bool probe_word_symbol(const char *text, struct probe_symbol *ret);

#endif
