/* Where code lies (enum argus_layer): which file is the program's own, which a library, which a plug-in.
 *
 * A library is known by its name (lib….so.N), by its folder (one of the system's), or because another file of the trace is linked with it
 * (DT_NEEDED). What is none of that was opened while the program ran: a plug-in. A program that is not the process's own is what it
 * was before its exec. Where files are gone, names, folders and addresses have to do.
 */
#ifndef ARGUS_CONTEXT_LAYERS_H
#define ARGUS_CONTEXT_LAYERS_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/strtab.h"

struct layers {
    const struct argus_graph *graph; /* borrowed */
    struct strtab *texts;            /* owned: paths and names of files */
    const char **
        main_paths; /* owned; by process: its program's file, the trace's; NULL: not looked for yet */
    struct idmap needed;   /* text of a library's name that a file is linked with → 1 */
    struct idmap programs; /* text of the path of a file that was mapped as a program → 1 */
    struct idmap by_path;  /* text of a path → layer */
    bool has_needed;       /* the files were read */
    bool has_programs;     /* the mappings were looked at */
    bool no_memory;        /* sticky */
};

bool layers_init(struct layers *layers, const struct argus_graph *graph);
void layers_deinit(struct layers *layers);

/* The layer of code in the file or memory that the kernel calls `path`, in a process. */
enum argus_layer layers_of(struct layers *layers, uint32_t process, const char *path);

/* Memory that is no file, in which programs make code at run time; the kernel calls it //anon. */
bool layers_is_anonymous(const char *path);

#endif
