#include "event/binary/data_module.h"

#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_needed.h"
#include "event/names/demangle.h"

#if defined(__aarch64__)
#define RELOCATE_MODULE R_AARCH64_TLS_DTPMOD
#else
#define RELOCATE_MODULE R_X86_64_DTPMOD64
#endif

static bool offer(const char *name, const struct argus_data_symbol *symbol,
                  argus_data_symbol_function function, void *context)
{
    char *readable = demangle(name);
    bool go_on =
        function(context, name, symbol) && (!readable || function(context, readable, symbol));
    free(readable);
    return go_on;
}

/* The address in the file of the word that the dynamic linker sets to the module number of this
 * file; 0: none. */
static uint64_t module_word(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize ||
            !(data = elf_getdata(section, NULL)))
            continue;
        for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
            GElf_Rela rela;
            uint64_t type = gelf_getrela(data, (int)i, &rela) ? GELF_R_TYPE(rela.r_info) : 0;
            if (type == RELOCATE_MODULE)
                return rela.r_offset;
        }
    }
    return 0;
}

void data_module_each(Dwfl_Module *module, argus_data_symbol_function function, void *context)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    uint64_t word = module_word(elf);
    /* a library with an interpreter (libc) counts as a library */
    bool of_program = elf_has_interpreter(elf);
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym entry;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(module, i, &entry, &address, &section, NULL, NULL);
        int type = name ? GELF_ST_TYPE(entry.st_info) : STT_NOTYPE;
        if (!name || !name[0] || entry.st_shndx == SHN_UNDEF ||
            (type != STT_OBJECT && type != STT_TLS && type != STT_COMMON))
            continue;
        struct argus_data_symbol symbol = {.address = type == STT_TLS ? entry.st_value : address,
                                           .size_bytes = entry.st_size,
                                           .is_global = GELF_ST_BIND(entry.st_info) != STB_LOCAL,
                                           .is_thread_local = type == STT_TLS,
                                           .is_of_program = of_program && !word,
                                           .module_word = word ? word + bias : 0,
                                           .module_address = bias};
        if (!offer(name, &symbol, function, context))
            return;
    }
}

bool data_wanted_take(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    struct data_wanted *wanted = context;
    if (strcmp(name, wanted->name) != 0)
        return true;
    *wanted->symbol = *symbol;
    wanted->found = true;
    return false;
}
