/* The forms are those in the sources of the programs that write them:
 *
 *   JS:~name /path:LINE:COLUMN   V8 (src/logging/log.cc); behind "JS:" a mark says how the function was compiled
 *   py::name:/path               CPython (Python/perf_trampoline.c)
 *
 * To add one: a row, and a case in tests/event/test_names.c.
 */
#include "event/names/made_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"

/* The parts of `text` after its prefix. */
struct parts {
    size_t function_bytes, source_at, source_bytes;
    uint32_t line;
};

/* The start of the source path, which may contain blanks, as may the name. */
static const char *find_source(const char *text)
{
    static const char *const beginnings[] = {" /", " file:", " node:"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
        const char *place = strstr(text, beginnings[i]);
        if (place && (!found || place < found))
            found = place;
    }
    return found ? found : strrchr(text, ' ');
}

/* "name /path:LINE:COLUMN". */
static bool split_javascript(const char *text, struct parts *ret)
{
    const char *space = find_source(text), *column = strrchr(text, ':'), *line = column;
    if (!space || !column || column < space)
        return false;
    while (line > space && line[-1] >= '0' && line[-1] <= '9')
        line--;
    if (line == column || line - 1 <= space || line[-1] != ':')
        return false;
    ret->function_bytes = (size_t)(space - text);
    ret->source_at = ret->function_bytes + 1;
    ret->source_bytes = (size_t)(line - 1 - space - 1);
    ret->line = (uint32_t)strtoul(line, NULL, 10);
    return true;
}

/* "name:/path". Both may contain colons, but no name contains a colon followed by a slash. */
static bool split_python(const char *text, struct parts *ret)
{
    const char *colon = strstr(text, ":/");
    if (!colon)
        colon = strchr(text, ':');
    if (!colon || colon == text || !colon[1])
        return false;
    ret->function_bytes = (size_t)(colon - text);
    ret->source_at = ret->function_bytes + 1;
    ret->source_bytes = strlen(colon + 1);
    return true;
}

static const struct {
    const char *prefix;
    const char *marks; /* one of these characters may follow it */
    bool (*split)(const char *text, struct parts *ret);
} forms[] = {
    {"JS:", "~^+*'", split_javascript},
    {"py::", "", split_python},
};

static struct argus_error *intern(struct strtab *texts, const char *text, size_t bytes,
                                  const char **ret)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(texts, text, bytes, &id);
    *ret = strtab_get(texts, id);
    return error;
}

struct argus_error *made_name_read(const char *text, struct strtab *texts,
                                   struct argus_name_entry *ret)
{
    struct parts parts = {.function_bytes = strlen(text)};
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        size_t bytes = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, bytes) != 0)
            continue;
        const char *rest = text + bytes;
        rest += *rest && strchr(forms[i].marks, *rest) ? 1 : 0;
        struct parts found = {0};
        if (forms[i].split(rest, &found)) {
            parts = found;
            text = rest;
        }
        break;
    }
    ret->line = parts.line;
    ret->source = "";
    struct argus_error *error =
        parts.function_bytes ? intern(texts, text, parts.function_bytes, &ret->function)
                             : intern(texts, "(anonymous)", strlen("(anonymous)"), &ret->function);
    if (!error && parts.source_bytes)
        error = intern(texts, text + parts.source_at, parts.source_bytes, &ret->source);
    return error;
}

struct made_range made_names_within(const struct argus_name_entry *names, size_t count,
                                    uint64_t start, uint64_t bytes)
{
    struct made_range range;
    LOWER_BOUND(range.first, count, names[range.first].place < start);
    LOWER_BOUND(range.end, count,
                names[range.end].place < start || names[range.end].place - start < bytes);
    return range;
}

void made_name_put(const struct argus_name_entry *read, uint64_t start,
                   struct argus_name_entry *name)
{
    name->function = read->function;
    name->source = read->source;
    name->line = read->line;
    name->distance = name->place - start;
    name->has_start = true;
    name->lack = ARGUS_LACK_NONE;
}
