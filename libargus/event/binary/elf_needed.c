#include "event/binary/elf_needed.h"

#include <gelf.h>
#include <unistd.h>

#include "event/binary/elf_file.h"

static bool read_section(Elf *elf, Elf_Scn *section, bool (*each)(void *context, const char *name),
                         void *context)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || !header.sh_entsize)
        return true;
    size_t count = data->d_size / header.sh_entsize;
    for (size_t i = 0; i < count; i++) {
        GElf_Dyn entry;
        const char *name = NULL;
        if (gelf_getdyn(data, (int)i, &entry) && entry.d_tag == DT_NEEDED)
            name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
        if (name && !each(context, name))
            return false;
    }
    return true;
}

bool elf_needed_read(const char *path, bool (*each)(void *context, const char *name), void *context)
{
    bool go_on = true;
    elf_version(EV_CURRENT);
    int fd = elf_open_regular(path, 0);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    for (Elf_Scn *section = NULL; elf && go_on && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
            go_on = read_section(elf, section, each, context);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return go_on;
}

bool elf_has_interpreter(Elf *elf)
{
    size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
            return true;
    }
    return false;
}

bool elf_needed_is_program(const char *path)
{
    GElf_Ehdr header;
    elf_version(EV_CURRENT);
    int fd = elf_open_regular(path, 0);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    bool is_program =
        elf && gelf_getehdr(elf, &header) && (header.e_type == ET_EXEC || elf_has_interpreter(elf));
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return is_program;
}
