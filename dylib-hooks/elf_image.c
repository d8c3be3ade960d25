/* ELF files of x86-64 and arm64, by libelf. Symbols also come from a separate debug file
 * (event/binary/elf_symbols.h). */
#include "image.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "event/binary/elf_needed.h"
#include "event/binary/elf_symbols.h"
#include "exception_tables.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

static const struct {
    uint16_t machine;
    enum hook_arch arch;
    uint32_t relative; /* relocation type */
} machines[] = {{EM_X86_64, HOOK_ARCH_X86_64, R_X86_64_RELATIVE},
                {EM_AARCH64, HOOK_ARCH_ARM64, R_AARCH64_RELATIVE}};

static struct argus_error *read_header(struct image *image, Elf *elf, enum hook_arch arch,
                                       uint32_t *ret_relative)
{
    GElf_Ehdr header;
    if (!elf || gelf_getclass(elf) != ELFCLASS64 || !gelf_getehdr(elf, &header) ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
        return argus_error_create(ARGUS_ERROR_FORMAT, "it is not a 64-bit little-endian ELF file");
    if (header.e_type != ET_DYN && header.e_type != ET_EXEC)
        return argus_error_create(ARGUS_ERROR_FORMAT, "it is neither a library nor a program");
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
        if (machines[i].machine != header.e_machine)
            continue;
        image->arch = machines[i].arch;
        *ret_relative = machines[i].relative;
        return arch && arch != image->arch
                   ? argus_error_create(ARGUS_ERROR_FORMAT, "it is of another architecture")
                   : NULL;
    }
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "ELF machine %u: only x86-64 and arm64",
                              header.e_machine);
}

static void keep_id(struct image *image, const uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at + 12 <= bytes;) {
        uint32_t head[3];
        memcpy(head, data + at, sizeof(head));
        size_t name = ((size_t)head[0] + 3) & ~(size_t)3;
        size_t next = at + 12 + name + (((size_t)head[1] + 3) & ~(size_t)3);
        bool whole = head[0] <= bytes && head[1] <= bytes && next <= bytes;
        if (whole && head[2] == NT_GNU_BUILD_ID && head[0] == 4 && head[1] <= HOOK_ID_MOST &&
            memcmp(data + at + 12, "GNU", 4) == 0) {
            memcpy(image->id, data + at + 12 + name, head[1]);
            image->id_bytes = head[1];
        }
        if (!whole)
            return;
        at = next;
    }
}

static bool read_segments(struct image *image, Elf *elf)
{
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header))
            continue;
        if (header.p_type == PT_LOAD && !image_add_segment(image, header.p_vaddr, header.p_offset,
                                                           header.p_filesz, header.p_flags & PF_X))
            return false;
        if (header.p_type == PT_NOTE && header.p_offset <= image->file_bytes &&
            header.p_filesz <= image->file_bytes - header.p_offset)
            keep_id(image, image->file + header.p_offset, header.p_filesz);
    }
    return true;
}

static bool keep_pointer(struct image *image, uint64_t address)
{
    return !image_code(image, address) || vec_push(&image->pointers, address);
}

static bool read_relocations(struct image *image, Elf_Data *data, size_t count, uint32_t relative)
{
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        if (gelf_getrela(data, (int)i, &rela) && GELF_R_TYPE(rela.r_info) == relative &&
            !keep_pointer(image, (uint64_t)rela.r_addend))
            return false;
    }
    return true;
}

static bool keep_pointer_at(struct image *image, uint64_t place)
{
    uint64_t pointer;
    const uint8_t *bytes = image_bytes(image, place, sizeof(pointer));
    if (!bytes)
        return true;
    memcpy(&pointer, bytes, sizeof(pointer));
    return keep_pointer(image, pointer);
}

/* Packed relative relocations: an address, then bitmaps of the 63 words after it. The pointers are
 * in the data. */
static bool read_relr(struct image *image, Elf_Data *data)
{
    uint64_t at = 0;
    for (size_t i = 0; i + 8 <= data->d_size; i += 8) {
        uint64_t entry;
        memcpy(&entry, (const uint8_t *)data->d_buf + i, sizeof(entry));
        bool is_address = !(entry & 1);
        if (is_address && !keep_pointer_at(image, entry))
            return false;
        for (unsigned bit = 1; bit < 64 && !is_address; bit++)
            if (entry >> bit & 1 && !keep_pointer_at(image, at + 8 * (bit - 1)))
                return false;
        at = is_address ? entry + 8 : at + 63 * 8;
    }
    return true;
}

static bool add_symbol(struct image *image, const char *name, const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !name ||
        !*name || !image_code(image, symbol->st_value))
        return true;
    return image_add_function(image, name, strlen(name), symbol->st_value);
}

static bool read_symbols(struct image *image, Elf *elf, Elf_Data *data, const GElf_Shdr *header)
{
    size_t count = header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) &&
            !add_symbol(image, elf_strptr(elf, header->sh_link, symbol.st_name), &symbol))
            return false;
    }
    return true;
}

static bool read_soname(struct image *image, Elf *elf, Elf_Data *data, const GElf_Shdr *header)
{
    size_t count = header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Dyn entry;
        const char *name = NULL;
        if (gelf_getdyn(data, (int)i, &entry) && entry.d_tag == DT_SONAME)
            name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (!name || image->name)
            continue;
        image->name = strdup(name);
        if (!image->name)
            return false;
    }
    return true;
}

static bool read_section(struct image *image, Elf *elf, Elf_Scn *section, uint32_t relative)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header))
        return true;
    Elf_Data *data = header.sh_type == SHT_NOBITS ? NULL : elf_getdata(section, NULL);
    if (!data || !data->d_buf)
        return true;
    size_t names;
    const char *name =
        elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (name && strcmp(name, ".eh_frame") == 0)
        return exception_tables_read(image, header.sh_addr, header.sh_size);
    switch (header.sh_type) {
    case SHT_RELA:
        return !(header.sh_flags & SHF_ALLOC) || !header.sh_entsize ||
               read_relocations(image, data, data->d_size / header.sh_entsize, relative);
    case SHT_RELR:
        return read_relr(image, data);
    case SHT_SYMTAB:
    case SHT_DYNSYM:
        return read_symbols(image, elf, data, &header);
    case SHT_DYNAMIC:
        return read_soname(image, elf, data, &header);
    default:
        return true;
    }
}

struct visited {
    struct image *image;
    bool no_memory;
};

static bool visit_symbol(void *context, const char *name, uint64_t file_offset)
{
    struct visited *visited = context;
    struct image *image = visited->image;
    for (size_t i = 0; i < image->segments.length; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        uint64_t offset = (uint64_t)(segment->data - image->file);
        if (segment->is_code && file_offset >= offset && file_offset - offset < segment->bytes)
            visited->no_memory |= !image_add_function(image, name, strlen(name),
                                                      segment->address + (file_offset - offset));
    }
    return !visited->no_memory;
}

/* Local functions of stripped libraries. */
static bool read_debug_symbols(struct image *image)
{
    struct visited visited = {.image = image};
    int fd = open(image->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    elf_symbols_each(fd, image->path, visit_symbol, &visited);
    close(fd);
    return !visited.no_memory;
}

/* A program has no soname; a library without one is known by its file name. */
static bool name_image(struct image *image, Elf *elf)
{
    const char *slash = strrchr(image->path, '/');
    /* ld.so and libc can be run, but are libraries */
    bool is_program = !image->name && elf_has_interpreter(elf);
    if (!image->name)
        image->name = strdup(is_program ? "" : slash ? slash + 1 : image->path);
    return image->name != NULL;
}

struct argus_error *elf_image_read(struct image *image, enum hook_arch arch)
{
    uint32_t relative = 0;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)image->file, image->file_bytes);
    struct argus_error *error = read_header(image, elf, arch, &relative);
    bool done = !error && read_segments(image, elf);
    for (Elf_Scn *section = NULL; done && (section = elf_nextscn(elf, section)) != NULL;)
        done = read_section(image, elf, section, relative);
    done = done && name_image(image, elf) && read_debug_symbols(image);
    elf_end(elf);
    return error ? error : done ? NULL : argus_error_memory();
}
