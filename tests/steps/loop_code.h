/* What the tests of loops share: functions of a program by name, the stack in a loop, and writers
 * as a text. To be included behind cmocka.h. */
#ifndef ARGUS_TESTS_LOOP_CODE_H
#define ARGUS_TESTS_LOOP_CODE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/code_writers.h"

static inline bool loop_code_find(struct elf_file *file, const char *name, uint64_t *ret)
{
    uint64_t first;
    size_t bytes;
    *ret = 0;
    assert_non_null(elf_file_code(file, 0, &first, &bytes));
    for (uint64_t at = first; at < first + bytes; at++) {
        uint64_t offset;
        const char *found = elf_file_function(file, at, &offset);
        if (found && offset == 0 && strcmp(found, name) == 0) {
            *ret = at;
            return true;
        }
    }
    return false;
}

static inline bool is_wait(const char *name)
{
    return name &&
           (strcmp(name, "usleep") == 0 || strstr(name, "nanosleep") ||
            strcmp(name, "sched_yield") == 0 || strcmp(name, "pthread_cond_timedwait") == 0 ||
            strcmp(name, "cnd_timedwait") == 0);
}

/* The last call in function `of` of `called` (0: of a function that waits), or a jump to it as a
 * tail call. */
static inline uint64_t call_in(struct code_library *library, struct elf_file *file, const char *of,
                               uint64_t called)
{
    uint64_t start, found = 0;
    assert_true(loop_code_find(file, of, &start));
    const struct code_function *function =
        code_library_function(library, code_library_image(library, file), start);
    assert_non_null(function);
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        struct code_target target;
        if (code_is_call(&function->nodes.data[i]) && code_call_target(function, i, &target) &&
            (called ? target.is_here && target.address == called : is_wait(target.name)))
            found = function->nodes.data[i].address + function->nodes.data[i].length - 1;
    }
    return found;
}

static inline struct elf_file *loop_code_open(const char *path)
{
    bool stale;
    struct elf_file *file = elf_file_open(path, &(struct elf_identity){0}, &stale);
    assert_non_null(file);
    return file;
}

static inline bool loop_code_is_arm64(const struct elf_file *file)
{
    return elf_file_machine(file) == ELF_MACHINE_AARCH64;
}

/* Of the wait in wait_NAME(), and of its call in go_NAME() if `has_caller`; returns how many.
 * `names` has the symbols, `code` the code. */
static inline uint32_t loop_code_frames(struct elf_file *names, struct elf_file *code,
                                        const char *name, bool has_caller, struct loop_frame *ret)
{
    char wait[64], go[64];
    uint64_t start;
    uint32_t count = 1;
    struct instruction_decoder *decoder;
    assert_null(instruction_decoder_create(
        loop_code_is_arm64(names) ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &decoder));
    struct code_library *library = code_library_create(decoder);
    snprintf(wait, sizeof(wait), "wait_%s", name);
    snprintf(go, sizeof(go), "go_%s", name);
    ret[0] = (struct loop_frame){.file = code, .address = call_in(library, names, wait, 0)};
    if (has_caller) {
        assert_true(loop_code_find(names, wait, &start));
        ret[count++] =
            (struct loop_frame){.file = code, .address = call_in(library, names, go, start)};
    }
    code_library_destroy(library);
    instruction_decoder_destroy(decoder);
    return count;
}

/* `names` has the symbols. */
static inline void describe_writer(struct elf_file *names, const struct code_writer *writer,
                                   char *buffer, size_t bytes)
{
    uint64_t offset;
    const char *name = elf_file_function(names, writer->start, &offset);
    snprintf(buffer, bytes, "%s%s", name ? name : "-", writer->is_possible ? "?" : "");
    size_t length = strlen(buffer);
    if (writer->signals)
        snprintf(buffer + length, bytes - length, "@%llx", (unsigned long long)writer->signals);
    length = strlen(buffer);
    if (writer->has_value)
        snprintf(buffer + length, bytes - length, "=%lld", (long long)writer->value);
}

static inline int by_text(const void *left, const void *right)
{
    return strcmp(left, right);
}

static inline void loop_code_describe_writers(struct elf_file *names,
                                              const struct code_writers *writers, char *buffer,
                                              size_t bytes)
{
    char all[CODE_WRITERS_MAX][64];
    for (uint32_t i = 0; i < writers->count; i++)
        describe_writer(names, &writers->all[i], all[i], sizeof(all[i]));
    qsort(all, writers->count, sizeof(all[0]), by_text);
    buffer[0] = '\0';
    for (uint32_t i = 0; i < writers->count; i++) {
        size_t length = strlen(buffer);
        snprintf(buffer + length, bytes - length, "%s%s", i ? " " : "", all[i]);
    }
}

#endif
