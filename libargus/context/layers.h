/* Where code lies (enum argus_layer): which file is the program's own, which a library, which a
 * plug-in.
 *
 * A library is recognized by its name (lib….so.N), by its folder (one of the system's), or because
 * another file of the trace is linked with it (DT_NEEDED). Any other shared object was opened while
 * the program ran: it is a plug-in. A program other than the process's own is what the process was
 * before its exec. If files were deleted, only names, folders and addresses are used.
 */
#ifndef ARGUS_CONTEXT_LAYERS_H
#define ARGUS_CONTEXT_LAYERS_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/strtab.h"

struct layers {
    const struct argus_graph *graph; /* borrowed */
    struct strtab *texts;            /* owned: paths and names of files */
    /* owned; by process: the path of its program, borrowed from the trace; NULL: not determined
     * yet */
    const char **main_paths;
    struct idmap needed;   /* a library's name, for libraries that some file is linked with → 1 */
    struct idmap programs; /* path of a file that was mapped as a program → 1 */
    struct idmap by_path;  /* text of a path → layer */
    bool has_needed;       /* the files were read */
    bool has_programs;     /* the mappings were examined */
    bool no_memory;        /* sticky */
};

bool layers_init(struct layers *layers, const struct argus_graph *graph);
void layers_deinit(struct layers *layers);

/* The layer of code in `path`, the kernel's name of a file or memory, in a process. */
enum argus_layer layers_of(struct layers *layers, uint32_t process, const char *path);

/* Memory without a file, in which programs make code at run time; the kernel calls it //anon. */
bool layers_is_anonymous(const char *path);

#endif
