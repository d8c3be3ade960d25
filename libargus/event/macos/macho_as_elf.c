/* Implements elf_file.h on macOS, where program files are Mach-O and the UUID serves as build
 * ID. */
#include "event/binary/elf_file.h"
#include "event/binary/elf_vdso.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compat.h"
#include "event/binary/macho.h"
#include "event/macos/own_cache.h"

/* Fat files have code for several CPU types. The UUID tells which one a process executes; without
 * it, this machine's own type is assumed. */
#ifdef __aarch64__
#define OWN_CPU MACHO_CPU_ARM64
#else
#define OWN_CPU MACHO_CPU_X86_64
#endif

struct elf_file {
    struct macho *macho; /* owned */
};

int elf_open_regular(const char *path, uint64_t unchanged_since_ns)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
        (unchanged_since_ns && elf_changed_ns(&status) > unchanged_since_ns)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* As the interface requires, returns NULL for a file that is not Mach-O: a process maps many such
 * files. */
static struct macho *open_macho(const char *path, enum macho_cpu cpu, const uint8_t *uuid)
{
    struct macho *macho = NULL;
    argus_error_destroy(macho_open(path, cpu, uuid, &macho));
    return macho;
}

/* The system's libraries are not files: they are in the shared cache. */
static struct macho *open_cached(const struct elf_identity *identity)
{
    const struct dyld_cache *cache =
        identity->build_id_bytes == MACHO_UUID_BYTES ? own_cache() : NULL;
    struct macho *macho = NULL;
    if (cache)
        argus_error_destroy(dyld_cache_image(cache, identity->build_id, &macho));
    return macho;
}

static struct macho *open_at_path(const char *path, const struct elf_identity *identity,
                                  bool *ret_stale)
{
    bool by_uuid = identity->build_id_bytes == MACHO_UUID_BYTES;
    int fd = elf_open_regular(path, by_uuid ? 0 : identity->unchanged_since_ns);
    *ret_stale = fd < 0 && access(path, F_OK) == 0;
    if (fd < 0)
        return NULL;
    close(fd);
    struct macho *macho =
        open_macho(path, by_uuid ? MACHO_CPU_ANY : OWN_CPU, by_uuid ? identity->build_id : NULL);
    struct macho *any = macho ? NULL : open_macho(path, MACHO_CPU_ANY, NULL);
    *ret_stale = any != NULL;
    macho_close(any);
    return macho;
}

struct elf_file *elf_file_open(const char *path, const struct elf_identity *identity,
                               bool *ret_stale)
{
    struct macho *macho = open_at_path(path, identity, ret_stale);
    if (!macho)
        macho = open_cached(identity);
    struct elf_file *file = macho ? calloc(1, sizeof(*file)) : NULL;
    if (!file) {
        macho_close(macho);
        return NULL;
    }
    file->macho = macho;
    *ret_stale = false;
    return file;
}

struct elf_file *elf_vdso_open(void)
{
    return NULL; /* the commpage has no symbols */
}

struct elf_file *elf_vdso_open_32_bit(void)
{
    return NULL;
}

void elf_file_close(struct elf_file *file)
{
    if (file)
        macho_close(file->macho);
    free(file);
}

bool elf_file_address(const struct elf_file *file, uint64_t offset_bytes, uint64_t *ret)
{
    return macho_address(file->macho, offset_bytes, ret);
}

bool elf_file_read(const struct elf_file *file, uint64_t offset_bytes, size_t bytes, void *ret)
{
    return macho_read(file->macho, offset_bytes, bytes, ret);
}

/* Only loops of Linux programs are read. */
const uint8_t *elf_file_code(const struct elf_file *file, size_t index, uint64_t *ret_address,
                             size_t *ret_bytes)
{
    (void)file;
    (void)index;
    *ret_address = *ret_bytes = 0;
    return NULL;
}

const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
    const struct macho_symbol *found = macho_find(file->macho, address, true);
    *ret_offset = found ? address - found->address : 0;
    return found ? found->name : NULL;
}

const char *elf_file_variable(struct elf_file *file, uint64_t address)
{
    const struct macho_symbol *found = macho_find(file->macho, address, false);
    return found ? found->name : NULL;
}

/* Mach-O has no sizes of symbols. */
bool elf_file_variable_at(struct elf_file *file, uint64_t address, bool is_thread_local,
                          struct elf_variable *ret)
{
    const struct macho_symbol *found =
        is_thread_local ? NULL : macho_find(file->macho, address, false);
    if (found)
        *ret = (struct elf_variable){.name = found->name, .offset = address - found->address};
    return found != NULL;
}

bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
    return macho_offset(file->macho, address, ret);
}

uint64_t elf_file_end(const struct elf_file *file)
{
    return macho_end(file->macho);
}

/* Thread-local variables of macOS are reached through descriptors; there is no block to find from
 * outside. */
uint64_t elf_file_thread_block(const struct elf_file *file)
{
    (void)file;
    return 0;
}

bool elf_file_is_program(const struct elf_file *file)
{
    (void)file;
    return false;
}

bool elf_file_function_start(struct elf_file *file, uint64_t address, uint64_t *ret)
{
    return macho_function_start(file->macho, address, ret);
}

unsigned elf_file_machine(const struct elf_file *file)
{
    return macho_cpu(file->macho) == MACHO_CPU_ARM64    ? ELF_MACHINE_AARCH64
           : macho_cpu(file->macho) == MACHO_CPU_X86_64 ? ELF_MACHINE_X86_64
                                                        : 0;
}

/* Compact unwind information is not read. */
struct Dwarf_CFI_s *elf_file_cfi(struct elf_file *file, int which, uint64_t *ret_bias)
{
    (void)file;
    (void)which;
    *ret_bias = 0;
    return NULL;
}

/* Lines are in .dSYM bundles, which are not read. */
bool elf_file_has_lines(struct elf_file *file)
{
    (void)file;
    return true; /* no server has additional data */
}

const char *elf_file_line(struct elf_file *file, uint64_t address, uint32_t *ret_line)
{
    (void)file;
    (void)address;
    *ret_line = 0;
    return NULL;
}

uint32_t elf_file_build_id(const char *path, uint64_t unchanged_since_ns, uint64_t inode,
                           uint8_t ret[ELF_BUILD_ID_MAX])
{
    (void)inode;
    int fd = elf_open_regular(path, unchanged_since_ns);
    if (fd < 0)
        return 0;
    close(fd);
    struct macho *macho = open_macho(path, OWN_CPU, NULL);
    bool has = macho && macho_uuid(macho, ret);
    macho_close(macho);
    return has ? MACHO_UUID_BYTES : 0;
}

/* live_file.h: files cannot be opened through processes here. */
struct elf_file *elf_file_open_fd(int fd, const char *path, const struct elf_identity *identity,
                                  bool *ret_stale)
{
    (void)path;
    (void)identity;
    *ret_stale = false;
    close(fd);
    return NULL;
}

uint32_t elf_file_build_id_fd(int fd, uint8_t ret[ELF_BUILD_ID_MAX])
{
    (void)ret;
    close(fd);
    return 0;
}
