/* Encrypted chunks of snapshots: finds their key, and decrypts them. */
#ifndef ARGUS_TRACE_SNAPSHOT_DECRYPT_H
#define ARGUS_TRACE_SNAPSHOT_DECRYPT_H

#include "trace/reader.h"

/* Looks for the key of an encrypted chunk in the key ring of the user, once for each trace: its
 * chunks have one key, and under sudo a look takes a process. */
void snapshots_find_key(struct argus_trace *trace, const struct argus_chunk *chunk);

/* The payload that the chunk would have if it was not encrypted; the caller frees it. It has
 * VARINT_SLACK zero bytes at its end. Errors as of argus_trace_read_snapshots(). */
struct argus_error *snapshots_decrypt(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, uint8_t **ret,
                                      size_t *ret_bytes);

#endif
