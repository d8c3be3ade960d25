#include "base/quoted_words.h"

#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/* Takes the word at `at` and removes its quotes; returns the position behind it. NULL: a quote is
 * not closed. */
static char *take_word(char *at)
{
    char *to = at;
    bool quoted = false;
    for (; *at && (quoted || !strchr(blanks, *at)); at++) {
        if (*at == '"')
            quoted = !quoted;
        else
            *to++ = *at;
    }
    bool last = !*at;
    *to = '\0'; /* may be *at */
    if (quoted)
        return NULL;
    return last ? at : at + 1;
}

const char *words_split(char *text, char **words, size_t room, size_t *ret_count,
                        const char **ret_fault)
{
    const char *none;
    const char **fault = ret_fault ? ret_fault : &none;
    *ret_count = 0;
    for (char *at = text; at;) {
        at += strspn(at, blanks);
        if (!*at || *at == '#')
            return NULL;
        *fault = at;
        if (*ret_count == room)
            return "too many words";
        words[(*ret_count)++] = at;
        at = take_word(at);
    }
    return "a quote has no end";
}
