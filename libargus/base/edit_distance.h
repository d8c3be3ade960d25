/* How similar two words are, for "did you mean …?". */
#ifndef ARGUS_BASE_EDIT_DISTANCE_H
#define ARGUS_BASE_EDIT_DISTANCE_H

/* Of longer words, only this many characters at the beginning are compared. */
#define EDIT_DISTANCE_MOST 64

/* The Levenshtein distance, ignoring case: number of characters to insert, remove or change. */
unsigned edit_distance(const char *a, const char *b);

#endif
