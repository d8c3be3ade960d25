/* Registers and memory of a thread that is stopped. */
#ifndef ARGUS_RECORDER_LINUX_STEP_THREAD_H
#define ARGUS_RECORDER_LINUX_STEP_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "linux/step/step_instruction.h"
#include "step_protocol.h"

#if defined(__x86_64__)
#define STEP_REGISTER_COUNT 20
#elif defined(__aarch64__)
#define STEP_REGISTER_COUNT 35
#else
#error "an architecture without a stepper"
#endif

/* All registers of a thread, as argus/steps.h numbers them. False: the thread has ended. */
bool step_registers_read(pid_t tid, uint64_t ret[STEP_REGISTERS_MOST]);
uint64_t step_pc(const uint64_t *registers);
uint64_t step_stack_pointer(const uint64_t *registers);
/* The result of a function that has just returned, and the arguments of one that was just
 * called. */
uint64_t step_result(const uint64_t *registers);
void step_arguments(const uint64_t *registers, uint64_t ret[6]);
struct step_instruction step_instruction(const uint8_t *code, size_t bytes);

/* Clears the flag that makes the processor ignore a breakpoint at the next instruction. */
void step_forget_resume(pid_t tid);

/* Reads memory of the process of `memory_fd`. Returns the bytes read, up to the first unmapped
 * one. */
size_t step_memory_read(int memory_fd, uint64_t address, void *ret, size_t bytes);

/* Where the function that has just been called returns to. False: it cannot be read. */
bool step_return_address(int memory_fd, const uint64_t *registers, uint64_t *ret);

/* Clears the trap flag in the value that pushf has just stored. */
void step_mend_pushf(int memory_fd, const uint64_t *registers);

#endif
