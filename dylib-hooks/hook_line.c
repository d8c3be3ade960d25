#include "hook_line.h"

#include <stdio.h>
#include <string.h>

#include "argus/record.h"
#include "base/quoted_words.h"

static bool wrong(struct hook_line *line, const char *what, const char *word)
{
    snprintf(line->reason, sizeof(line->reason), "%s%s%.80s%s", what, *word ? " \"" : "", word,
             *word ? "\"" : "");
    return false;
}

bool hook_line_split(struct hook_line *line, char *text)
{
    const char *reason = words_split(text, line->words, WORDS_OF_A_LINE, &line->count, NULL);
    return !reason || wrong(line, reason, "");
}

static bool set_text(struct hook_line *line, const char *text, char **ret)
{
    if (!*text)
        return wrong(line, "a value is empty", "");
    free(*ret);
    *ret = strdup(text);
    line->no_memory |= !*ret;
    return *ret != NULL;
}

static bool set_value(struct hook_line *line, const char *text, struct hook_value *ret)
{
    return hook_word_value(line->arch, text, ret) ||
           wrong(line, "not a number like arg1, rbx or rdi->16:u32 of this architecture:", text);
}

/* "my_shell", "my_shell@/path/of/library.so" */
static bool set_shell(struct hook_line *line, char *text)
{
    char *library = strchr(text, '@');
    if (library)
        *library++ = '\0';
    return set_text(line, text, &line->row.shell) &&
           (!library || set_text(line, library, &line->row.shell_library));
}

static bool set_kinds(struct hook_line *line, char *text)
{
    return hook_word_kinds(text, &line->row) ||
           wrong(line, "not a list like 2:key_press,4:button_press:", text);
}

static bool set_when(struct hook_line *line, char *text)
{
    return hook_word_condition(line->arch, text, &line->row) ||
           wrong(line, "not a condition like rdi->16:u16=1:", text);
}

static bool set_key(struct hook_line *line, char *text)
{
    return set_value(line, text, &line->row.key);
}

static bool set_function(struct hook_line *line, char *text)
{
    return set_value(line, text, &line->row.function_value);
}

static bool set_other(struct hook_line *line, char *text)
{
    return set_value(line, text, &line->row.other);
}

static bool set_type(struct hook_line *line, char *text)
{
    return set_value(line, text, &line->row.type);
}

static bool set_label(struct hook_line *line, char *text)
{
    return strlen(text) < 72 ? set_text(line, text, &line->row.label)
                             : wrong(line, "too long for a label", text);
}

static bool set_find(struct hook_line *line, char *text)
{
    return set_text(line, text, &line->row.find);
}

static bool set_skip(struct hook_line *line, char *text)
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
    bool (*set)(struct hook_line *line, char *text);
} words[] = {
    {"key", set_key},   {"function", set_function}, {"other", set_other}, {"type", set_type},
    {"when", set_when}, {"kinds", set_kinds},       {"skip", set_skip},   {"label", set_label},
    {"find", set_find}, {"shell", set_shell},
};

static bool set_word(struct hook_line *line, char *word)
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
static bool check_row(struct hook_line *line)
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

bool hook_line_fill(struct hook_line *line)
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
