/* Instruction steps through a debugger: what is stepped, what is stepped over, and what is
 * reported. The debugger itself is behind an interface, so that its part is a translation and no
 * more (plugin/lldb/lldb_stepper.cpp). recorder/linux/step/ does the same by ptrace.
 */
#ifndef ARGUS_PLUGIN_STEPS_HOST_STEPPER_H
#define ARGUS_PLUGIN_STEPS_HOST_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/steps/step_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why the process has stopped again. */
enum host_stop {
    HOST_STOP_BREAKPOINT,
    HOST_STOP_OTHERWISE, /* another breakpoint, a signal, the user */
    HOST_STOP_FAILED,    /* it could not be continued */
};

struct host_thread {
    uint32_t pid, tid;
    char comm[16];
};

/* A debugger, with one thread of one process, both stopped between the calls. */
struct step_debugger {
    void *data; /* passed to each function */
    /* The registers in the order of host_register_name_in_lldb(). False: the process has ended. */
    bool (*read_registers)(void *data, uint64_t ret[STEP_REGISTERS_MOST]);
    /* Why read_registers() returned false, as a sentence. Returns STEP_END_EXIT, or STEP_END_ERROR
     * if the process may still live. */
    uint32_t (*write_end)(void *data, char *ret, size_t room);
    /* The thread executes one instruction, the others none. `is_plain`: it neither waits in the
     * kernel nor needs care when it is stepped, and the run probably does not end after it. The
     * debugger may need to execute one more instruction than that when the run has ended. */
    void (*step_instruction)(void *data, bool is_plain);
    /* A breakpoint for this thread alone. */
    int (*set_breakpoint)(void *data, uint64_t address);
    void (*delete_breakpoint)(void *data, int breakpoint);
    /* Continues the process until it stops. */
    enum host_stop (*go)(void *data);
    /* Returns the number of bytes read. */
    size_t (*read_memory)(void *data, uint64_t address, void *ret, size_t bytes);
    /* The file that is mapped at `address`; false: none is. */
    bool (*path_at)(void *data, uint64_t address, char *ret, size_t room);
    bool (*is_executable)(void *data, uint64_t address);
    /* The pc of frame `number` of the stack, where 0 is the innermost; 0: there is none. */
    uint64_t (*frame_pc)(void *data, uint32_t number);
    /* Calls `say` for each mapping, by address; sets neither STEP_MAP_STEPPED nor `is_first`. */
    void (*each_map)(void *data,
                     void (*say)(void *context, struct step_item_map *item, const char *path),
                     void *context);
    void (*describe)(void *data, struct host_thread *ret);
};

/* Steps the thread from where it is, as `request` says. The caller has brought it to the place, or
 * (STEP_FROM_ANYWHERE) it is anywhere: then it first returns from libraries. Not for several
 * threads at once. Errors: NOT_FOUND if there is nothing to step, no memory. */
struct argus_error *host_stepper_run(const struct step_debugger *debugger,
                                     const struct step_request *request,
                                     const struct step_listener *listener);

#ifdef __cplusplus
}
#endif
#endif
