/* A program and its libraries reach each other's variables through the dynamic linker, by name. All
 * of them then mean the same memory: the definition that is found first, which is the program's if
 * it has one or a copy (R_X86_64_COPY). Libraries that bind their own symbols to themselves
 * (-Bsymbolic) are an exception that is not seen here; so what is found this way is said with
 * "may", as all that code alone tells.
 *
 * Only files that have the name in their table of dynamic symbols are looked into, so the number
 * and size of the other libraries hardly matter.
 */
#include "diagnose/suspects/flag_files.h"

#include <string.h>

#include "diagnose/words.h"
#include "event/binary/elf_exports.h"
#include "graph/symbols_code.h"

/* The processes whose images `files->process` may use, as event/images.c looks for them: its own
 * and, until it executes another program, those of the processes that forked it. */
static void find_owners(struct mapped_files *files)
{
    const struct view *view = &files->d->view;
    uint64_t time_ns = files->time_ns;
    uint32_t at = files->process;
    while (at < view->process_count && files->owner_count + 1 < MAPPED_OWNERS_MAX) {
        const struct argus_process *own = &view->processes[at];
        files->owners[files->owner_count++] = own->pid;
        if (own->exec_ns && own->exec_ns <= time_ns)
            return;
        if (own->forked_from == ARGUS_NONE && !own->start_ns && own->parent_pid)
            files->owners[files->owner_count++] = own->parent_pid;
        time_ns = own->start_ns && own->start_ns < time_ns ? own->start_ns : time_ns;
        at = own->forked_from;
    }
}

static bool is_owner(const struct mapped_files *files, uint64_t pid)
{
    for (uint32_t i = 0; i < files->owner_count; i++)
        if (files->owners[i] == pid)
            return true;
    return false;
}

struct mapped_files mapped_files_at(struct diagnoser *d, uint32_t process, uint64_t time_ns)
{
    struct mapped_files files = {.d = d, .process = process, .time_ns = time_ns};
    files.count = argus_trace_images(argus_graph_trace(d->view.graph), &files.images);
    find_owners(&files);
    return files;
}

struct mapped_files mapped_files_of(struct diagnoser *d, const struct argus_vertex *v)
{
    return mapped_files_at(d, d->view.threads[v->thread].process, v->end_ns);
}

/* By the first byte of code in the mapping: the page where that begins may also have bytes of the
 * segment before, whose addresses are others. */
static bool find_bias(const struct elf_file *file, const struct argus_image_entry *image,
                      uint64_t *ret)
{
    uint64_t address, offset;
    size_t bytes;
    for (size_t i = 0; elf_file_code(file, i, &address, &bytes); i++) {
        if (!elf_file_offset(file, address, &offset) ||
            offset - image->file_offset >= image->end - image->start)
            continue;
        *ret = image->start + (offset - image->file_offset) - address;
        return true;
    }
    return false;
}

/* NULL: at this time, the process does not have this image there. At its ends, a mapping may have
 * bytes that are of no segment. */
static struct elf_file *file_of(const struct mapped_files *files, size_t index)
{
    const struct argus_image_entry *image = &files->images[index];
    struct argus_symbols *symbols = files->d->symbols;
    uint64_t middle = image->start + (image->end - image->start) / 2, address;
    const uint64_t places[] = {image->start, middle, image->end - 1};
    struct elf_file *file = NULL;
    for (size_t i = 0; !file && i < sizeof(places) / sizeof(places[0]); i++)
        if (symbols_image_at(symbols, files->process, files->time_ns, places[i]) == index)
            file = symbols_code(symbols, files->process, files->time_ns, places[i], &address);
    return file;
}

bool mapped_files_next(struct mapped_files *files, struct mapped_file *ret)
{
    while (files->next < files->count) {
        size_t index = files->next++;
        const struct argus_image_entry *image = &files->images[index];
        if (!is_owner(files, image->pid) || image->path[0] != '/' || is_base_library(image->path))
            continue;
        ret->file = file_of(files, index);
        ret->path = image->path;
        if (ret->file && find_bias(ret->file, image, &ret->bias))
            return true;
    }
    return false;
}

/* The program's own comes first. */
struct elf_file *mapped_function_find(void *context, const char *name, uint64_t *ret)
{
    struct function_search *search = context;
    struct mapped_file mapped;
    struct elf_file *found = NULL;
    uint64_t address;
    if (search->left == 0)
        return NULL;
    search->left--;
    struct mapped_files files = mapped_files_of(search->d, search->vertex);
    while (mapped_files_next(&files, &mapped)) {
        bool is_program = elf_file_is_program(mapped.file);
        if ((found && !is_program) || !elf_export_function(mapped.file, name, &address))
            continue;
        found = mapped.file;
        *ret = address;
        if (is_program)
            break;
    }
    return found;
}

/* The variable's name, and how far behind its beginning the flag's path begins. False: the file
 * keeps it to itself. */
static bool name_of(const struct loop_flag *flag, const char **ret_name, uint64_t *ret_offset)
{
    struct elf_export variable;
    if (flag->is_thread_local || flag->is_mapped || flag->local.is_local)
        return false;
    *ret_name = flag->foreign;
    *ret_offset = flag->address;
    if (flag->foreign)
        return true;
    if (!elf_export_at(flag->file, flag->address, &variable))
        return false;
    *ret_name = variable.name;
    *ret_offset = flag->address - variable.address;
    return true;
}

static bool is_known(const struct flag_uses *uses, const struct elf_file *file)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->all[i].flag.file == file)
            return true;
    return false;
}

static void add_use(struct flag_uses *uses, const struct loop_flag *flag,
                    const struct mapped_file *mapped)
{
    if (uses->count < FLAG_USES_MAX)
        uses->all[uses->count++] = (struct flag_use){*flag, mapped->bias};
    else
        uses->is_cut = true;
}

/* A file other than the loop's, if it names the variable. */
static void add_other(struct flag_uses *uses, const struct loop_flag *flag,
                      const struct mapped_file *mapped, const char *name, uint64_t offset)
{
    struct elf_export variable;
    struct loop_flag other = *flag;
    if (!elf_export_find(mapped->file, name, &variable))
        return;
    other.file = mapped->file;
    other.foreign = variable.is_defined ? NULL : variable.name;
    other.address = variable.is_defined ? variable.address + offset : offset;
    add_use(uses, &other, mapped);
}

void flag_uses_find(struct diagnoser *d, const struct argus_vertex *v, const struct loop_flag *flag,
                    struct flag_uses *ret)
{
    struct mapped_file mapped;
    const char *name;
    uint64_t offset;
    ret->count = 0;
    ret->is_cut = false;
    struct mapped_files files = mapped_files_of(d, v);
    while (ret->count == 0 && mapped_files_next(&files, &mapped))
        if (mapped.file == flag->file)
            add_use(ret, flag, &mapped);
    if (!name_of(flag, &name, &offset))
        return;
    files = mapped_files_of(d, v);
    while (mapped_files_next(&files, &mapped))
        if (mapped.file != flag->file && !is_known(ret, mapped.file))
            add_other(ret, flag, &mapped, name, offset);
}

bool flag_owner_find(struct diagnoser *d, const struct argus_vertex *v,
                     const struct loop_flag *flag, const char **ret_image, uint64_t *ret_address)
{
    struct mapped_file mapped;
    struct elf_export variable;
    bool found = false, is_program = false;
    struct mapped_files files = mapped_files_of(d, v);
    while (!is_program && mapped_files_next(&files, &mapped)) {
        if (!elf_export_find(mapped.file, flag->foreign, &variable) || !variable.is_defined)
            continue;
        is_program = elf_file_is_program(mapped.file);
        if (found && !is_program)
            continue;
        found = true;
        *ret_image = mapped.path;
        *ret_address = variable.address + flag->address;
    }
    return found;
}
