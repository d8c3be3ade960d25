/* Splits lines of files that users write (rules, probes, hooks, flags) into words. */
#ifndef ARGUS_BASE_QUOTED_WORDS_H
#define ARGUS_BASE_QUOTED_WORDS_H

#include <stddef.h>

/* Splits `text` into words, in place. Blanks and tabs separate words. Double quotes keep a word
 * together and are removed. A word that begins with # begins a comment. `words` gets at most `room`
 * words, `*ret_count` their number. Returns NULL, or the reason of a failure: "a quote has no end"
 * or "too many words". Then `*ret_fault` (`ret_fault` may be NULL) is the beginning of the faulty
 * word in `text`. */
const char *words_split(char *text, char **words, size_t room, size_t *ret_count,
                        const char **ret_fault);

#endif
