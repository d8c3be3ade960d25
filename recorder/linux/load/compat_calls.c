#include "linux/load/compat_calls.h"

#include <stddef.h>

/* From this number on every new call has the same one on all architectures (Linux 5.1). */
#define FIRST_COMMON_CALL 424

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#ifdef __x86_64__

static const struct {
    uint16_t number, form, native;
} calls[] = {
#define CALL(number, form, native, name) {number, form, native},
#define PART(table, operation, native, name)
#include "linux/load/compat_calls.def"
#undef CALL
#undef PART
};

static const struct {
    size_t table;
    uint16_t operation, native;
} parts[] = {
#define CALL(number, form, native, name)
#define PART(table, operation, native, name)                                                       \
    {offsetof(struct bpf_settings, table), operation, native},
#include "linux/load/compat_calls.def"
#undef CALL
#undef PART
};

void compat_calls_fill(struct bpf_settings *settings)
{
    for (size_t i = 0; i < LENGTH(calls); i++)
        settings->compat_calls[calls[i].number] = (uint16_t)(calls[i].form | (calls[i].native + 1));
    for (uint16_t i = FIRST_COMMON_CALL; i < BPF_SYSCALLS; i++)
        settings->compat_calls[i] = (uint16_t)(i + 1);
    for (size_t i = 0; i < LENGTH(parts); i++) {
        uint16_t *table = (uint16_t *)(void *)((char *)settings + parts[i].table);
        table[parts[i].operation] = (uint16_t)(parts[i].native + 1);
    }
}

#else

/* 32-bit programs of arm64 also have their own table of calls: these are counted but not
 * recorded. */
void compat_calls_fill(struct bpf_settings *settings)
{
    (void)settings;
}

#endif
