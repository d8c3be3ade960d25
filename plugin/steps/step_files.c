#include "plugin/steps/step_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING         ".steps"
#define MOST_LOOKED_AT 1000 /* a folder with more files is an archive */

static int is_step_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

static bool keep(struct step_files *files, struct argus_steps *steps)
{
    const struct argus_steps_about *about = argus_steps_about(steps);
    const uint64_t *pcs;
    const struct argus_report_steps file = {.path = argus_steps_path(steps),
                                            .pid = about->pid,
                                            .tid = about->tid,
                                            .wall_ns = about->wall_ns,
                                            .steps = (uint32_t)argus_steps_pcs(steps, &pcs),
                                            .end_text = argus_steps_end_text(steps)};
    if (!vec_push(&files->opened, steps))
        return false;
    return vec_push(&files->files, file);
}

/* False without memory. */
static bool look_at(struct step_files *files, const char *path, uint64_t identity, uint32_t vertex)
{
    struct argus_steps *steps;
    struct argus_error *error = argus_steps_open(path, &steps);
    if (error) {
        /* another kind of file with that name, or one that is still being written */
        argus_error_destroy(error);
        return true;
    }
    const struct argus_steps_about *about = argus_steps_about(steps);
    if (about->vertex == vertex && about->trace_identity == identity)
        return keep(files, steps);
    argus_steps_close(steps);
    return true;
}

struct argus_error *step_files_find(const char *path, uint64_t identity, uint32_t vertex,
                                    struct step_files *ret)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("");
    struct dirent **names = NULL;
    bool memory = folder != NULL;
    *ret = (struct step_files){0};
    int count = folder ? scandir(folder[0] ? folder : ".", &names, is_step_file, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char *whole = NULL;
        if (memory && i < MOST_LOOKED_AT)
            memory = asprintf(&whole, "%s%s", folder, names[i]->d_name) >= 0 &&
                     look_at(ret, whole, identity, vertex);
        free(whole);
        free(names[i]);
    }
    free(names);
    free(folder);
    return memory ? NULL : argus_error_memory();
}

void step_files_deinit(struct step_files *files)
{
    for (size_t i = 0; i < files->opened.length; i++)
        argus_steps_close(files->opened.data[i]);
    vec_deinit(&files->opened);
    vec_deinit(&files->files);
}
