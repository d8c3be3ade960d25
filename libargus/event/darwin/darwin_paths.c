/* Path lookups: VFS_LOOKUP, a path in pieces (bsd/vfs/vfs_lookup.c:2130,
 * trace/kdebug_strings.h). */
#include "event/darwin/darwin.h"

#include <stdio.h>
#include <string.h>

/* Of a long path, the end is kept, because it tells more than the beginning. */
static void shorten(const struct kdebug_string *string, char ret[ARGUS_PATH_BYTES + 1])
{
    static const char more[] = "…";
    const char *text = string->text;
    if (string->length > ARGUS_PATH_BYTES) {
        text += string->length - (ARGUS_PATH_BYTES - strlen(more));
        while ((*text & 0xc0) == 0x80) /* do not begin inside a UTF-8 sequence */
            text++;
        snprintf(ret, ARGUS_PATH_BYTES + 1, "%s%s", more, text);
    } else {
        memcpy(ret, text, string->length);
    }
    for (char *c = ret; *c; c++) /* printed to a terminal */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

void darwin_on_lookup(struct darwin *darwin, struct darwin_cpu *cpu,
                      const struct argus_record *record)
{
    const struct kdebug_string *string = kdebug_strings_feed(&darwin->strings, record);
    char path[ARGUS_PATH_BYTES + 1] = {0};
    if (!string || !string->length)
        return;
    shorten(string, path);
    size_t length = strlen(path);
    for (size_t at = 0; at < length; at += 16) {
        uint64_t text[2] = {0};
        memcpy(text, path + at, length - at < 16 ? length - at : 16);
        const uint64_t arg[4] = {at | (at + 16 >= length ? ARGUS_PATH_ENDS : 0), text[0],
                                 ARGUS_PROBE_PATH, text[1]};
        darwin_emit(darwin, cpu, record, ARGUS_ID_HOOK, arg);
    }
}
