/* A file belongs to the application unless a pattern says that it is a library to step over.
 * Executable memory without a file (generated code) belongs to the application; [vdso] does not.
 */
#include "linux/step/step_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "step_patterns.h"

#define DELETED " (deleted)"

static bool parse_line(const struct step_request *request, char *line, struct step_map *ret)
{
    unsigned long long start, end, offset;
    char rights[8];
    int path_at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &start, &end, rights, &offset, &path_at) < 4)
        return false;
    char *path = path_at ? line + path_at : "";
    size_t length = strlen(path), deleted = strlen(DELETED);
    if (length > deleted && strcmp(path + length - deleted, DELETED) == 0)
        path[length - deleted] = '\0';
    *ret = (struct step_map){.start = start, .end = end, .file_offset = offset};
    if (strchr(rights, 'x'))
        ret->flags |= STEP_MAP_EXECUTABLE;
    if (strchr(rights, 'w'))
        ret->flags |= STEP_MAP_WRITABLE;
    if ((ret->flags & STEP_MAP_EXECUTABLE) &&
        step_patterns_stepped(request->skip, request->into, path))
        ret->flags |= STEP_MAP_STEPPED;
    ret->path = strdup(path);
    return ret->path != NULL;
}

static void clear(struct step_maps *maps)
{
    for (size_t i = 0; i < maps->maps.length; i++)
        free(maps->maps.data[i].path);
    maps->maps.length = 0;
}

bool step_maps_read(struct step_maps *maps)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/maps", maps->pid);
    FILE *file = fopen(path, "re");
    clear(maps);
    if (!file)
        return false;
    char *line = NULL;
    size_t room = 0;
    bool memory = true;
    while (memory && getline(&line, &room, file) >= 0) {
        struct step_map map;
        if (parse_line(maps->request, line, &map) && !vec_push(&maps->maps, map)) {
            free(map.path);
            memory = false;
        }
    }
    free(line);
    fclose(file);
    return memory && maps->maps.length > 0;
}

void step_maps_deinit(struct step_maps *maps)
{
    clear(maps);
    vec_deinit(&maps->maps);
}

const struct step_map *step_maps_find(const struct step_maps *maps, uint64_t address)
{
    size_t first;
    LOWER_BOUND(first, maps->maps.length, maps->maps.data[first].end <= address);
    bool covers = first < maps->maps.length && maps->maps.data[first].start <= address;
    return covers ? &maps->maps.data[first] : NULL;
}

bool step_maps_is_probe(const struct step_maps *maps, uint64_t address)
{
    struct step_maps now = {.pid = maps->pid, .request = maps->request};
    const struct step_map *map = step_maps_read(&now) ? step_maps_find(&now, address) : NULL;
    bool is_probe = map && strcmp(map->path, "[uprobes]") == 0;
    step_maps_deinit(&now);
    return is_probe;
}

bool step_maps_resolve(const struct step_maps *maps, const struct step_place *place, uint64_t *ret)
{
    if (!place->path[0]) {
        const struct step_map *map = step_maps_find(maps, place->offset);
        *ret = place->offset;
        return map && map->flags & STEP_MAP_EXECUTABLE;
    }
    for (size_t i = 0; i < maps->maps.length; i++) {
        const struct step_map *map = &maps->maps.data[i];
        if (!(map->flags & STEP_MAP_EXECUTABLE) || place->offset < map->file_offset ||
            place->offset - map->file_offset >= map->end - map->start ||
            strcmp(map->path, place->path) != 0)
            continue;
        *ret = map->start + (place->offset - map->file_offset);
        return true;
    }
    return false;
}

void step_maps_put(const struct step_maps *maps, struct step_output *output)
{
    for (size_t i = 0; i < maps->maps.length; i++) {
        const struct step_map *map = &maps->maps.data[i];
        struct step_item_map item = {.start = map->start,
                                     .end = map->end,
                                     .file_offset = map->file_offset,
                                     .flags = map->flags,
                                     .is_first = i == 0};
        step_output_put(output, STEP_ITEM_MAP, &item, sizeof(item), map->path, strlen(map->path));
    }
}
