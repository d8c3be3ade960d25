/* One line of a rules file. */
#ifndef ARGUS_GRAPH_RULE_LINE_H
#define ARGUS_GRAPH_RULE_LINE_H

#include "argus/schema.h"
#include "base/strtab.h"

#define LONGEST_RULE  2000
#define WORDS_OF_RULE 24

struct rule_word {
    char *text;
    uint32_t column; /* from 1, in bytes */
};

struct rule_line {
    char text[LONGEST_RULE + 1]; /* modified while it is read */
    struct rule_word words[WORDS_OF_RULE];
    size_t count;
    unsigned parts;               /* enum rule_part: the parts that it has */
    const char *file;             /* borrowed */
    struct strtab *strings;       /* of the set; borrowed */
    uint32_t number;              /* of the line */
    struct argus_user_rule *rule; /* result */
    /* Reports a mistake at `column`. */
    void (*mistake)(void *context, uint32_t line, uint32_t column, const char *reason);
    void *context;
    bool no_memory;
};

/* Splits line->text into words. A word that begins with # begins a comment. */
bool rule_line_split(struct rule_line *line);
/* Makes line->rule of the words. False after a reported mistake, or without memory. */
bool rule_line_read(struct rule_line *line);

#endif
