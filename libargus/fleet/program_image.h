/* The file of a process's program, or of one of its libraries, as far as the trace has it. */
#ifndef ARGUS_FLEET_PROGRAM_IMAGE_H
#define ARGUS_FLEET_PROGRAM_IMAGE_H

#include "argus/graph.h"

/* Each member may be "". */
struct program_image {
    char path[512];
    char name[128]; /* fleet_image_name() */
    char build_id[41];
    char package[128], version[128]; /* of the trace's notes: argus/recorded_host.h */
};

/* `name`: path or file name of the image; NULL: the program itself, which is the image that has the
 * process's name, else the first that is no library. */
void program_image_find(const struct argus_graph *graph, uint32_t process, const char *name,
                        struct program_image *ret);

#endif
