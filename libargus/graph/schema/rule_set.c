/* The rules of one or several texts, and the mistakes in these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "base/strtab.h"
#include "base/text_file.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "graph/schema/rule_line.h"

/* limit of an edge's 16-bit rule number; nobody writes so many by hand */
#define MOST_RULES    1000
#define MOST_MISTAKES 100

struct argus_rule_set {
    VEC(struct argus_user_rule) rules;
    VEC(struct argus_rule_mistake) mistakes;
    struct strtab *strings; /* owned */
    uint64_t identity;
    bool no_memory; /* it ran out while a text was read */
};

struct argus_error *argus_rule_set_create(struct argus_rule_set **ret)
{
    struct argus_rule_set *set = calloc(1, sizeof(*set));
    if (!set || !(set->strings = strtab_create())) {
        free(set);
        return argus_error_memory();
    }
    *ret = set;
    return NULL;
}

void argus_rule_set_destroy(struct argus_rule_set *set)
{
    if (!set)
        return;
    vec_deinit(&set->rules);
    vec_deinit(&set->mistakes);
    strtab_destroy(set->strings);
    free(set);
}

size_t argus_rule_set_rules(const struct argus_rule_set *set, const struct argus_user_rule **ret)
{
    *ret = set ? set->rules.data : NULL;
    return set ? set->rules.length : 0;
}

size_t argus_rule_set_mistakes(const struct argus_rule_set *set,
                               const struct argus_rule_mistake **ret)
{
    *ret = set->mistakes.data;
    return set->mistakes.length;
}

uint64_t argus_rule_set_identity(const struct argus_rule_set *set)
{
    return set ? set->identity : 0;
}

/* --- identity --- */

/* Includes the terminating NUL, so that "a", "bc" differs from "ab", "c". NULL differs from "". */
static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text ? hash64(hash, text, strlen(text) + 1) : hash64(hash, "\1", 2);
}

static uint64_t mix_place(uint64_t hash, const struct argus_place *place)
{
    uint8_t bytes[4] = {place->argument, place->steps, place->bytes, place->is_signed};
    hash = hash64(hash, bytes, sizeof(bytes));
    return hash64(hash, place->offsets, sizeof(place->offsets));
}

static uint64_t mix_rule(uint64_t hash, const struct argus_user_rule *rule)
{
    uint8_t flags[4] = {(uint8_t)rule->kind, rule->weak, rule->fifo, rule->repeats};
    hash = mix_text(hash64(hash, flags, sizeof(flags)), rule->function);
    hash = mix_text(mix_text(mix_text(hash, rule->library), rule->space), rule->label);
    return mix_place(mix_place(hash, &rule->key), &rule->ran);
}

static uint64_t identity_of(const struct argus_rule_set *set)
{
    uint64_t hash = set->rules.length;
    if (!set->rules.length)
        return 0;
    for (size_t i = 0; i < set->rules.length; i++)
        hash = mix_rule(hash, &set->rules.data[i]);
    return hash ? hash : 1;
}

/* --- texts --- */

/* Adds a mistake to `context`, which is the set. */
static void add_mistake(void *context, uint32_t line, uint32_t column, const char *reason)
{
    struct argus_rule_set *set = context;
    uint32_t id;
    if (set->mistakes.length == MOST_MISTAKES)
        return;
    struct argus_error *error = strtab_intern(set->strings, reason, strlen(reason), &id);
    if (error ||
        !vec_push(&set->mistakes,
                  (struct argus_rule_mistake){
                      .reason = strtab_get(set->strings, id), .line = line, .column = column}))
        set->no_memory = true;
    argus_error_destroy(error);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Finds a rule of the same kind for the same function: the second one would never be used. */
static const struct argus_user_rule *find_same(const struct argus_rule_set *set,
                                               const struct argus_user_rule *rule)
{
    for (size_t i = 0; i < set->rules.length; i++) {
        const struct argus_user_rule *other = &set->rules.data[i];
        if (other->kind == rule->kind && same_text(other->function, rule->function) &&
            same_text(other->library, rule->library))
            return other;
    }
    return NULL;
}

static void add_rule(struct argus_rule_set *set, const struct argus_user_rule *rule,
                     uint32_t column)
{
    char reason[600];
    const struct argus_user_rule *same = find_same(set, rule);
    if (same) {
        snprintf(reason, sizeof(reason), "the same function as in line %u of %.400s", same->line,
                 same->file);
        add_mistake(set, rule->line, column, reason);
    } else if (set->rules.length == MOST_RULES) {
        snprintf(reason, sizeof(reason), "more than %d rules", MOST_RULES);
        add_mistake(set, rule->line, column, reason);
    } else if (!vec_push(&set->rules, *rule)) {
        set->no_memory = true;
    }
}

static void read_line(struct argus_rule_set *set, const char *file, uint32_t number,
                      const char *text, size_t length)
{
    struct argus_user_rule rule;
    struct rule_line line = {
        .file = file,
        .strings = set->strings,
        .number = number,
        .rule = &rule,
        .mistake = add_mistake,
        .context = set,
    };
    if (length > LONGEST_RULE || memchr(text, '\0', length)) {
        add_mistake(set, number, 1,
                    length > LONGEST_RULE ? "the line is too long" : "this is not text");
        return;
    }
    memcpy(line.text, text, length);
    line.text[length] = '\0';
    utf8_repair(line.text, length);
    if (rule_line_split(&line) && line.count && rule_line_read(&line))
        add_rule(set, &rule, line.words[0].column);
    set->no_memory |= line.no_memory;
}

static struct argus_error *first_mistake(const struct argus_rule_set *set, const char *name)
{
    const struct argus_rule_mistake *first = &set->mistakes.data[0];
    size_t more = set->mistakes.length - 1;
    if (!more)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s, line %u, column %u: %s", name,
                                  first->line, first->column, first->reason);
    return argus_error_create(
        ARGUS_ERROR_FORMAT, "%s, line %u, column %u: %s (and %zu more mistake%s in this file)",
        name, first->line, first->column, first->reason, more, more == 1 ? "" : "s");
}

/* Copies the file's name into its mistakes, because the caller of parse() may free it. */
static void name_mistakes(struct argus_rule_set *set, const char *name)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(set->strings, name, strlen(name), &id);
    set->no_memory |= error != NULL;
    argus_error_destroy(error);
    for (size_t i = 0; i < set->mistakes.length; i++)
        set->mistakes.data[i].file = strtab_get(set->strings, id);
}

struct argus_error *argus_rule_set_parse(struct argus_rule_set *set, const char *name,
                                         const char *text, size_t bytes)
{
    size_t before = set->rules.length;
    uint32_t number = 0;
    set->mistakes.length = 0;
    set->no_memory = false;
    for (size_t at = 0; at < bytes && !set->no_memory && set->mistakes.length < MOST_MISTAKES;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - (text + at)) : bytes - at;
        read_line(set, name, ++number, text + at, length);
        at += length + 1;
    }
    name_mistakes(set, name);
    if (set->mistakes.length || set->no_memory)
        set->rules.length = before;
    set->identity = identity_of(set);
    if (set->no_memory)
        return argus_error_memory();
    return set->mistakes.length ? first_mistake(set, name) : NULL;
}

struct argus_error *argus_rule_set_read(struct argus_rule_set *set, const char *path)
{
    char *text;
    size_t bytes;
    set->mistakes.length = 0;
    struct argus_error *error =
        text_file_read(path, "the rules ", "is too large for a file of rules", &text, &bytes);
    if (error)
        return error;
    error = argus_rule_set_parse(set, path, text, bytes);
    free(text);
    return error;
}
