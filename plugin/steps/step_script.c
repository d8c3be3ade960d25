/* Breakpoints are set by address in a file. LLDB finds these wherever the file is loaded, with or
 * without symbols. */
#include "plugin/steps/step_script.h"

#include <inttypes.h>
#include <string.h>

#include "event/binary/elf_file.h"

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct argus_error *file_address(const struct step_place *place, uint64_t *ret)
{
    const struct elf_identity any = {.build_id_bytes = 0};
    bool stale;
    struct elf_file *elf = elf_file_open(place->path, &any, &stale);
    bool found = elf && elf_file_address(elf, place->offset, ret);
    elf_file_close(elf);
    return found ? NULL
                 : argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "%s cannot be read, or has nothing at offset 0x%" PRIx64,
                                      place->path, place->offset);
}

static void write_breakpoint(FILE *out, const struct step_place *place, uint64_t address,
                             const char *label)
{
    fprintf(out, "breakpoint set --breakpoint-name %s --shlib \"%s\" --address 0x%" PRIx64 "\n",
            label, last_part(place->path), address);
}

struct argus_error *step_script_write(const struct analysis *analysis, uint32_t vertex,
                                      const struct step_origin *origin, FILE *out)
{
    uint64_t begin = 0, wait = 0;
    struct argus_error *error = file_address(&origin->place, &begin);
    if (!error && origin->wait.offset)
        error = file_address(&origin->wait, &wait);
    if (error)
        return error;
    fprintf(out, "# v%u of %s: %s%s%s\n", vertex, analysis->trace->path, origin->label,
            origin->comm[0] ? ", in a thread called " : ", in the main thread", origin->comm);
    fprintf(out, "# Use: lldb --attach-pid PID --source FILE, or: lldb PROGRAM, then: command "
                 "source FILE\n\n");
    fprintf(out, "# Where its code begins.\n");
    write_breakpoint(out, &origin->place, begin, "argus_begin");
    fprintf(out,
            "breakpoint command add --one-liner \"thread backtrace --count 20\" argus_begin\n");
    if (wait) {
        fprintf(out, "\n# Where the wait that ended it comes back.\n");
        write_breakpoint(out, &origin->wait, wait, "argus_wait");
        fprintf(out, "breakpoint command add --one-liner \"frame variable\" argus_wait\n");
    }
    if (origin->comm[0])
        fprintf(out, "breakpoint modify --thread-name \"%s\" argus_begin%s\n", origin->comm,
                wait ? " argus_wait" : "");
    fprintf(out, "\n# What is printed at every stop.\n"
                 "target stop-hook add --one-liner \"disassemble --pc --count 8\"\n"
                 "target stop-hook add --one-liner \"register read\"\n"
                 "\n# The data flag, once 'argus diverge' has named it:\n"
                 "# watchpoint set variable FLAG\n"
                 "# watchpoint set expression --watch read_write --size 4 -- ADDRESS\n");
    return NULL;
}
