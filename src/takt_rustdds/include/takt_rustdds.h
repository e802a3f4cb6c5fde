/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of RustDDS (see takt_link.h): messages of takt_interfaces/msg/Sample, as ROS 2 puts them on
 * the wire. A participant outlives its links.
 */
#pragma once

#include <takt_link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_rustdds_participant takt_rustdds_participant;

typedef struct {
  const char* topic; /* of its reader, as it is called in DDS */
  bool reliable;
  bool transient_local;   /* else volatile */
  uint32_t depth;         /* of KEEP_LAST; 0: KEEP_ALL */
  size_t payload_bytes;   /* of what it sends */
  takt_callback announce; /* there may be a message, after a take that found none */
} takt_rustdds_settings;

/* `address`: of the only interface that is used. `receive_buffer`: what each socket asks for, in
 * bytes; 0: RustDDS's default. */
takt_rustdds_participant* takt_rustdds_join(uint16_t domain, const char* address,
                                            size_t receive_buffer, char* why, size_t why_bytes);
void takt_rustdds_part(takt_rustdds_participant* participant);

takt_link* takt_rustdds_open(takt_rustdds_participant* participant,
                             const takt_rustdds_settings* settings, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
