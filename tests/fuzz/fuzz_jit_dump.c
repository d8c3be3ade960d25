/* Dumps of code that was made at run time, as any program writes them. */
#include <stdio.h>
#include <stdlib.h>

#include "event/jit_dump.h"
#include "fuzz.h"

/* Every function that was found begins at its place or before. */
static void check(const struct argus_name_entry *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].has_start && (!names[i].function[0] || names[i].distance > names[i].place))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t places[] = {0, 0x10, 0x1000, 0x1001, 0x7fff00000000, UINT64_MAX};
    enum { COUNT = sizeof(places) / sizeof(*places) };
    struct argus_name_entry names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = (struct argus_name_entry){
            .place = places[i], .function = "", .source = "", .called = ""};
    struct strtab *texts = strtab_create();
    FILE *dump = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (texts && dump) {
        argus_error_destroy(jit_dump_read(dump, names, COUNT, texts));
        check(names, COUNT);
    }
    if (dump)
        fclose(dump);
    strtab_destroy(texts);
    return 0;
}
