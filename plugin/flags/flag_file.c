#include "plugin/flags/flag_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/trace.h"
#include "base/quoted_words.h"
#include "base/text_file.h"
#include "plugin/flags/flag_place.h"

#define MOST_WORDS 10

/* --- words --- */

struct argus_error *flag_wish_access(const char *text, uint32_t *ret)
{
    *ret = FLAG_READS_AND_WRITES;
    if (strcmp(text, "rw") == 0)
        return NULL;
    *ret = FLAG_WRITES;
    if (strcmp(text, "w") == 0)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_USAGE,
        "'%s' is not a kind of access: w or rw (no processor of this kind can "
        "watch reads alone)",
        text);
}

static const char *const semantics_names[ARGUS_FLAG_SEMANTICS] = {
    [ARGUS_FLAG_VALUE] = "value",
    [ARGUS_FLAG_FLIP] = "flip",
    [ARGUS_FLAG_QUEUE] = "queue",
};

const char *flag_semantics_name(uint32_t semantics)
{
    return semantics < ARGUS_FLAG_SEMANTICS ? semantics_names[semantics] : "unknown";
}

struct argus_error *flag_wish_semantics(const char *text, uint32_t *ret)
{
    for (*ret = 0; *ret < ARGUS_FLAG_SEMANTICS; ++*ret)
        if (strcmp(semantics_names[*ret], text) == 0)
            return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "'%s' is not a meaning of a flag: value, flip or queue", text);
}

static struct argus_error *take_text(const char *text, char *ret, size_t room)
{
    if ((size_t)snprintf(ret, room, "%s", text) < room)
        return NULL;
    return argus_error_create(ARGUS_ERROR_FORMAT, "'%.40s…' is too long", text);
}

static struct argus_error *take_name(const char *text, struct flag_wish *ret)
{
    return take_text(text, ret->name, sizeof(ret->name));
}

static struct argus_error *take_size(const char *text, struct flag_wish *ret)
{
    char *end;
    unsigned long size = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end ||
        (size != 1 && size != 2 && size != 4 && size != 8))
        return argus_error_create(ARGUS_ERROR_FORMAT, "'%s' bytes cannot be watched: 1, 2, 4 or 8",
                                  text);
    ret->bytes = (uint32_t)size;
    return NULL;
}

static struct argus_error *take_access(const char *text, struct flag_wish *ret)
{
    return flag_wish_access(text, &ret->access);
}

static struct argus_error *take_semantics(const char *text, struct flag_wish *ret)
{
    return flag_wish_semantics(text, &ret->semantics);
}

static struct argus_error *take_build_id(const char *text, struct flag_wish *ret)
{
    size_t length = strlen(text);
    bool right = length && length % 2 == 0 && length / 2 <= sizeof(ret->build_id) &&
                 strspn(text, "0123456789abcdef") == length;
    for (size_t i = 0; right && i < length / 2; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        ret->build_id[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    ret->build_id_bytes = (uint32_t)(length / 2);
    return right ? NULL : argus_error_create(ARGUS_ERROR_FORMAT, "'%s' is not a build ID", text);
}

/* To add a word: a row here, a line in argus-flags(5), and one in write_wish(). */
static const struct {
    const char *key;
    struct argus_error *(*take)(const char *text, struct flag_wish *ret);
} keys[] = {
    {"size=", take_size},         {"access=", take_access}, {"semantics=", take_semantics},
    {"build-id=", take_build_id}, {"name=", take_name},
};

static struct argus_error *take_word(const char *word, struct flag_wish *ret)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        size_t length = strlen(keys[i].key);
        if (strncmp(word, keys[i].key, length) == 0)
            return keys[i].take(word + length, ret);
    }
    return argus_error_create(
        ARGUS_ERROR_FORMAT,
        "'%s' is not one of size=, access=, semantics=, build-id=, name=", word);
}

/* --- lines --- */

static struct argus_error *parse_words(char *const *words, size_t count, struct flag_wish *ret)
{
    if (count < 2)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "a flag needs a file and a variable in it (argus-flags(5))");
    if (words[0][0] != '/')
        return argus_error_create(ARGUS_ERROR_FORMAT, "'%s' is not an absolute path", words[0]);
    struct argus_error *error = take_text(words[0], ret->image, sizeof(ret->image));
    if (!error)
        error = take_text(words[1], ret->place, sizeof(ret->place));
    for (size_t i = 2; i < count && !error; i++)
        error = take_word(words[i], ret);
    if (!error && !ret->access)
        ret->access = ret->semantics == ARGUS_FLAG_VALUE ? FLAG_READS_AND_WRITES : FLAG_WRITES;
    if (!error && !ret->name[0]) {
        const char *slash = strrchr(ret->image, '/');
        snprintf(ret->name, sizeof(ret->name), "%.120s in %.70s", ret->place, slash + 1);
    }
    return error;
}

static struct argus_error *parse_line(struct flag_wishes *wishes, char *line, uint32_t number)
{
    char *words[MOST_WORDS];
    struct flag_wish wish = {.line = number};
    size_t count;
    const char *reason = words_split(line, words, MOST_WORDS, &count, NULL);
    if (reason)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s", reason);
    if (count == 0)
        return NULL;
    struct argus_error *error = parse_words(words, count, &wish);
    if (!error && !vec_push(&wishes->wishes, wish))
        error = argus_error_memory();
    return error;
}

struct argus_error *flag_wishes_parse(struct flag_wishes *wishes, const char *name, char *text)
{
    uint32_t number = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct argus_error *error = parse_line(wishes, line, ++number);
        if (error)
            return argus_error_context(error, "%s, line %u", name, number);
    }
    return NULL;
}

struct argus_error *flag_wishes_read(struct flag_wishes *wishes, const char *path)
{
    static const char none[] = "is not a file of flags";
    char *text;
    size_t bytes;
    struct argus_error *error = text_file_read(path, "", none, &text, &bytes);
    if (error)
        return error;
    if (memchr(text, '\0', bytes))
        error = argus_error_create(ARGUS_ERROR_FORMAT, "%s %s", path, none);
    else
        error = flag_wishes_parse(wishes, path, text);
    free(text);
    return error;
}

void flag_wishes_deinit(struct flag_wishes *wishes)
{
    vec_deinit(&wishes->wishes);
}

/* --- saving --- */

static bool is_same(const struct flag_wish *a, const struct flag_wish *b)
{
    return strcmp(a->image, b->image) == 0 && strcmp(a->place, b->place) == 0;
}

static bool needs_quotes(const char *text)
{
    return strpbrk(text, " \t#") != NULL;
}

static void write_wish(FILE *file, const struct flag_wish *wish)
{
    const char *quote = needs_quotes(wish->image) ? "\"" : "";
    fprintf(file, "%s%s%s %s", quote, wish->image, quote, wish->place);
    if (wish->bytes)
        fprintf(file, " size=%u", wish->bytes);
    fprintf(file, " access=%s semantics=%s", wish->access == FLAG_WRITES ? "w" : "rw",
            flag_semantics_name(wish->semantics));
    for (uint32_t i = 0; i < wish->build_id_bytes; i++)
        fprintf(file, "%s%02x", i ? "" : " build-id=", wish->build_id[i]);
    fprintf(file, " name=\"%s\"\n", wish->name);
}

struct argus_error *flag_wish_save(const struct flag_wish *wish, const char *path, bool *ret_added)
{
    struct flag_wishes there = {0};
    bool is_new = access(path, F_OK) != 0;
    struct argus_error *error = is_new ? NULL : flag_wishes_read(&there, path);
    *ret_added = true;
    for (size_t i = 0; i < there.wishes.length; i++)
        *ret_added &= !is_same(&there.wishes.data[i], wish);
    flag_wishes_deinit(&there);
    if (error || !*ret_added)
        return error;
    if (strchr(wish->image, '"') || strpbrk(wish->name, "\"\n"))
        return argus_error_create(ARGUS_ERROR_USAGE, "a name with a quote cannot be saved");
    FILE *file = fopen(path, "ae");
    if (!file)
        return argus_error_os(errno, "cannot write %s", path);
    if (is_new)
        fprintf(file, "# data flags, for argus start --flags: argus-flags(5)\n");
    write_wish(file, wish);
    return fclose(file) == 0 ? NULL : argus_error_os(errno, "cannot write %s", path);
}
