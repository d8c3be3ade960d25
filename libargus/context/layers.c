#include "context/layers.h"

#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_file.h"
#include "event/binary/elf_needed.h"

bool layers_init(struct layers *layers, const struct argus_graph *graph)
{
    layers->graph = graph;
    layers->texts = strtab_create();
    return layers->texts != NULL;
}

void layers_deinit(struct layers *layers)
{
    strtab_destroy(layers->texts);
    free(layers->main_paths);
    idmap_deinit(&layers->needed);
    idmap_deinit(&layers->programs);
    idmap_deinit(&layers->by_path);
}

static uint32_t intern(struct layers *layers, const char *text)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(layers->texts, text, strlen(text), &id);
    layers->no_memory |= error != NULL;
    argus_error_destroy(error);
    return id;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Libraries that programs are linked with are directly in these folders, or in the subfolder for
 * the machine (x86_64-linux-gnu); plug-ins are in deeper subfolders. To add one: a row. */
static const char *const library_folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
                                              "/usr/local/lib/"};

static bool in_library_folder(const char *path)
{
    for (size_t i = 0; i < sizeof(library_folders) / sizeof(library_folders[0]); i++) {
        size_t length = strlen(library_folders[i]);
        if (strncmp(path, library_folders[i], length) != 0)
            continue;
        const char *rest = path + length, *slash = strchr(rest, '/');
        if (!slash ||
            (strstr(rest, "-linux-") && strstr(rest, "-linux-") < slash && !strchr(slash + 1, '/')))
            return true;
    }
    return false;
}

/* macOS: the system's folder, and files of which only the UUID is known (trace/kdebug_tables.c),
 * nearly all of which are system libraries. */
static bool is_darwins(const char *path)
{
    return strncmp(path, "/System/", 8) == 0 || strncmp(path, "UUID ", 5) == 0 ||
           strncmp(path, ARGUS_SHARED_CACHE_PATH, strlen(ARGUS_SHARED_CACHE_PATH)) == 0;
}

static bool is_library_by_name(const char *path)
{
    const char *name = base_name(path);
    if (is_darwins(path))
        return true;
    bool has_version = strncmp(name, "lib", 3) == 0 && strstr(name, ".so.");
    return has_version || path[0] == '[' || strncmp(name, "ld-", 3) == 0 || in_library_folder(path);
}

/* --- evidence from addresses --- */

/* On 64-bit systems the kernel maps programs far below libraries: at a third or two thirds of the
 * address space, or at their link address. Files that a program opens later are mapped near its
 * libraries. */
enum { MEGABYTE_BITS = 20, APART_MEGABYTES = 1 << 20 };

static bool is_shared_by_name(const char *path)
{
    return strstr(base_name(path), ".so") || is_library_by_name(path);
}

/* Process ID → the megabyte at which its lowest library begins. */
static void find_lowest_libraries(struct layers *layers, const struct argus_image_entry *images,
                                  size_t count, struct idmap *lowest)
{
    for (size_t i = 0; i < count && !layers->no_memory; i++) {
        uint32_t at = (uint32_t)(images[i].start >> MEGABYTE_BITS);
        /* idmap_get() returns the largest number if there is none. */
        if (images[i].path[0] == '/' && is_shared_by_name(images[i].path) &&
            at < idmap_get(lowest, images[i].pid))
            layers->no_memory |= !idmap_put(lowest, images[i].pid, at);
    }
}

static void find_programs(struct layers *layers)
{
    const struct argus_image_entry *images;
    struct idmap lowest = {0};
    size_t count = argus_trace_images(argus_graph_trace(layers->graph), &images);
    find_lowest_libraries(layers, images, count, &lowest);
    for (size_t i = 0; i < count && !layers->no_memory; i++) {
        uint32_t library = idmap_get(&lowest, images[i].pid);
        if (library != IDMAP_NONE && images[i].path[0] == '/' &&
            !is_shared_by_name(images[i].path) &&
            (images[i].start >> MEGABYTE_BITS) + APART_MEGABYTES < library)
            layers->no_memory |= !idmap_put(&layers->programs, intern(layers, images[i].path), 1);
    }
    idmap_deinit(&lowest);
    layers->has_programs = true;
}

static bool is_mapped_as_program(struct layers *layers, const char *path)
{
    if (!layers->has_programs)
        find_programs(layers);
    return idmap_get(&layers->programs, intern(layers, path)) != IDMAP_NONE;
}

/* --- evidence from files --- */

/* Whether the file at the image's path is still the recorded one. */
static bool is_still_there(const struct argus_image_entry *image)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    return !image->build_id_bytes ||
           (elf_file_build_id(image->path, 0, 0, id) == image->build_id_bytes &&
            memcmp(id, image->build_id, image->build_id_bytes) == 0);
}

static bool says_it_is_a_program(const struct layers *layers, const char *path)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(argus_graph_trace(layers->graph), &images), i = 0;
    while (i < count && strcmp(images[i].path, path) != 0)
        i++;
    return i < count && is_still_there(&images[i]) && elf_needed_is_program(path);
}

static bool note_needed(void *context, const char *name)
{
    struct layers *layers = context;
    layers->no_memory |= !idmap_put(&layers->needed, intern(layers, name), 1);
    return !layers->no_memory;
}

/* Collects the libraries that any file of the trace is linked with. Deleted files contribute
 * nothing. */
static void read_needed(struct layers *layers)
{
    const struct argus_image_entry *images;
    struct idmap seen = {0};
    size_t count = argus_trace_images(argus_graph_trace(layers->graph), &images);
    for (size_t i = 0; i < count && !layers->no_memory; i++) {
        uint32_t path = images[i].path[0] == '/' ? intern(layers, images[i].path) : 0;
        if (images[i].path[0] != '/' || idmap_get(&seen, path) != IDMAP_NONE)
            continue;
        layers->no_memory |= !idmap_put(&seen, path, 1);
        if (is_still_there(&images[i]))
            elf_needed_read(images[i].path, note_needed, layers);
    }
    idmap_deinit(&seen);
    layers->has_needed = true;
}

/* For code made at run time, the image is a source file (argus_symbols_image()). */
static bool is_source(const struct layers *layers, const char *path)
{
    const struct argus_image_entry *images;
    const struct argus_trace *trace = argus_graph_trace(layers->graph);
    size_t count = argus_trace_images(trace, &images);
    if (argus_trace_header(trace)->os != ARGUS_OS_LINUX || !path[0] || path[0] == '[')
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(images[i].path, path) == 0)
            return false;
    return count != 0;
}

static enum argus_layer find_shared(struct layers *layers, const char *path)
{
    if (is_source(layers, path))
        return argus_source_is_library(path) ? ARGUS_LAYER_LIBRARY : ARGUS_LAYER_MAIN;
    if (is_library_by_name(path))
        return ARGUS_LAYER_LIBRARY;
    if (!strstr(base_name(path), ".so") &&
        (is_mapped_as_program(layers, path) || says_it_is_a_program(layers, path)))
        return ARGUS_LAYER_MAIN;
    if (!layers->has_needed)
        read_needed(layers);
    return idmap_get(&layers->needed, intern(layers, base_name(path))) == IDMAP_NONE
               ? ARGUS_LAYER_PLUGIN
               : ARGUS_LAYER_LIBRARY;
}

/* The layer of code that is not in the process's own program. */
static enum argus_layer layer_of_shared(struct layers *layers, const char *path)
{
    uint32_t id = intern(layers, path), layer = idmap_get(&layers->by_path, id);
    if (layer != IDMAP_NONE)
        return (enum argus_layer)layer;
    layer = find_shared(layers, path);
    layers->no_memory |= !idmap_put(&layers->by_path, id, layer);
    return (enum argus_layer)layer;
}

/* --- programs --- */

/* Whether `path` can be the program of a process called `name`, which the kernel truncates to 15
 * bytes. */
static bool is_named_like(const char *path, const char *name)
{
    size_t length = strlen(name);
    return length && strncmp(base_name(path), name, length) == 0;
}

/* The file with the process's name; else the one at the lowest address, where programs are. */
static const char *find_main(const struct layers *layers, uint32_t process)
{
    const struct argus_process *processes;
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(argus_graph_trace(layers->graph), &images);
    const char *best = "";
    uint64_t lowest = UINT64_MAX;
    argus_graph_processes(layers->graph, &processes);
    uint32_t from = process; /* a forked process has its parent's images */
    for (int i = 0; i < 8 && processes[from].forked_from != ARGUS_NONE && !processes[from].exec_ns;
         i++)
        from = processes[from].forked_from;
    for (size_t i = 0; i < count; i++) {
        const struct argus_image_entry *image = &images[i];
        if (image->pid != processes[from].pid || image->path[0] != '/' ||
            strstr(base_name(image->path), ".so"))
            continue;
        bool named = is_named_like(image->path, processes[process].name);
        if (image->start < lowest || named) {
            best = image->path;
            lowest = named ? 0 : image->start;
        }
    }
    return best;
}

static const char *main_of(struct layers *layers, uint32_t process)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(layers->graph, &processes);
    if (!layers->main_paths)
        layers->main_paths = calloc(count + 1, sizeof(*layers->main_paths));
    if (!layers->main_paths) {
        layers->no_memory = true;
        return "";
    }
    if (!layers->main_paths[process])
        layers->main_paths[process] = find_main(layers, process);
    return layers->main_paths[process];
}

bool layers_is_anonymous(const char *path)
{
    return strncmp(path, "//", 2) == 0 || strcmp(path, "[heap]") == 0 ||
           strncmp(path, "[anon", 5) == 0;
}

enum argus_layer layers_of(struct layers *layers, uint32_t process, const char *path)
{
    if (layers_is_anonymous(path))
        return ARGUS_LAYER_UNKNOWN;
    return strcmp(main_of(layers, process), path) == 0 ? ARGUS_LAYER_MAIN
                                                       : layer_of_shared(layers, path);
}
