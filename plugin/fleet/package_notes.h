/* Notes in a trace that name the packages of its programs: the versions by which a fleet compares
 * hangs (argus/recorded_host.h). */
#ifndef ARGUS_PLUGIN_PACKAGE_NOTES_H
#define ARGUS_PLUGIN_PACKAGE_NOTES_H

#include "argus/error.h"

/* Adds them to the complete trace at `path`, which was recorded on this machine: for each program
 * (not library) that is still the file at its path here. Asks the package manager once, which takes
 * about 0.2 s. */
struct argus_error *package_notes_append(const char *path);

#endif
