#include "plugin/probes/probe_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quoted_words.h"
#include "base/text_file.h"

#define WORDS_OF_A_LINE 24
#define LONGEST_LINE    2000

/* A row that is being parsed; `reason` is set if the line is wrong. */
struct line {
    char *words[WORDS_OF_A_LINE];
    size_t count;
    struct probe_row row;
    char reason[160];
    bool no_memory;
};

static bool wrong(struct line *line, const char *what, const char *word)
{
    snprintf(line->reason, sizeof(line->reason), "%s%s%.80s%s", what, *word ? " \"" : "", word,
             *word ? "\"" : "");
    return false;
}

static bool set_text(struct line *line, const char *text, size_t most, char **ret)
{
    if (!*text || strlen(text) > most)
        return wrong(line, "empty or too long", text);
    free(*ret);
    *ret = strdup(text);
    line->no_memory |= !*ret;
    return *ret != NULL;
}

static bool set_value(struct line *line, const char *text, struct probe_value *ret)
{
    return probe_word_value(text, ret) || wrong(line, "not a number like arg1->16:u16:", text);
}

/* NAME=VALUE */
static bool set_attribute(struct line *line, const char *name, const char *value)
{
    struct probe_row *row = &line->row;
    if (!strcmp(name, "key"))
        return set_value(line, value, &row->spec.key);
    if (!strcmp(name, "function"))
        return set_value(line, value, &row->spec.function);
    if (!strcmp(name, "other"))
        return set_value(line, value, &row->spec.other);
    if (!strcmp(name, "type"))
        return set_value(line, value, &row->spec.type);
    if (!strcmp(name, "label"))
        return set_text(line, value, sizeof(((struct request_probe *)NULL)->label) - 1,
                        &row->label);
    if (!strcmp(name, "space"))
        return set_text(line, value, 64, &row->space);
    if (!strcmp(name, "when"))
        return probe_word_condition(value, &row->spec.when) ||
               wrong(line, "not a condition like arg1->16:u16=1:", value);
    if (!strcmp(name, "kinds"))
        return probe_word_kinds(value, &row->spec) ||
               wrong(line, "not a list like 2:key_press,4:button_press:", value);
    return wrong(line, "unknown word", name);
}

static const struct {
    const char *name;
    uint32_t flag;
} flags[] = {{"once", PROBE_ONCE},
             {"queued", PROBE_QUEUED},
             {"first", PROBE_FIRST},
             {"return", PROBE_RETURN}};

static bool set_word(struct line *line, char *word)
{
    char *value = strchr(word, '=');
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        if (strcmp(word, flags[i].name) != 0)
            continue;
        line->row.spec.flags |= flags[i].flag;
        return true;
    }
    if (!value)
        return wrong(line, "unknown word", word);
    *value = '\0';
    return set_attribute(line, word, value + 1);
}

/* Checks that the row has what its shape needs, and nothing that its shape excludes. */
static bool check_row(struct line *line)
{
    const struct probe_spec *spec = &line->row.spec;
    bool keyed = spec->shape == ARGUS_PROBE_QUEUE || spec->shape == ARGUS_PROBE_CANCEL;
    if (keyed && !spec->key.base)
        return wrong(line, "key=… is missing", "");
    if (spec->shape == ARGUS_PROBE_HANDLER && !spec->function.base)
        return wrong(line, "function=… is missing", "");
    if (spec->flags & (PROBE_ONCE | PROBE_QUEUED | PROBE_FIRST) && !spec->key.base)
        return wrong(line, "once, queued and first need key=…", "");
    if (spec->kind_count && !spec->type.base)
        return wrong(line, "kinds=… needs type=…", "");
    bool result = spec->key.base == PROBE_BASE_RESULT || spec->type.base == PROBE_BASE_RESULT ||
                  spec->function.base == PROBE_BASE_RESULT ||
                  spec->other.base == PROBE_BASE_RESULT ||
                  spec->when.value.base == PROBE_BASE_RESULT;
    if (result && !(spec->flags & PROBE_RETURN))
        return wrong(line, "result is only known with the flag return", "");
    return true;
}

static bool fill_row(struct line *line)
{
    struct probe_row *row = &line->row;
    if (line->count < 3)
        return wrong(line, "a line is LIBRARY SHAPE SYMBOL …", "");
    if (!set_text(line, line->words[0], 4095, &row->library) ||
        !set_text(line, line->words[2], sizeof(((struct request_probe *)NULL)->symbol) - 1,
                  &row->text))
        return false;
    if (!probe_word_shape(line->words[1], &row->spec.shape))
        return wrong(line, "unknown shape", line->words[1]);
    if (!probe_word_symbol(row->text, &row->symbol))
        return wrong(line, "not a symbol like g_source_attach or *g_idle_funcs+16:", row->text);
    for (size_t i = 3; i < line->count; i++)
        if (!set_word(line, line->words[i]))
            return false;
    if ((!row->label && !set_text(line, "callback", 64, &row->label)) ||
        (!row->space && !set_text(line, row->library, 4095, &row->space)))
        return false;
    return check_row(line);
}

void probe_row_deinit(struct probe_row *row)
{
    free(row->library);
    free(row->text);
    free(row->label);
    free(row->space);
    free(row->symbol.name);
}

/* The number of a space, which is the index of the first row that names it. */
static uint32_t space_of(const struct probe_table *table, const char *space)
{
    for (size_t i = 0; i < table->rows.length; i++)
        if (!strcmp(table->rows.data[i].space, space))
            return table->rows.data[i].spec.space;
    return (uint32_t)table->rows.length + 1;
}

bool probe_table_add(struct probe_table *table, struct probe_row *row)
{
    row->spec.space = space_of(table, row->space);
    return vec_push(&table->rows, *row);
}

/* Parses one line; `text` is modified. */
static struct argus_error *parse_line(struct probe_table *table, const char *name, size_t number,
                                      char *text)
{
    struct line line = {0};
    size_t blank = strspn(text, " \t\r");
    if (!text[blank] || text[blank] == '#')
        return NULL;
    const char *reason = words_split(text, line.words, WORDS_OF_A_LINE, &line.count, NULL);
    if (reason ? wrong(&line, reason, "") : fill_row(&line)) {
        if (probe_table_add(table, &line.row))
            return NULL;
        line.no_memory = true;
    }
    probe_row_deinit(&line.row);
    if (line.no_memory)
        return argus_error_memory();
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s, line %zu: %s", name, number, line.reason);
}

static void cut_back(struct probe_table *table, size_t length)
{
    while (table->rows.length > length)
        probe_row_deinit(&table->rows.data[--table->rows.length]);
}

struct argus_error *probe_table_parse(struct probe_table *table, const char *name, const char *text,
                                      size_t bytes)
{
    size_t before = table->rows.length, number = 0;
    struct argus_error *error = NULL;
    for (size_t at = 0; at < bytes && !error;) {
        char line[LONGEST_LINE + 1];
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - (text + at)) : bytes - at;
        number++;
        if (length > LONGEST_LINE || memchr(text + at, '\0', length)) {
            error = argus_error_create(
                ARGUS_ERROR_FORMAT, "%s, line %zu: too long, or not a line of text", name, number);
            break;
        }
        memcpy(line, text + at, length);
        line[length] = '\0';
        error = parse_line(table, name, number, line);
        at += length + 1;
    }
    if (error)
        cut_back(table, before);
    return error;
}

struct argus_error *probe_table_read(struct probe_table *table, const char *path)
{
    char *text;
    size_t bytes;
    struct argus_error *error = text_file_read(path, "the table of probes ",
                                               "is too large for a table of probes", &text, &bytes);
    if (error)
        return error;
    error = probe_table_parse(table, path, text, bytes);
    free(text);
    return error;
}

void probe_table_deinit(struct probe_table *table)
{
    cut_back(table, 0);
    vec_deinit(&table->rows);
}
