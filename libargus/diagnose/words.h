/* Names of files and pieces of code. The sentences of a diagnosis are report's. */
#ifndef ARGUS_DIAGNOSE_WORDS_H
#define ARGUS_DIAGNOSE_WORDS_H

#include "event/names/base_library.h"

/* The file name of an image's path, inside it; NULL for NULL. */
const char *text_image(const char *path);

/* printf into new memory; NULL without memory. */
char *text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
