/* What the tests of loops compare: the variables that end a loop, as one text. */
#ifndef ARGUS_TESTS_LOOP_FLAGS_TEXT_H
#define ARGUS_TESTS_LOOP_FLAGS_TEXT_H

#include <stdio.h>
#include <string.h>

#include "steps/loops/loop_flags.h"

/* "first or second"; with "?" at the end if more variables may end the loop. */
static inline void loop_flags_describe(const struct loop_flags *flags, char *buffer, size_t bytes)
{
    buffer[0] = '\0';
    for (uint32_t i = 0; i < flags->count; i++) {
        char name[128];
        loop_flag_text(&flags->all[i], name, sizeof(name));
        size_t length = strlen(buffer);
        snprintf(buffer + length, bytes - length, "%s%s", i ? " or " : "", name);
    }
    size_t length = strlen(buffer);
    snprintf(buffer + length, bytes - length, "%s", flags->is_whole ? "" : "?");
}

#endif
