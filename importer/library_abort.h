/* A library that ends the process when it cannot read a file (libbabeltrace2 by its assertions)
 * must not look as if Argus had crashed: between these two calls, an abort becomes an error that
 * names the file, on the standard error of before, and exit code 1. What the library itself writes
 * to standard error is kept away from it; of an abort, its last line is told.
 */
#ifndef ARGUS_IMPORTER_LIBRARY_ABORT_H
#define ARGUS_IMPORTER_LIBRARY_ABORT_H

/* `library` and `path` are borrowed. Where this cannot be set up, an abort stays one. */
void library_abort_begin(const char *library, const char *path);
void library_abort_end(void);

#endif
