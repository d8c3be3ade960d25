/* Parses one line of a table of hooks into a row. */
#ifndef ARGUS_HOOKS_HOOK_LINE_H
#define ARGUS_HOOKS_HOOK_LINE_H

#include "hook_table.h"

#define WORDS_OF_A_LINE 24

/* A row being parsed; `reason` is set if it is wrong. */
struct hook_line {
    char *words[WORDS_OF_A_LINE];
    size_t count;
    struct hook_row row;
    enum hook_arch arch;
    char reason[200];
    bool no_memory;
};

/* Cuts `text` into words, in place. Quotes group a word and are removed; # begins a comment. False:
 * see `reason`. */
bool hook_line_split(struct hook_line *line, char *text);
/* Converts the words to a row, whose texts the caller owns, also after a mistake. False: see
 * `reason` or `no_memory`. */
bool hook_line_fill(struct hook_line *line);

#endif
