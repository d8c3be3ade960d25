#include "argus/recorded_host.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash64.h"
#include "trace/append_note.h"

#define MACHINE_FORM "the recording machine: "

/* --- the machine --- */

/* Only a hash leaves the machine, as machine-id(5) asks for. */
static bool hash_machine_id(char *ret, size_t bytes)
{
    static const char purpose[] = "argus machine";
    char id[64];
    int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, id, sizeof(id));
    if (fd >= 0)
        close(fd);
    if (got < 32)
        return false;
    uint64_t hash = hash64(hash64(0, purpose, sizeof(purpose)), id, 32);
    snprintf(ret, bytes, "%016" PRIx64, hash);
    return true;
}

struct argus_error *argus_recorded_machine_append(const char *path)
{
    const char *named = getenv("ARGUS_MACHINE");
    char name[ARGUS_MACHINE_BYTES], text[sizeof(MACHINE_FORM) + ARGUS_MACHINE_BYTES];
    if (named && *named)
        snprintf(name, sizeof(name), "%s", named);
    else if (!hash_machine_id(name, sizeof(name)))
        return NULL;
    snprintf(text, sizeof(text), MACHINE_FORM "%s", name);
    return trace_append_note(path, text);
}

const char *argus_recorded_machine(const struct argus_trace *trace, char *buffer, size_t bytes)
{
    const char *const *notes;
    const uint8_t *boot = argus_trace_header(trace)->boot_id;
    size_t count = argus_trace_notes(trace, &notes), length = strlen(MACHINE_FORM);
    for (size_t i = count; i-- > 0;)
        if (strncmp(notes[i], MACHINE_FORM, length) == 0 && notes[i][length]) {
            snprintf(buffer, bytes, "%s", notes[i] + length);
            return buffer;
        }
    bool has_boot = false;
    for (size_t i = 0; i < 16; i++)
        has_boot = has_boot || boot[i];
    if (has_boot)
        snprintf(buffer, bytes, "boot-%02x%02x%02x%02x", boot[0], boot[1], boot[2], boot[3]);
    else
        snprintf(buffer, bytes, "unknown");
    return buffer;
}

/* --- packages --- */

struct argus_error *argus_recorded_packages_append(const char *path,
                                                   const struct argus_package_of *packages,
                                                   size_t count)
{
    char **texts = calloc(count + 1, sizeof(*texts));
    size_t made = 0;
    for (; texts && made < count; made++)
        if (asprintf(&texts[made], ARGUS_PACKAGE_NOTE "%s: %s %s", packages[made].image,
                     packages[made].package, packages[made].version) < 0)
            break;
    struct argus_error *error =
        texts && made == count ? trace_append_notes(path, texts, count) : argus_error_memory();
    for (size_t i = 0; i < made; i++)
        free(texts[i]);
    free(texts);
    return error;
}

/* "package of PATH: NAME VERSION"; the path may contain anything. */
static bool read_package(const char *note, const char *image, char *ret_package,
                         size_t package_bytes, char *ret_version, size_t version_bytes)
{
    size_t form = strlen(ARGUS_PACKAGE_NOTE), length = strlen(image);
    if (strncmp(note, ARGUS_PACKAGE_NOTE, form) != 0 || strncmp(note + form, image, length) != 0 ||
        strncmp(note + form + length, ": ", 2) != 0)
        return false;
    const char *package = note + form + length + 2;
    const char *blank = strchr(package, ' ');
    if (!blank || blank == package || !blank[1] || strchr(blank + 1, ' '))
        return false;
    snprintf(ret_package, package_bytes, "%.*s", (int)(blank - package), package);
    snprintf(ret_version, version_bytes, "%s", blank + 1);
    return true;
}

bool argus_recorded_package(const struct argus_trace *trace, const char *image, char *ret_package,
                            size_t package_bytes, char *ret_version, size_t version_bytes)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    for (size_t i = count; i-- > 0;)
        if (read_package(notes[i], image, ret_package, package_bytes, ret_version, version_bytes))
            return true;
    return false;
}
