/* The words of a line, as the files have them that people write: rules, probes, hooks, flags. */
#ifndef ARGUS_BASE_QUOTED_WORDS_H
#define ARGUS_BASE_QUOTED_WORDS_H

#include <stddef.h>

/* Cuts `text` into words, in place. Blanks and tabs stand between words; double quotes hold a word together and are taken away; a word
 * that begins with # begins a comment. `words` gets at most `room` words; `*ret_count` is how many. NULL, or the reason: "a quote
 * has no end" or "too many words"; then `*ret_fault`, which may be NULL, is where in `text` the word at fault begins. */
const char *words_split(char *text, char **words, size_t room, size_t *ret_count,
                        const char **ret_fault);

#endif
