#include "argus/recorded_command.h"

#include <inttypes.h>
#include <stdio.h>

#include "trace/append_note.h"

#define FORM "the recorded command: pid %" PRIu64

struct argus_error *argus_recorded_command_append(const char *path, uint64_t pid)
{
    char text[64];
    snprintf(text, sizeof(text), FORM, pid);
    return trace_append_note(path, text);
}

uint64_t argus_recorded_command_pid(const struct argus_trace *trace)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    uint64_t pid, found = 0;
    for (size_t i = 0; i < count; i++)
        if (sscanf(notes[i], "the recorded command: pid %" SCNu64, &pid) == 1)
            found = pid;
    return found;
}
