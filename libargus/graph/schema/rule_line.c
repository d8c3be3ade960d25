#include "graph/schema/rule_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/quoted_words.h"
#include "base/utf8.h"
#include "graph/schema/rule_kinds.h"

#define LONGEST_FUNCTION 199 /* with the terminating NUL it fits into request_probe.symbol */
#define LONGEST_LIBRARY  399
#define LONGEST_LABEL    71
#define LONGEST_SPACE    64

__attribute__((format(printf, 3, 4))) static bool wrong(struct rule_line *line, uint32_t column,
                                                        const char *format, ...)
{
    char reason[240];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    utf8_repair(reason, strlen(reason)); /* a character may have been cut in half */
    for (char *c = reason; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    line->mistake(line->context, line->number, column, reason);
    return false;
}

/* --- words --- */

bool rule_line_split(struct rule_line *line)
{
    char *words[WORDS_OF_RULE];
    const char *fault,
        *reason = words_split(line->text, words, WORDS_OF_RULE, &line->count, &fault);
    for (size_t i = 0; i < line->count; i++)
        line->words[i] =
            (struct rule_word){.text = words[i], .column = (uint32_t)(words[i] - line->text) + 1};
    return !reason || wrong(line, (uint32_t)(fault - line->text) + 1, "%s", reason);
}

/* --- texts that the set keeps --- */

static bool keep(struct rule_line *line, const char *text, const char **ret)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(line->strings, text, strlen(text), &id);
    if (error) {
        argus_error_destroy(error);
        line->no_memory = true;
        return false;
    }
    *ret = strtab_get(line->strings, id);
    return true;
}

static bool keep_checked(struct rule_line *line, const struct rule_word *word, const char *text,
                         size_t most, const char **ret)
{
    if (!*text)
        return wrong(line, word->column, "the text is empty");
    if (strlen(text) > most)
        return wrong(line, word->column, "longer than %zu bytes", most);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return wrong(line, word->column, "a control character in a word");
    return keep(line, text, ret);
}

/* --- parts: NAME=VALUE, flags --- */

static bool set_place(struct rule_line *line, const struct rule_word *word, const char *text,
                      struct argus_place *ret)
{
    if (!argus_place_parse(&text, ret) || *text)
        return wrong(line, word->column, "\"%.80s\" is not a number like arg1 or arg1->16:u16",
                     word->text);
    if (ret->argument > ARGUS_PLACE_ARGUMENTS)
        return wrong(line, word->column,
                     "a result is not known yet when the function is called: use arg1 to arg6");
    return true;
}

static bool set_key(struct rule_line *line, const struct rule_word *word, const char *text)
{
    return set_place(line, word, text, &line->rule->key);
}

static bool set_ran(struct rule_line *line, const struct rule_word *word, const char *text)
{
    return set_place(line, word, text, &line->rule->ran);
}

static bool set_space(struct rule_line *line, const struct rule_word *word, const char *text)
{
    return keep_checked(line, word, text, LONGEST_SPACE, &line->rule->space);
}

static bool set_label(struct rule_line *line, const struct rule_word *word, const char *text)
{
    return keep_checked(line, word, text, LONGEST_LABEL, &line->rule->label);
}

static bool set_weak(struct rule_line *line, const struct rule_word *word, const char *text)
{
    (void)word, (void)text;
    return line->rule->weak = true;
}

static bool set_fifo(struct rule_line *line, const struct rule_word *word, const char *text)
{
    (void)word, (void)text;
    return line->rule->fifo = true;
}

static bool set_repeats(struct rule_line *line, const struct rule_word *word, const char *text)
{
    (void)word, (void)text;
    return line->rule->repeats = true;
}

/* The parts. To add one: a row here and a bit of enum rule_part. */
static const struct part {
    const char *name;
    bool has_value;
    unsigned part;
    bool (*set)(struct rule_line *line, const struct rule_word *word, const char *text);
} parts[] = {
    {"key", true, RULE_PART_KEY, set_key},
    {"function", true, RULE_PART_RAN, set_ran},
    {"space", true, RULE_PART_SPACE, set_space},
    {"label", true, RULE_PART_LABEL, set_label},
    {"weak", false, RULE_PART_WEAK, set_weak},
    {"fifo", false, RULE_PART_FIFO, set_fifo},
    {"repeats", false, RULE_PART_REPEATS, set_repeats},
};

static const struct part *find_part(const char *text)
{
    size_t length = strcspn(text, "=");
    bool has_value = text[length] == '=';
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (strlen(parts[i].name) == length && !strncmp(parts[i].name, text, length) &&
            parts[i].has_value == has_value)
            return &parts[i];
    return NULL;
}

static bool take_part(struct rule_line *line, unsigned part, const char *name, uint32_t column)
{
    const struct rule_kind_row *kind = &rule_kinds[line->rule->kind];
    if (!(kind->parts & part))
        return wrong(line, column, "a rule \"%s\" has no \"%s\"", kind->word, name);
    if (line->parts & part)
        return wrong(line, column, "a second \"%s\"", name);
    line->parts |= part;
    return true;
}

static bool read_part(struct rule_line *line, const struct rule_word *word)
{
    const struct part *part = find_part(word->text);
    if (!part)
        return wrong(line, word->column, "unknown word \"%.80s\"", word->text);
    return take_part(line, part->part, part->name, word->column) &&
           part->set(line, word, word->text + strcspn(word->text, "=") + part->has_value);
}

/* Reads "in" and the library after it. */
static bool read_library(struct rule_line *line, size_t index)
{
    const struct rule_word *word = &line->words[index];
    if (!take_part(line, RULE_PART_IN, "in", word->column))
        return false;
    if (index + 1 == line->count)
        return wrong(line, word->column, "the library is missing after \"in\"");
    word++;
    if (strchr(word->text, '/') && word->text[0] != '/')
        return wrong(line, word->column, "write the whole path of %.80s, or its name alone",
                     word->text);
    return keep_checked(line, word, word->text, LONGEST_LIBRARY, &line->rule->library);
}

/* --- the line --- */

static bool read_kind(struct rule_line *line)
{
    const struct rule_word *word = &line->words[0];
    for (unsigned i = 0; i < ARGUS_RULE_KINDS; i++) {
        if (strcmp(rule_kinds[i].word, word->text) != 0)
            continue;
        line->rule->kind = (enum argus_rule_kind)i;
        return true;
    }
    char known[200];
    size_t used = 0;
    for (unsigned i = 0; i < ARGUS_RULE_KINDS; i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 rule_kinds[i].word);
    return wrong(line, word->column, "no rule begins with \"%.40s\": there are %s", word->text,
                 known);
}

/* Returns the index of the word after the function; 0 after a mistake. */
static size_t read_function(struct rule_line *line)
{
    const struct rule_kind_row *kind = &rule_kinds[line->rule->kind];
    size_t index = 1;
    bool from = line->count > 1 && !strcmp(line->words[1].text, "from");
    if (from && kind->parts & RULE_PART_FROM) {
        line->parts |= RULE_PART_FROM;
        index++;
    }
    const struct rule_word *word = &line->words[index];
    if (index >= line->count)
        wrong(line, line->words[index - 1].column, "the function is missing after \"%.40s\"",
              line->words[index - 1].text);
    else if (kind->needs & ~line->parts & RULE_PART_FROM)
        wrong(line, word->column, "\"from\" is missing: %s from FUNCTION", kind->word);
    else if (word->text[strspn(word->text, "*?")] == '\0')
        wrong(line, word->column, "the name of a function needs more than * and ?");
    else if (keep_checked(line, word, word->text, LONGEST_FUNCTION, &line->rule->function))
        return index + 1;
    return 0;
}

static bool read_parts(struct rule_line *line, size_t index)
{
    bool good = true;
    while (index < line->count) {
        bool is_in = !strcmp(line->words[index].text, "in");
        good &= is_in ? read_library(line, index) : read_part(line, &line->words[index]);
        index += is_in ? 2 : 1;
    }
    return good;
}

static bool check_parts(struct rule_line *line)
{
    const struct rule_kind_row *kind = &rule_kinds[line->rule->kind];
    const struct argus_user_rule *rule = line->rule;
    if (kind->needs & ~line->parts & RULE_PART_KEY)
        return wrong(line, line->words[0].column,
                     "key=… is missing: which argument names the work, e.g. key=arg1");
    if (rule->fifo && rule->repeats)
        return wrong(line, line->words[0].column, "fifo and repeats contradict each other");
    if (kind->probed && rule->library && strpbrk(rule->library, "*?"))
        return wrong(line, line->words[0].column,
                     "the name of a library to listen in must not contain * or ?");
    return true;
}

/* Fills in the names and sentences that people see. */
static bool describe(struct rule_line *line)
{
    struct argus_user_rule *rule = line->rule;
    const struct rule_kind_row *kind = &rule_kinds[rule->kind];
    char text[1200], what[600];
    const char *strength = "";
    if (rule->kind == ARGUS_RULE_ENQUEUE)
        strength = rule->weak ? ": weak, because the rule says so"
                              : ": strong, because enqueuing asks for the execution";
    snprintf(text, sizeof(text), "user.%s:%s", kind->word, rule->function);
    if (!keep(line, text, &rule->name))
        return false;
    /* the only conversion in a row's description is this %s */
    const char *split = strstr(kind->description, "%s");
    snprintf(what, sizeof(what), "%.*s%s%s", (int)(split - kind->description), kind->description,
             rule->function, split + 2);
    snprintf(text, sizeof(text), "%s%s (%s, line %u).", what, strength, line->file, line->number);
    return keep(line, text, &rule->description) && keep(line, line->file, &rule->file) &&
           (rule->label || keep(line, rule->function, &rule->label)) &&
           (rule->space || keep(line, "", &rule->space));
}

bool rule_line_read(struct rule_line *line)
{
    *line->rule = (struct argus_user_rule){.line = line->number};
    line->parts = 0;
    if (!read_kind(line))
        return false;
    size_t index = read_function(line);
    bool good = index != 0;
    /* the rest is checked even after a mistake, so that the user sees all mistakes at once */
    if (index)
        good = read_parts(line, index) && check_parts(line);
    return good && describe(line);
}
