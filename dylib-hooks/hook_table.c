#include "hook_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_file.h"
#include "hook_line.h"

#define LONGEST_LINE 2000
#define MOST_ROWS    4096

static void row_deinit(struct hook_row *row)
{
    char *texts[] = {row->image, row->place, row->function,      row->find,
                     row->label, row->shell, row->shell_library, row->id};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        free(texts[i]);
}

/* `text` is one line, which is changed. */
static struct argus_error *parse_line(struct hook_table *table, uint32_t number, char *text)
{
    struct hook_line line = {.arch = table->arch, .row.line = number};
    bool good = hook_line_split(&line, text);
    if (good && line.count == 0)
        return NULL;
    if (good && hook_line_fill(&line)) {
        if (vec_push(&table->rows, line.row))
            return NULL;
        line.no_memory = true;
    }
    row_deinit(&line.row);
    if (line.no_memory)
        return argus_error_memory();
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s, line %u: %s", table->name, number,
                              line.reason);
}

static struct argus_error *parse_lines(struct hook_table *table, const char *text, size_t bytes)
{
    struct argus_error *error = NULL;
    uint32_t number = 0;
    for (size_t at = 0; at < bytes && !error;) {
        char line[LONGEST_LINE + 1];
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - (text + at)) : bytes - at;
        number++;
        if (length > LONGEST_LINE || memchr(text + at, '\0', length) ||
            table->rows.length >= MOST_ROWS)
            return argus_error_create(ARGUS_ERROR_FORMAT,
                                      "%s, line %u: too long, too many, or not a line of text",
                                      table->name, number);
        memcpy(line, text + at, length);
        line[length] = '\0';
        error = parse_line(table, number, line);
        at += length + 1;
    }
    return error;
}

struct argus_error *hook_table_parse(const char *name, const char *text, size_t bytes,
                                     enum hook_arch arch, struct hook_table *ret)
{
    struct hook_table table = {.name = strdup(name), .arch = arch};
    struct argus_error *error =
        table.name ? parse_lines(&table, text, bytes) : argus_error_memory();
    if (!error && !table.rows.length)
        error = argus_error_create(ARGUS_ERROR_FORMAT, "%s has no line with a hook", name);
    if (error)
        hook_table_deinit(&table);
    else
        *ret = table;
    return error;
}

struct argus_error *hook_table_read(const char *path, enum hook_arch arch, struct hook_table *ret)
{
    char *text;
    size_t bytes;
    struct argus_error *error = text_file_read(path, "the table of hooks ",
                                               "is too large for a table of hooks", &text, &bytes);
    if (error)
        return error;
    error = hook_table_parse(path, text, bytes, arch, ret);
    free(text);
    return error;
}

void hook_table_deinit(struct hook_table *table)
{
    for (size_t i = 0; i < table->rows.length; i++)
        row_deinit(&table->rows.data[i]);
    vec_deinit(&table->rows);
    free(table->name);
}
