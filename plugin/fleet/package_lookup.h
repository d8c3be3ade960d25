/* The package to which a file of this machine belongs, by the machine's package manager. */
#ifndef ARGUS_PLUGIN_PACKAGE_LOOKUP_H
#define ARGUS_PLUGIN_PACKAGE_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

#define PACKAGE_BYTES 128 /* room for a name, and for a version */

/* Asks dpkg or rpm, which takes about 0.1 s. False: no package has the file, or it is not known. */
bool package_lookup(const char *path, char ret_package[PACKAGE_BYTES],
                    char ret_version[PACKAGE_BYTES]);

/* The same, if the file at `path` still has the build ID `build_id` (hexadecimal). */
bool package_lookup_build(const char *path, const char *build_id, char ret_package[PACKAGE_BYTES],
                          char ret_version[PACKAGE_BYTES]);

/* A file and its package; empty: none is known. */
struct package_of_file {
    const char *path; /* borrowed */
    char package[PACKAGE_BYTES], version[PACKAGE_BYTES];
};

/* Fills in the packages of several files, for about the price of one. */
void package_lookup_all(struct package_of_file *files, size_t count);

#endif
