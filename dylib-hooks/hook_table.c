#include "hook_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "argus/record.h"

#define WORDS_OF_A_LINE  24
#define LONGEST_LINE     2000
#define MOST_TABLE_BYTES (1u << 20)
#define MOST_ROWS        4096

/* A row in the making: a reason is set when it is wrong. */
struct line {
    char *words[WORDS_OF_A_LINE];
    size_t count;
    struct hook_row row;
    enum hook_arch arch;
    char reason[200];
    bool no_memory;
};

static bool wrong(struct line *line, const char *what, const char *word)
{
    snprintf(line->reason, sizeof(line->reason), "%s%s%.80s%s", what, *word ? " \"" : "", word,
             *word ? "\"" : "");
    return false;
}

/* Cuts `text` into words, in place. Quotes hold a word together and are taken away; # begins a comment. */
static bool split(struct line *line, char *text)
{
    for (char *c = text + strspn(text, " \t\r"); *c && *c != '#'; c += strspn(c, " \t\r")) {
        char *to = c;
        bool quoted = false;
        if (line->count == WORDS_OF_A_LINE)
            return wrong(line, "too many words", "");
        line->words[line->count++] = to;
        for (; *c && (quoted || !strchr(" \t\r", *c)); c++) {
            if (*c == '"')
                quoted = !quoted;
            else
                *to++ = *c;
        }
        if (quoted)
            return wrong(line, "a quote has no end", "");
        bool last = !*c;
        *to = '\0';
        if (last)
            break;
        c++;
    }
    return true;
}

static bool set_text(struct line *line, const char *text, char **ret)
{
    if (!*text)
        return wrong(line, "a value is empty", "");
    free(*ret);
    *ret = strdup(text);
    line->no_memory |= !*ret;
    return *ret != NULL;
}

static bool set_value(struct line *line, const char *text, struct hook_value *ret)
{
    return hook_word_value(line->arch, text, ret) ||
           wrong(line, "not a number like arg1, rbx or rdi->16:u32 of this architecture:", text);
}

/* "my_shell", "my_shell@/path/of/library.so" */
static bool set_shell(struct line *line, char *text)
{
    char *library = strchr(text, '@');
    if (library)
        *library++ = '\0';
    return set_text(line, text, &line->row.shell) &&
           (!library || set_text(line, library, &line->row.shell_library));
}

static bool set_kinds(struct line *line, char *text)
{
    return hook_word_kinds(text, &line->row) ||
           wrong(line, "not a list like 2:key_press,4:button_press:", text);
}

static bool set_when(struct line *line, char *text)
{
    return hook_word_condition(line->arch, text, &line->row) ||
           wrong(line, "not a condition like rdi->16:u16=1:", text);
}

static bool set_key(struct line *line, char *text)
{
    return set_value(line, text, &line->row.key);
}

static bool set_function(struct line *line, char *text)
{
    return set_value(line, text, &line->row.function_value);
}

static bool set_other(struct line *line, char *text)
{
    return set_value(line, text, &line->row.other);
}

static bool set_type(struct line *line, char *text)
{
    return set_value(line, text, &line->row.type);
}

static bool set_label(struct line *line, char *text)
{
    return strlen(text) < 72 ? set_text(line, text, &line->row.label)
                             : wrong(line, "too long for a label", text);
}

static bool set_find(struct line *line, char *text)
{
    return set_text(line, text, &line->row.find);
}

static bool set_skip(struct line *line, char *text)
{
    uint64_t number;
    const char *at = text;
    if (!hook_word_number(&at, &number) || *at || number > 1000)
        return wrong(line, "not a number of instructions:", text);
    line->row.skip = (uint32_t)number;
    return true;
}

/* NAME=VALUE. To add a word: a row, and a paragraph in the man page. */
static const struct {
    const char *name;
    bool (*set)(struct line *line, char *text);
} words[] = {
    {"key", set_key},   {"function", set_function}, {"other", set_other}, {"type", set_type},
    {"when", set_when}, {"kinds", set_kinds},       {"skip", set_skip},   {"label", set_label},
    {"find", set_find}, {"shell", set_shell},
};

static bool set_word(struct line *line, char *word)
{
    char *value = strchr(word, '=');
    line->row.nounwind |= strcmp(word, "nounwind") == 0;
    if (strcmp(word, "nounwind") == 0)
        return true;
    for (size_t i = 0; value && i < sizeof(words) / sizeof(*words); i++)
        if (strlen(words[i].name) == (size_t)(value - word) &&
            strncmp(words[i].name, word, (size_t)(value - word)) == 0)
            return words[i].set(line, value + 1);
    return wrong(line, "unknown word", word);
}

/* What a shape needs. */
static bool check_row(struct line *line)
{
    const struct hook_row *row = &line->row;
    bool keyed = row->shape == ARGUS_PROBE_QUEUE || row->shape == ARGUS_PROBE_CANCEL;
    if (keyed && !row->key.base)
        return wrong(line, "key=… is missing", "");
    bool is_flag = row->shape == ARGUS_PROBE_FLAG_WRITE || row->shape == ARGUS_PROBE_FLAG_READ;
    if (is_flag && (!row->key.base || !row->other.base))
        return wrong(line, "a data flag needs key=… (its address) and other=… (its value)", "");
    if (row->shape == ARGUS_PROBE_HANDLER && !row->function_value.base)
        return wrong(line, "function=… is missing", "");
    if (row->kind_count && !row->type.base)
        return wrong(line, "kinds=… needs type=…", "");
    if (row->anywhere && !row->find)
        return wrong(line, "the place * needs find=…", "");
    if (row->find && !row->anywhere && !row->function)
        return wrong(line, "find=… needs a function or *, not an address", "");
    return true;
}

static bool is_hexadecimal(const char *text)
{
    size_t length = strlen(text);
    return length >= 8 && length % 2 == 0 && length <= 2 * HOOK_ID_MOST &&
           strspn(text, "0123456789abcdef") == length;
}

static bool fill_row(struct line *line)
{
    struct hook_row *row = &line->row;
    if (line->count < 3)
        return wrong(line, "a line is IMAGE SHAPE PLACE …", "");
    if (!set_text(line, line->words[0], &row->image) ||
        !set_text(line, line->words[2], &row->place))
        return false;
    if (!hook_word_shape(line->words[1], &row->shape))
        return wrong(line, "unknown shape", line->words[1]);
    if (row->shape == ROW_ID) {
        if (line->count != 3 || !is_hexadecimal(row->place))
            return wrong(line, "not a build id in small hexadecimal digits:", row->place);
        return set_text(line, row->place, &row->id);
    }
    if (!hook_word_place(row->place, row))
        return wrong(line, "not a place like g_main_dispatch+0x1c, 0x4f20 or *:", row->place);
    for (size_t i = 3; i < line->count; i++)
        if (!set_word(line, line->words[i]))
            return false;
    return (row->label || set_text(line, row->place, &row->label)) && check_row(line);
}

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
    struct line line = {.arch = table->arch, .row.line = number};
    bool good = split(&line, text);
    if (good && line.count == 0)
        return NULL;
    if (good && fill_row(&line)) {
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
    FILE *file = fopen(path, "re");
    if (!file)
        return argus_error_os(errno, "cannot open the table of hooks %s", path);
    char *text = malloc(MOST_TABLE_BYTES);
    size_t bytes = text ? fread(text, 1, MOST_TABLE_BYTES, file) : 0;
    struct argus_error *error = NULL;
    if (!text)
        error = argus_error_memory();
    else if (ferror(file))
        error = argus_error_os(errno, "cannot read the table of hooks %s", path);
    else if (bytes == MOST_TABLE_BYTES)
        error =
            argus_error_create(ARGUS_ERROR_FORMAT, "%s is too large for a table of hooks", path);
    else
        error = hook_table_parse(path, text, bytes, arch, ret);
    free(text);
    fclose(file);
    return error;
}

void hook_table_deinit(struct hook_table *table)
{
    for (size_t i = 0; i < table->rows.length; i++)
        row_deinit(&table->rows.data[i]);
    vec_deinit(&table->rows);
    free(table->name);
}
