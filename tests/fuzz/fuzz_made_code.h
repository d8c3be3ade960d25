/* Looks up a few addresses in lists and dumps of run-time generated code. */
#ifndef ARGUS_FUZZ_MADE_CODE_H
#define ARGUS_FUZZ_MADE_CODE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/strtab.h"
#include "event/names/made_names.h"
#include "fuzz.h"

typedef struct argus_error *made_code_read(FILE *file, struct argus_name_entry *names, size_t count,
                                           struct strtab *texts);

/* Asserts that every function found begins at or before its address. */
static void check_made_names(const struct argus_name_entry *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].has_start && (!names[i].function[0] || names[i].distance > names[i].place))
            abort();
}

static void fuzz_made_code(const uint8_t *data, size_t size, made_code_read *read)
{
    static const uint64_t places[] = {0, 0x10, 0x1000, 0x1001, 0x7fff00000000, UINT64_MAX};
    enum { COUNT = sizeof(places) / sizeof(*places) };
    struct argus_name_entry names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = (struct argus_name_entry){
            .place = places[i], .function = "", .source = "", .called = ""};
    struct strtab *texts = strtab_create();
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (texts && file) {
        argus_error_destroy(read(file, names, COUNT, texts));
        check_made_names(names, COUNT);
    }
    if (file)
        fclose(file);
    strtab_destroy(texts);
}

#endif
