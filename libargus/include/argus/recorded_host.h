/* The machine that made a trace, and the packages of its programs: notes in the trace
 * (argus-trace(5), NOTE). Hangs of many machines are compared by them. */
#ifndef ARGUS_RECORDED_HOST_H
#define ARGUS_RECORDED_HOST_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_MACHINE_BYTES 65 /* room for the name of a machine */

/* Adds the note with this machine's name to the complete trace at `path`: $ARGUS_MACHINE, else a
 * hash of /etc/machine-id, from which that cannot be computed. Adds nothing if there is neither. */
struct argus_error *argus_recorded_machine_append(const char *path);

/* The machine's name, into `buffer`, which is returned: that of the note; "boot-1234abcd", which is
 * the same until the machine is started again; "unknown" if the trace has neither. */
const char *argus_recorded_machine(const struct argus_trace *trace, char *buffer, size_t bytes);

/* How a note about a package begins. */
#define ARGUS_PACKAGE_NOTE "package of "

/* The file `image` belongs to this version of this package. Names and versions have no blanks. */
struct argus_package_of {
    const char *image, *package, *version; /* borrowed */
};

/* Adds a note for each of them to the complete trace at `path`. */
struct argus_error *argus_recorded_packages_append(const char *path,
                                                   const struct argus_package_of *packages,
                                                   size_t count);

/* Reads that note. False: the trace has none. */
bool argus_recorded_package(const struct argus_trace *trace, const char *image, char *ret_package,
                            size_t package_bytes, char *ret_version, size_t version_bytes);

#ifdef __cplusplus
}
#endif
#endif
