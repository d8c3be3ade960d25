/* Shared by the commands start, stop, status, snapshot and record. */
#ifndef ARGUS_PLUGIN_COMMANDS_RECORDING_COMMAND_H
#define ARGUS_PLUGIN_COMMANDS_RECORDING_COMMAND_H

#include "plugin/command.h"
#include "recorder/client/client.h"
#include "recorder/client/output.h"

/* The options that `start` and `record` have in common. */
#define RECORDING_OPTIONS                                                                          \
    {"rate", 0, "HZ", "take HZ samples a second on each CPU, 0 for none (99)"},                    \
        {"no-stacks", 0, NULL, "take no call stacks at waits and wake-ups"},                       \
        {"call-stacks", 0, NULL,                                                                   \
         "take call stacks at every system call too, for 'argus contexts'"},                       \
        {"unwind", 0, "NAME|PID",                                                                  \
         "copy the stacks of NAME at short waits too (at long ones: always)"},                     \
        {"unwind-size", 0, "SIZE", "copy SIZE of a stack, up to 64K (64K)"},                       \
        {"frame-pointers", 0, NULL, "copy no stacks: follow frame pointers alone"},                \
        {"without", 0, "CATEGORIES", "leave out kinds of records, e.g. interrupts,timers"},        \
        {"max-overhead", 0, "PERCENT", "leave out categories for a while when it costs more"},     \
        {"backend", 0, "bpf|perf|kdebug", "record with this backend (the first that works)"},      \
        {"codec", 0, "zlib|zstd", "compress the trace with it (zstd, where the recorder has it)"}, \
        {"only", 0, "CATEGORIES", "leave out all other categories; sched is always recorded"},     \
        {"probes", 0, "FILE", "probe also the places in libraries that FILE lists"},               \
        {"hooks", 0, "FILE", "name what the library FILE of argus-hook reports"},                  \
        {"rules", 0, "FILE|none",                                                                  \
         "record for these rules instead of those of 'argus schema add'"},                         \
        {"flags", 0, "FILE", "watch the data flags that FILE lists (argus watchflag --save)"},     \
    {                                                                                              \
        "no-probes", 0, NULL, "put no probes into libraries: no callbacks and UI events"           \
    }

/* The option of all commands that finish a file. */
#define NO_SYMBOLS_OPTION                                                                          \
    {                                                                                              \
        "no-symbols", 0, NULL, "add no names of functions and source files to FILE"                \
    }

/* Reads these options; `ret` has to hold the defaults. */
struct argus_error *recording_options(struct session *session, const struct arguments *arguments,
                                      struct recorder_options *ret);

/* Sends the probes to the recorder, starts it, and prints its notes as warnings. `fd` as in
 * recorder_start(). */
struct argus_error *recording_begin(struct session *session, struct recorder_client *client,
                                    const struct recorder_options *chosen, int fd,
                                    struct recorder_status *ret);

/* To be called before the recording ends or a snapshot: warns of names in --unwind that no process
 * has had, and of what was left out for --max-overhead. */
void recording_warn_missed(struct session *session, struct recorder_client *client);

/* Returns the argument of -o; an error if it was not given. */
struct argus_error *recording_output_path(const struct arguments *arguments, const char **ret);

/* Creates the trace file. Without `path` it is argus.argus, where the next command looks for it. An
 * existing file of that name might be the only trace, so it is renamed to argus.argus.old. */
struct argus_error *recording_create_output(const char *path, struct output *ret);
/* Prints a remark if an old trace was renamed. */
void recording_note_replaced(struct session *session, const struct output *output);

/* Completes a file that the recorder has written: adds build IDs, unwinds stack snapshots, and adds
 * function names (`with_names`). `key`: of the snapshots, from struct recorder_status; it is
 * forgotten when they are unwound. */
void recording_complete_file(struct session *session, const char *path,
                             const struct argus_snapshot_key *key, bool with_names);

/* The same, and prints one remark about its content. It is an error if the disk did not take the
 * file: this waits until it is written. */
struct argus_error *recording_finish_file(struct session *session, const char *path,
                                          const struct recorder_status *status, bool with_names);

/* Same for a file that was written during the recording. It is an error if it was removed
 * meanwhile. */
struct argus_error *recording_finish(struct session *session, const char *path,
                                     const struct recorder_status *status, bool with_names);

#endif
