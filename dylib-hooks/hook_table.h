/* Tables of hooks: text to rows. docs/man/argus-hook.1.md, section TABLES, says what a line means.
 *
 * A mistake is an error that names file, line and reason; then the whole file is ignored.
 */
#ifndef ARGUS_HOOKS_HOOK_TABLE_H
#define ARGUS_HOOKS_HOOK_TABLE_H

#include "argus/error.h"
#include "base/vec.h"
#include "plan.h"

struct hook_row {
    char *image;    /* a file name as in "ldd", or a path; owned, as all texts */
    char *place;    /* as it was written */
    char *function; /* of the place; NULL: an address, or anywhere */
    char *find;     /* the pattern; NULL: none */
    char *label;
    char *shell, *shell_library; /* NULL: the built-in one */
    char *id;                    /* of shape ROW_ID: the build id, in hexadecimal */
    uint64_t offset;             /* in the function, after the pattern, or the address */
    uint32_t skip;               /* instructions to skip after the place */
    bool anywhere;
    bool nounwind;  /* the window may contain a call before its end */
    uint32_t shape; /* enum argus_probe_shape, or ROW_ID */
    uint32_t line;
    enum hook_compare compare;
    uint64_t compare_with;
    struct hook_value key, function_value, other, when, type;
    struct hook_kind kinds[HOOK_KINDS_MOST];
    uint32_t kind_count;
};

#define ROW_ID 101u /* no hook: the version of the image for the other rows */

struct hook_table {
    char *name; /* of the file */
    enum hook_arch arch;
    VEC(struct hook_row) rows;
};

/* Reads the table at `path`, with the registers of `arch`. */
struct argus_error *hook_table_read(const char *path, enum hook_arch arch, struct hook_table *ret);
/* The same of a text that is not a file; `name` is for errors. */
struct argus_error *hook_table_parse(const char *name, const char *text, size_t bytes,
                                     enum hook_arch arch, struct hook_table *ret);
void hook_table_deinit(struct hook_table *table);

/* hook_words.c: the parts of a line. Each returns false if `text` is malformed. */
bool hook_word_value(enum hook_arch arch, const char *text, struct hook_value *ret);
bool hook_word_condition(enum hook_arch arch, const char *text, struct hook_row *ret);
bool hook_word_kinds(const char *text, struct hook_row *ret);
bool hook_word_shape(const char *text, uint32_t *ret);
bool hook_word_place(const char *text, struct hook_row *ret);
/* "24", "0x18" */
bool hook_word_number(const char **at, uint64_t *ret);

#endif
