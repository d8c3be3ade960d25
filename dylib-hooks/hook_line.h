/* One line of a table of hooks, on its way to a row. */
#ifndef ARGUS_HOOKS_HOOK_LINE_H
#define ARGUS_HOOKS_HOOK_LINE_H

#include "hook_table.h"

#define WORDS_OF_A_LINE 24

/* A row in the making: a reason is set when it is wrong. */
struct hook_line {
    char *words[WORDS_OF_A_LINE];
    size_t count;
    struct hook_row row;
    enum hook_arch arch;
    char reason[200];
    bool no_memory;
};

/* Cuts `text` into words, in place. Quotes hold a word together and are taken away; # begins a comment. False: see `reason`. */
bool hook_line_split(struct hook_line *line, char *text);
/* From the words to the row, whose texts are the caller's then, also after a mistake. False: see `reason` or `no_memory`. */
bool hook_line_fill(struct hook_line *line);

#endif
