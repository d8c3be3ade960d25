/* Rows without personal parts. */
#include "fleet/anonymous.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash64.h"
#include "fleet/fleet_names.h"
#include "fleet/pseudonym.h"
#include "report/json.h"

enum { TEXT_BYTES = 4096 };

void fleet_anonymizer_init(struct fleet_anonymizer *anonymizer, const char *salt)
{
    const struct passwd *user = getpwuid(getuid());
    *anonymizer = (struct fleet_anonymizer){.salt = salt};
    if (user && user->pw_uid)
        snprintf(anonymizer->user, sizeof(anonymizer->user), "%s", user->pw_name);
    if (gethostname(anonymizer->host, sizeof(anonymizer->host) - 1) != 0 ||
        strcmp(anonymizer->host, "localhost") == 0)
        anonymizer->host[0] = '\0';
}

/* --- rows --- */

static const char *text_of(const json_t *row, const char *member)
{
    return json_string_value(json_object_get(row, member));
}

static bool set(json_t *row, const char *member, const char *text)
{
    return json_object_set_new(row, member, json_text(text)) == 0;
}

/* Texts that are made of names of programs, among other things. */
static const char *const texts[] = {"what",          "parts", "cause", "call", "culprit_function",
                                    "culprit_image", "path",  "wait"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

/* How long the name is at `text`, where a number may stand for its "#"; 0: it is not there. */
static size_t match(const char *text, const char *name)
{
    const char *at = text;
    for (; *name; name++) {
        size_t digits = *name == '#' ? strspn(at, "0123456789") : 0;
        if (!digits && *at != *name)
            return 0;
        at += digits ? digits : 1;
    }
    return (size_t)(at - text);
}

static void replace_all(const char *text, const char *name, const char *by, char *buffer,
                        size_t bytes)
{
    size_t length = 0;
    while (*text && length + 1 < bytes) {
        size_t found = match(text, name);
        int put = found ? snprintf(buffer + length, bytes - length, "%s", by)
                        : snprintf(buffer + length, bytes - length, "%c", *text);
        length += (size_t)put;
        text += found ? found : 1;
    }
    buffer[length < bytes ? length : bytes - 1] = '\0';
}

/* Replaces the arguments in a name in all texts, where long numbers are "#". */
static bool change_in_texts(const struct fleet_anonymizer *anonymizer, json_t *row,
                            const char *name)
{
    char after[TEXT_BYTES], in_texts[ANONYMOUS_NAME_BYTES], buffer[TEXT_BYTES];
    bool good = true;
    fleet_anonymous_name(anonymizer, name, after, sizeof(after));
    fleet_thread_name(name, 4, in_texts, sizeof(in_texts));
    if (!name[0] || strcmp(name, after) == 0)
        return true;
    for (size_t i = 0; i < TEXTS; i++) {
        if (!text_of(row, texts[i]))
            continue;
        replace_all(text_of(row, texts[i]), in_texts, after, buffer, sizeof(buffer));
        good = set(row, texts[i], buffer) && good;
    }
    return good;
}

static bool change_name(const struct fleet_anonymizer *anonymizer, json_t *row, const char *member)
{
    char after[TEXT_BYTES];
    const char *name = text_of(row, member);
    if (!name)
        return true;
    fleet_anonymous_name(anonymizer, name, after, sizeof(after));
    return change_in_texts(anonymizer, row, name) && set(row, member, after);
}

/* The programs between the first and the last one of the path, which only texts name. */
static bool change_path(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    char path[TEXT_BYTES];
    bool good = true;
    snprintf(path, sizeof(path), "%s", text_of(row, "path") ? text_of(row, "path") : "");
    for (char *at = path, *next; good && at; at = next) {
        next = strstr(at, " > ");
        if (next) {
            *next = '\0';
            next += 3;
        }
        good = change_in_texts(anonymizer, row, at);
    }
    return good;
}

/* The thread of the root cause, which only texts name. */
static bool change_culprit_thread(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    static const char begin[] = "; culprit-thread=", end[] = "; did=";
    char name[ANONYMOUS_NAME_BYTES];
    const char *parts = text_of(row, "parts");
    const char *at = parts ? strstr(parts, begin) : NULL;
    const char *stop = at ? strstr(at, end) : NULL;
    if (!stop)
        return true;
    at += sizeof(begin) - 1;
    snprintf(name, sizeof(name), "%.*s", stop > at ? (int)(stop - at) : 0, at);
    return change_in_texts(anonymizer, row, name);
}

static bool change_texts(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    char buffer[TEXT_BYTES];
    bool good = change_name(anonymizer, row, "program") &&
                change_name(anonymizer, row, "culprit_program") &&
                change_name(anonymizer, row, "thread") && change_culprit_thread(anonymizer, row) &&
                change_path(anonymizer, row);
    for (size_t i = 0; i < TEXTS; i++)
        if (text_of(row, texts[i]))
            good = set(row, texts[i],
                       fleet_anonymous_text(anonymizer, text_of(row, texts[i]), buffer,
                                            sizeof(buffer))) &&
                   good;
    return good;
}

static bool replace_whole(const struct fleet_anonymizer *anonymizer, json_t *row,
                          const char *member, const char *kind)
{
    char name[96];
    const char *text = text_of(row, member);
    if (!text || is_pseudonym(text, strlen(text), kind))
        return true;
    return set(row, member,
               pseudonym(anonymizer->salt, kind, text, strlen(text), name, sizeof(name)));
}

bool fleet_anonymize(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    char signature[24], before[TEXT_BYTES];
    const char *parts = text_of(row, "parts");
    snprintf(before, sizeof(before), "%s", parts ? parts : "");
    bool good = change_texts(anonymizer, row) &&
                replace_whole(anonymizer, row, "machine", "machine") &&
                replace_whole(anonymizer, row, "file", "file");
    json_object_del(row, "program_path");
    json_object_del(row, "culprit_path");
    parts = text_of(row, "parts");
    if (!good || !parts || strcmp(parts, before) == 0)
        return good;
    snprintf(signature, sizeof(signature), "%016" PRIx64, hash64(0, parts, strlen(parts)));
    return set(row, "signature", signature);
}
