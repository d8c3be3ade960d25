/* A Mach-O library being written: the positions of its parts. */
#ifndef ARGUS_HOOKS_MACHO_WRITER_H
#define ARGUS_HOOKS_MACHO_WRITER_H

#include "bytes_builder.h"
#include "event/binary/macho_layout.h"
#include "library.h"

/* Ordinals of libraries, in the order of their load commands. */
enum { ORDINAL_RUNTIME = 1 };

struct macho_parts {
    struct bytes_builder file;
    const struct library_options *options;
    uint32_t command, command_count; /* where the next one goes */
    uint32_t code, plan, text_end;
    uint32_t data, data_end, init, term;
    uint32_t linkedit, rebase, rebase_bytes, bind, bind_bytes, exports, export_bytes;
    uint32_t symbols, strings, string_bytes;
    uint32_t end; /* of what is signed: the signature follows */
    uint32_t signature_bytes;
    bool too_long;
};

/* Adds the contents of __LINKEDIT (macho_linkedit.c). */
void macho_linkedit_add(struct macho_parts *parts);
/* Reserves room for the signature, behind all else; the load commands name it. */
void macho_signature_add(struct macho_parts *parts);
/* Signs the rest, which must be final (macho_signature.c). */
void macho_signature_write(struct macho_parts *parts);

#endif
