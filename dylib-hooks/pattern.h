/* Patterns to search for in code: bytes ("48 8b ?? e8", ?? is any byte), or instructions as they
 * are written ("call *; mov eax, *",
 * * is any text, one instruction after the other). */
#ifndef ARGUS_HOOKS_PATTERN_H
#define ARGUS_HOOKS_PATTERN_H

#include "insn_decode.h"

#define PATTERN_MOST 32

struct pattern {
    bool is_text;
    uint32_t count; /* bytes, or instructions */
    uint8_t bytes[PATTERN_MOST], masks[PATTERN_MOST];
    char *texts[PATTERN_MOST]; /* in `copy` */
    char *copy;                /* owned */
};

struct argus_error *pattern_parse(const char *text, struct pattern *ret);
void pattern_deinit(struct pattern *pattern);

/* The number of its bytes or instructions that match at the beginning of `code`; pattern->count:
 * all of them. */
uint32_t pattern_fit(const struct pattern *pattern, struct decoder *decoder, const uint8_t *code,
                     size_t bytes, uint64_t address);

#endif
