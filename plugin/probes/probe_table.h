/* The probe table: parses text (share/probes.conf explains the lines) into rows.
 *
 * One line is one row. A mistake is an error that names file, line and reason; then no line of that
 * file is used.
 */
#ifndef ARGUS_PLUGIN_PROBE_TABLE_H
#define ARGUS_PLUGIN_PROBE_TABLE_H

#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/schema.h"
#include "base/vec.h"
#include "recorder/client/client.h"

/* A symbol: a function, or the function whose address is stored at the data symbol `name` +
 * `offset`. */
struct probe_symbol {
    char *name; /* owned */
    uint64_t offset;
    bool is_pointer;
    bool is_pattern; /* from a user's rule: all functions that argus_function_matches() */
};

struct probe_row {
    char *library; /* owned: a file name or a path */
    char *text;    /* owned: the symbol as it was written */
    char *label;   /* owned */
    char *space;   /* owned */
    struct probe_symbol symbol;
    struct probe_spec spec; /* its `space` is the number in this table */
    bool found;             /* for a pattern: probes_send() found a function */
};

struct probe_table {
    VEC(struct probe_row) rows;
};

/* Adds the rows of `text`, which has `bytes` bytes and need not end with a NUL; `name` is for
 * errors. On an error the table stays as it was. */
struct argus_error *probe_table_parse(struct probe_table *table, const char *name, const char *text,
                                      size_t bytes);
struct argus_error *probe_table_read(struct probe_table *table, const char *path);
/* Adds a row, which takes over its strings, and numbers its space. False without memory. */
bool probe_table_add(struct probe_table *table, struct probe_row *row);
void probe_table_deinit(struct probe_table *table);
void probe_row_deinit(struct probe_row *row);

/* plugin/probes/probe_words.c: parses the parts of a line. All return false if `text` is
 * malformed. */

/* The form in which the recorder gets a place. */
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
