/* How alike two words are: for "did you mean …?". */
#ifndef ARGUS_BASE_EDIT_DISTANCE_H
#define ARGUS_BASE_EDIT_DISTANCE_H

/* Longer words are compared by so many characters of their beginning. */
#define EDIT_DISTANCE_MOST 64

/* Levenshtein's distance, without regard to case: characters to insert, remove or change. */
unsigned edit_distance(const char *a, const char *b);

#endif
