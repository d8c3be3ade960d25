/* Completes the values of options and words, from the notation in the command tables. */
#include <ctype.h>
#include <dirent.h>
#include <stddef.h>
#include <string.h>

#include "plugin/completion.h"
#include "recorder/client/client.h"

enum { WORD_BYTES = 80 };

/* What an argument name in capital letters takes, as a line for the shell. The first matching row
 * counts. To add a kind of argument: a row. */
static const struct {
    const char *name; /* of the option or command; NULL: of any */
    const char *value;
    const char *line;
} kinds[] = {
    {"import", "FILE", ":files\t*"}, /* files of other programs */
    {"base", "FILE", ":files\t*.argus"}, {"baseline", "FILE", ":files\t*.argus"},
    {"with", "FILE", ":files\t*.argus"}, {"output", "FILE", ":files\t*"},
    {"probes", "FILE", ":files\t*"},     {"hooks", "FILE", ":files\t*"},
    {"rules", "FILE", ":files\t*"},      {"flags", "FILE", ":files\t*"},
    {"save", "FILE", ":files\t*"},       {NULL, "FILE", ":files\t*.argus"},
    {NULL, "NORMAL", ":files\t*.steps"}, {NULL, "BAD", ":files\t*.steps"},
    {NULL, "RULES-FILE", ":files\t*"},   {NULL, "IMAGE", ":files\t*"},
};

/* "sched,sysc": completes the last of several names. */
static void offer_categories(struct session *session, const char *prefix, const char *given)
{
    const char *comma = strrchr(given, ',');
    size_t length = comma ? (size_t)(comma - given) + 1 : 0;
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        char text[256];
        snprintf(text, sizeof(text), "%.*s%s", (int)length, given, category_name((enum category)i));
        completion_offer(session, prefix, text, given, category_lost_without((enum category)i));
    }
}

static void read_name(const char *pid, char ret[WORD_BYTES])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(ret, WORD_BYTES, file))
        ret[0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Offers nothing on systems without /proc. */
static void offer_processes(struct session *session, const char *prefix, const char *given)
{
    DIR *directory = opendir("/proc");
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL) {
        char name[WORD_BYTES];
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        read_name(entry->d_name, name);
        completion_offer(session, prefix, entry->d_name, given, name);
    }
    if (directory)
        closedir(directory);
}

static void offer_kind(struct session *session, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if ((!kinds[i].name || !strcmp(kinds[i].name, name)) && !strcmp(kinds[i].value, value)) {
            session_printf(session, "%s\n", kinds[i].line);
            return;
        }
    }
}

void completion_print_values(struct session *session, const char *name, const char *value,
                             const char *prefix, const char *given)
{
    while (*value) {
        char word[WORD_BYTES];
        size_t length = strcspn(value, "|");
        snprintf(word, sizeof(word), "%.*s", (int)length, value);
        if (!isupper((unsigned char)word[0]))
            completion_offer(session, prefix, word, given, "");
        else if (!strcmp(word, "CATEGORIES"))
            offer_categories(session, prefix, given);
        else if (!strcmp(word, "PID"))
            offer_processes(session, prefix, given);
        else
            offer_kind(session, name, word);
        value += length;
        value += *value == '|';
    }
}

/* The next word of a usage line, without brackets and dots; false at the end. Advances `*text`. */
static bool next_usage_word(const char **text, char *ret, size_t room)
{
    *text += strspn(*text, " [(");
    size_t length = strcspn(*text, " ");
    size_t kept = strspn(*text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-|");
    snprintf(ret, room, "%.*s", (int)(kept < length ? kept : length), *text);
    *text += length;
    return length > 0;
}

/* Whether the word that ends here is "NAME…". `begin` is the begin of the usage line. */
static bool repeats(const char *begin, const char *end)
{
    static const char dots[] = "…";
    return end - begin >= (ptrdiff_t)strlen(dots) &&
           !memcmp(end - strlen(dots), dots, strlen(dots));
}

bool completion_usage_word(const char *usage, size_t position, char *ret, size_t room)
{
    char word[WORD_BYTES];
    size_t used = 0, count = 0; /* used: positions so far */
    bool joins = false;
    const char *begin = usage;
    *ret = '\0';
    while (usage && count <= position + 1 && next_usage_word(&usage, word, sizeof(word))) {
        if (!strcmp(word, "|")) {
            joins = true;
            continue;
        }
        if (word[0] == '-') { /* "-o FILE"; "-- CMD" */
            next_usage_word(&usage, word, sizeof(word));
            continue;
        }
        count += !joins;
        joins = false;
        if (repeats(begin, usage) && count <= position)
            count = position + 1;
        if (count == position + 1 && used < room)
            used += (size_t)snprintf(ret + used, room - used, "%s%s", used ? "|" : "", word);
    }
    return used > 0;
}
