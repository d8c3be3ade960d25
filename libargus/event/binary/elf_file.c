#include "event/binary/elf_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "base/lower_bound.h"
#include "base/vec.h"
#include "event/binary/debug_file.h"
#include "event/binary/elf_frames.h"
#include "event/binary/elf_inlines.h"
#include "event/binary/elf_private.h"

struct function {
    uint64_t address, end; /* end exclusive */
    const char *name;      /* owned by libdwfl */
    bool local;            /* if an address has two names, the global one is preferred */
};

/* A loadable segment: file offset → address. */
struct segment {
    uint64_t offset, bytes, address;
    bool is_code;
};

struct elf_file {
    Dwfl *dwfl;          /* owned; has the one module */
    Dwfl_Module *module; /* belongs to dwfl */
    VEC(struct function)
    functions; /* sorted by address, no two with the same start; valid if has_functions */
    bool has_functions;
    VEC(struct segment) segments;
    struct elf_units *units; /* owned; NULL: not read yet */
    struct elf_go *go;       /* owned; NULL: none; valid if has_go */
    bool has_go;
};

static const Dwfl_Callbacks callbacks = {
    /* never called, because the file is given as a descriptor */
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = debug_file_find,
};

/* A trace can name any path. To open a device can start something (/dev/watchdog), and so can a
 * file of /proc; so it is looked at first. Those of /proc say that they are empty. */
static int open_looked_at(const char *path)
{
    enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
#ifdef __linux__
    char same[32];
    struct stat status;
    int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return -1;
    snprintf(same, sizeof(same), "/proc/self/fd/%d", place);
    bool good = !fstat(place, &status) && S_ISREG(status.st_mode) && status.st_size > 0;
    int fd = good ? open(same, FLAGS) : -1;
    close(place);
    return fd;
#else
    return open(path, FLAGS);
#endif
}

int elf_open_regular(const char *path, uint64_t unchanged_since_ns)
{
    int fd = open_looked_at(path);
    struct stat status;
    if (fd < 0)
        return -1;
    bool changed =
        unchanged_since_ns && !fstat(fd, &status) && elf_changed_ns(&status) > unchanged_since_ns;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || changed) {
        close(fd);
        return -1;
    }
    return fd;
}

static uint32_t build_id_of(Elf *elf, uint8_t ret[ELF_BUILD_ID_MAX])
{
    const void *id;
    ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
    if (bytes <= 0 || bytes > ELF_BUILD_ID_MAX)
        return 0;
    memcpy(ret, id, (size_t)bytes);
    return (uint32_t)bytes;
}

/* On overlay file systems, a process's maps give another inode than stat(), so inodes cannot be
 * compared. */
static bool is_inode(int fd, uint64_t inode)
{
    enum { OVERLAY = 0x794c7630 };
    struct stat status;
    struct statfs system;
    return !inode || (!fstat(fd, &status) && status.st_ino == inode) ||
           (!fstatfs(fd, &system) && (uint32_t)system.f_type == OVERLAY);
}

uint32_t elf_file_build_id_fd(int fd, uint8_t ret[ELF_BUILD_ID_MAX])
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    uint32_t bytes = build_id_of(elf, ret);
    elf_end(elf);
    close(fd);
    return bytes;
}

uint32_t elf_file_build_id(const char *path, uint64_t unchanged_since_ns, uint64_t inode,
                           uint8_t ret[ELF_BUILD_ID_MAX])
{
    int fd = elf_open_regular(path, unchanged_since_ns);
    if (fd < 0)
        return 0;
    if (is_inode(fd, inode))
        return elf_file_build_id_fd(fd, ret);
    close(fd);
    return 0;
}

static int by_address(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->local != b->local)
        return a->local - b->local;
    if ((a->end > a->address) != (b->end > b->address))
        return a->end > a->address ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order;
}

/* If an address has several names, the first is kept. A function without a size extends to the next
 * one; inside a function that has a size, it is a label, such as those that gcc writes for the
 * files of a link-time optimization. */
static void settle_functions(struct elf_file *file)
{
    size_t kept = 0, count = file->functions.length;
    uint64_t covered_until = 0;
    struct function *functions = file->functions.data;
    if (count)
        qsort(functions, count, sizeof(*functions), by_address);
    for (size_t i = 0; i < count; i++) {
        if (kept && functions[kept - 1].address == functions[i].address) {
            if (functions[i].end > functions[kept - 1].end)
                functions[kept - 1].end = functions[i].end;
            continue;
        }
        if (functions[i].end == functions[i].address && functions[i].address < covered_until)
            continue;
        if (functions[i].end > covered_until)
            covered_until = functions[i].end;
        functions[kept++] = functions[i];
    }
    for (size_t i = 0; i < kept; i++)
        if (functions[i].end == functions[i].address)
            functions[i].end = i + 1 < kept ? functions[i + 1].address : functions[i].address + 1;
    file->functions.length = kept;
}

static bool is_function(const GElf_Sym *symbol)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* Loaded on demand only: unwinding needs no names, and large libraries have many. */
static void load_functions(struct elf_file *file)
{
    int count = dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(file->module, i, &symbol, &address, NULL, NULL, NULL);
        if (!name || !name[0] || name[0] == '$' || !is_function(&symbol))
            continue;
        struct function function = {
            .address = address,
            .end = address + symbol.st_size,
            .name = name,
            .local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
        };
        if (function.end >= address && !vec_push(&file->functions, function))
            break; /* if memory runs out, there are fewer names */
    }
    settle_functions(file);
    file->has_functions = true;
}

static bool load_segments(struct elf_file *file)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(file->module, &bias);
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        struct segment segment = {header.p_offset, header.p_filesz, header.p_vaddr,
                                  (header.p_flags & PF_X) != 0};
        if (!vec_push(&file->segments, segment))
            return false;
    }
    return true;
}

static bool is_expected(Elf *elf, const struct elf_identity *identity)
{
    uint8_t id[ELF_BUILD_ID_MAX];
    if (!identity->build_id_bytes)
        return true;
    return build_id_of(elf, id) == identity->build_id_bytes &&
           !memcmp(id, identity->build_id, identity->build_id_bytes);
}

/* Takes ownership of `fd`. */
static bool report(struct elf_file *file, const char *path, int fd)
{
    file->dwfl = dwfl_begin(&callbacks);
    if (file->dwfl)
        file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
    if (!file->module) {
        close(fd);
        return false;
    }
    return dwfl_report_end(file->dwfl, NULL, NULL) == 0;
}

struct elf_file *elf_file_open_fd(int fd, const char *path, const struct elf_identity *identity,
                                  bool *ret_stale)
{
    elf_version(EV_CURRENT);
    *ret_stale = false;
    struct elf_file *file = calloc(1, sizeof(*file));
    if (!file) {
        close(fd);
        return NULL;
    }
    GElf_Addr bias;
    bool opened = report(file, path, fd);
    if (opened && !is_expected(dwfl_module_getelf(file->module, &bias), identity)) {
        *ret_stale = true;
        opened = false;
    }
    if (!opened || !load_segments(file)) {
        elf_file_close(file);
        return NULL;
    }
    return file;
}

/* For files without a build ID: whether the file changed or is a different one. */
static bool is_another(int fd, const struct elf_identity *identity)
{
    struct stat status;
    if (identity->build_id_bytes)
        return false;
    return !is_inode(fd, identity->inode) ||
           (identity->unchanged_since_ns &&
            (fstat(fd, &status) || elf_changed_ns(&status) > identity->unchanged_since_ns));
}

struct elf_file *elf_file_open(const char *path, const struct elf_identity *identity,
                               bool *ret_stale)
{
    int fd = elf_open_regular(path, 0);
    *ret_stale = fd >= 0 && is_another(fd, identity);
    if (fd < 0)
        return NULL;
    if (!*ret_stale)
        return elf_file_open_fd(fd, path, identity, ret_stale);
    close(fd);
    return NULL;
}

void elf_file_close(struct elf_file *file)
{
    if (!file)
        return;
    elf_units_destroy(file->units);
    elf_go_destroy(file->go);
    dwfl_end(file->dwfl);
    vec_deinit(&file->functions);
    vec_deinit(&file->segments);
    free(file);
}

Dwfl_Module *elf_file_module(const struct elf_file *file)
{
    return file->module;
}

struct elf_units *elf_file_units(struct elf_file *file)
{
    if (!file->units)
        file->units = elf_units_create(file->module);
    return file->units;
}

const char *elf_file_missing_split(const struct elf_file *file, size_t *ret_count)
{
    *ret_count = file->units ? file->units->missing_count : 0;
    return *ret_count ? file->units->missing : NULL;
}

struct elf_go *elf_file_go(struct elf_file *file)
{
    if (!file->has_go)
        file->go = elf_go_create(file);
    file->has_go = true;
    return file->go;
}

bool elf_file_address(const struct elf_file *file, uint64_t offset_bytes, uint64_t *ret)
{
    for (size_t i = 0; i < file->segments.length; i++) {
        const struct segment *segment = &file->segments.data[i];
        if (offset_bytes < segment->offset || offset_bytes - segment->offset >= segment->bytes)
            continue;
        *ret = segment->address + (offset_bytes - segment->offset);
        return true;
    }
    return false;
}

bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
    for (size_t i = 0; i < file->segments.length; i++) {
        const struct segment *segment = &file->segments.data[i];
        if (address < segment->address || address - segment->address >= segment->bytes)
            continue;
        *ret = segment->offset + (address - segment->address);
        return true;
    }
    return false;
}

static const char *function_by_go(struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
    struct elf_go *go = elf_file_go(file);
    uint64_t start;
    const char *name = go ? elf_go_function(go, address, &start) : NULL;
    if (name)
        *ret_offset = address - start;
    return name;
}

const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
    if (!file->has_functions)
        load_functions(file);
    size_t behind;
    LOWER_BOUND(behind, file->functions.length, file->functions.data[behind].address <= address);
    if (!behind || address >= file->functions.data[behind - 1].end)
        return function_by_go(file, address, ret_offset);
    *ret_offset = address - file->functions.data[behind - 1].address;
    return file->functions.data[behind - 1].name;
}

const char *elf_file_variable(struct elf_file *file, uint64_t address)
{
    int count = dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr start;
        const char *name =
            dwfl_module_getsym_info(file->module, i, &symbol, &start, NULL, NULL, NULL);
        if (name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
            address >= start && address - start < symbol.st_size)
            return name;
    }
    return NULL;
}

/* For a file without .debug_aranges. */
static const char *line_by_unit(struct elf_file *file, uint64_t address, int *ret_number)
{
    struct elf_units *units = elf_file_units(file);
    struct elf_unit *unit = units ? elf_units_find(units, address) : NULL;
    Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->die, address - units->bias) : NULL;
    return line && dwarf_lineno(line, ret_number) == 0 ? dwarf_linesrc(line, NULL, NULL) : NULL;
}

const char *elf_file_line(struct elf_file *file, uint64_t address, uint32_t *ret_line)
{
    Dwfl_Line *line = dwfl_module_getsrc(file->module, address);
    int number = 0;
    const char *name = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL)
                            : line_by_unit(file, address, &number);
    struct elf_go *go = name ? NULL : elf_file_go(file);
    *ret_line = number > 0 ? (uint32_t)number : 0;
    return go ? elf_go_line(go, address, ret_line) : name;
}

bool elf_file_has_lines(struct elf_file *file)
{
    Dwarf_Addr bias;
    return dwfl_module_nextcu(file->module, NULL, &bias) != NULL;
}

bool elf_file_read(const struct elf_file *file, uint64_t offset_bytes, size_t bytes, void *ret)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(file->module, &bias);
    size_t size = 0;
    /* The file is mapped. elf_getdata_rawchunk() would search all chunks that were asked for. */
    const char *raw = elf ? elf_rawfile(elf, &size) : NULL;
    if (!raw || bytes > size || offset_bytes > size - bytes)
        return false;
    memcpy(ret, raw + offset_bytes, bytes);
    return true;
}

const uint8_t *elf_file_code(const struct elf_file *file, size_t index, uint64_t *ret_address,
                             size_t *ret_bytes)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(file->module, &bias);
    size_t at = 0;
    while (at < file->segments.length && (!file->segments.data[at].is_code || index-- > 0))
        at++;
    if (!elf || at == file->segments.length)
        return NULL;
    const struct segment *segment = &file->segments.data[at];
    const Elf_Data *data =
        elf_getdata_rawchunk(elf, (int64_t)segment->offset, segment->bytes, ELF_T_BYTE);
    if (!data || !data->d_buf)
        return NULL;
    *ret_address = segment->address;
    *ret_bytes = data->d_size;
    return data->d_buf;
}

bool elf_file_function_start(struct elf_file *file, uint64_t address, uint64_t *ret)
{
    GElf_Addr bias;
    struct elf_frame frame;
    if (!elf_frames_find(dwfl_module_getelf(file->module, &bias), address, &frame))
        return false;
    *ret = frame.start;
    return true;
}

/* The beginning of each description (Linux Standard Base, "Frame Description Entry"). */
struct frame_description {
    uint32_t length; /* EXTENDED: a 64-bit length, which linkers do not write */
    uint32_t cie;    /* 0: this is not a description */
    uint32_t start, bytes;
};
#define EXTENDED 0xffffffffu

static bool find_described(struct elf_file *file, uint64_t address, uint64_t *ret_start,
                           uint64_t *ret_bytes)
{
    GElf_Addr bias;
    struct elf_frame frame;
    struct frame_description description;
    uint64_t offset;
    if (!elf_frames_find(dwfl_module_getelf(file->module, &bias), address, &frame) ||
        !elf_file_offset(file, frame.description, &offset) ||
        !elf_file_read(file, offset, sizeof(description), &description) ||
        description.length == EXTENDED || description.length < 12 || description.cie == 0)
        return false;
    *ret_start = frame.start;
    *ret_bytes = description.bytes;
    return address - frame.start < description.bytes;
}

/* Go programs have no such descriptions. */
bool elf_file_function_range(struct elf_file *file, uint64_t address, uint64_t *ret_start,
                             uint64_t *ret_bytes)
{
    if (find_described(file, address, ret_start, ret_bytes))
        return true;
    const struct elf_go *go = elf_file_go(file);
    return go && elf_go_range(go, address, ret_start, ret_bytes);
}

enum elf_go_code elf_file_go_code(struct elf_file *file, uint64_t address)
{
    uint64_t start, bytes;
    const struct elf_go *go = elf_file_go(file);
    if (!go || !elf_go_range(go, address, &start, &bytes))
        return ELF_NOT_GO;
    return elf_go_has_registers(go) ? ELF_GO_REGISTERS : ELF_GO_UNKNOWN;
}

bool elf_file_go_stack_bytes(struct elf_file *file, uint64_t address, uint32_t *ret)
{
    const struct elf_go *go = elf_file_go(file);
    return go && elf_go_stack_bytes(go, address, ret);
}

unsigned elf_file_machine(const struct elf_file *file)
{
    GElf_Addr bias;
    GElf_Ehdr header;
    Elf *elf = dwfl_module_getelf(file->module, &bias);
    return elf && gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
}

Dwarf_CFI *elf_file_cfi(struct elf_file *file, int which, uint64_t *ret_bias)
{
    return which == 0 ? dwfl_module_eh_cfi(file->module, ret_bias)
                      : dwfl_module_dwarf_cfi(file->module, ret_bias);
}
