#include "fleet/program_image.h"

#include <stdio.h>
#include <string.h>

#include "argus/recorded_host.h"
#include "diagnose/words.h"
#include "fleet/fleet_names.h"

enum { COMM_BYTES = 15 }; /* the kernel cuts a process's name off after this many */

static bool is_wanted(const struct argus_image_entry *image, const char *name)
{
    return strcmp(name[0] == '/' ? image->path : text_image(image->path), text_image(name)) == 0 ||
           strcmp(image->path, name) == 0;
}

/* How likely this is the program: 0 not at all. */
static int rank_of(const struct argus_image_entry *image, const char *process)
{
    const char *name = text_image(image->path);
    if (image->path[0] != '/')
        return 0;
    if (strncmp(name, process, COMM_BYTES) == 0)
        return 3;
    return strstr(name, ".so") ? 1 : 2;
}

static const struct argus_image_entry *find(const struct argus_trace *trace,
                                            const struct argus_process *process, const char *name)
{
    const struct argus_image_entry *images, *best = NULL;
    size_t count = argus_trace_images(trace, &images);
    int best_rank = 1;
    for (size_t i = 0; i < count; i++) {
        const struct argus_image_entry *image = &images[i];
        if (image->pid != process->pid)
            continue;
        int rank = name ? (is_wanted(image, name) ? 3 : 0) : rank_of(image, process->name);
        if (rank > best_rank || (best && rank == best_rank && !best->build_id_bytes &&
                                 strcmp(best->path, image->path) == 0)) {
            best = image;
            best_rank = rank;
        }
    }
    return best;
}

void program_image_find(const struct argus_graph *graph, uint32_t process, const char *name,
                        struct program_image *ret)
{
    const struct argus_process *processes;
    const struct argus_trace *trace = argus_graph_trace(graph);
    size_t count = argus_graph_processes(graph, &processes);
    const struct argus_image_entry *image = NULL;
    *ret = (struct program_image){.path = ""};
    /* a forked process shares the images of its parent until it executes another program */
    for (size_t depth = 0; !image && process < count && depth < 8; depth++) {
        image = find(trace, &processes[process], name);
        process = processes[process].forked_from;
    }
    if (!image)
        return;
    snprintf(ret->path, sizeof(ret->path), "%s", image->path);
    fleet_image_name(image->path, ret->name, sizeof(ret->name));
    for (uint32_t i = 0; i < image->build_id_bytes && i < sizeof(image->build_id); i++)
        snprintf(ret->build_id + 2 * i, 3, "%02x", image->build_id[i]);
    argus_recorded_package(trace, image->path, ret->package, sizeof(ret->package), ret->version,
                           sizeof(ret->version));
}
