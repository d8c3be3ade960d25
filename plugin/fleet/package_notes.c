#include "plugin/fleet/package_notes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#include <unistd.h>

#include "argus/recorded_host.h"
#include "base/hash64.h"
#include "base/idmap.h"
#include "event/binary/elf_file.h"
#include "plugin/fleet/package_lookup.h"

enum { MOST_PROGRAMS = 512 };

/* By its place on the disk. macOS's images have no such place. */
static bool is_same_inode(const struct argus_image_entry *image, const struct stat *status)
{
#ifdef __linux__
    return image->inode == status->st_ino && image->dev_major == major(status->st_dev) &&
           image->dev_minor == minor(status->st_dev);
#else
    return (void)image, (void)status, false;
#endif
}

/* A path of a container or chroot may be another file here. */
static bool is_this_file(const struct argus_image_entry *image)
{
    uint8_t build_id[ELF_BUILD_ID_MAX];
    struct stat status;
    int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool known = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    uint32_t bytes = known && image->build_id_bytes ? elf_file_build_id_fd(fd, build_id) : 0;
    close(fd);
    if (bytes)
        return bytes == image->build_id_bytes && memcmp(build_id, image->build_id, bytes) == 0;
    return known && is_same_inode(image, &status);
}

/* Where packages put programs (the Filesystem Hierarchy Standard). A file elsewhere is not looked
 * at: its file system may be one whose server hangs. To add one: a row. */
static const char *const package_folders[] = {"/usr/", "/opt/", "/bin/", "/sbin/", "/lib"};

static bool is_program(const struct argus_image_entry *image)
{
    const char *slash = strrchr(image->path, '/');
    for (size_t i = 0; i < sizeof(package_folders) / sizeof(package_folders[0]); i++)
        if (strncmp(image->path, package_folders[i], strlen(package_folders[i])) == 0)
            return !strstr(slash, ".so");
    return false;
}

/* Each program once, in `ret`, which has room for MOST_PROGRAMS. Their paths are those of the
 * trace. */
static size_t list_programs(const struct argus_trace *trace, struct package_of_file *ret)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(trace, &images), found = 0;
    struct idmap seen = {0};
    for (size_t i = 0; i < count && found < MOST_PROGRAMS; i++) {
        uint64_t id = hash64(0, images[i].path, strlen(images[i].path));
        if (!is_program(&images[i]) || idmap_get(&seen, id) != IDMAP_NONE)
            continue;
        if (!idmap_put(&seen, id, 0))
            break; /* no memory: fewer notes */
        if (is_this_file(&images[i]))
            ret[found++].path = images[i].path;
    }
    idmap_deinit(&seen);
    return found;
}

static struct argus_error *write_notes(const char *path, const struct package_of_file *files,
                                       size_t count)
{
    struct argus_package_of *packages = calloc(count + 1, sizeof(*packages));
    size_t known = 0;
    if (!packages)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++)
        if (files[i].version[0])
            packages[known++] =
                (struct argus_package_of){files[i].path, files[i].package, files[i].version};
    struct argus_error *error =
        known ? argus_recorded_packages_append(path, packages, known) : NULL;
    free(packages);
    return error;
}

struct argus_error *package_notes_append(const char *path)
{
    struct argus_trace *trace;
    struct package_of_file *files = calloc(MOST_PROGRAMS, sizeof(*files));
    struct argus_error *error = files ? argus_trace_open(path, &trace) : argus_error_memory();
    if (error) {
        free(files);
        return error;
    }
    size_t count = list_programs(trace, files);
    if (count) {
        package_lookup_all(files, count);
        error = write_notes(path, files, count);
    }
    argus_trace_close(trace);
    free(files);
    return error;
}
