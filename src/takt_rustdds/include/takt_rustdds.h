/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of RustDDS for C and C++: messages of takt_interfaces/msg/Sample, as ROS 2 puts them on the
 * wire. What is null on failure says why in `why`, which holds `why_bytes` with the final zero. A
 * participant outlives its links; a link is used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_rustdds_participant takt_rustdds_participant;
typedef struct takt_rustdds_link takt_rustdds_link;

/* The head of a message. Times are CLOCK_MONOTONIC in ns. */
typedef struct {
  uint64_t sequence;
  int64_t intended_ns;
  int64_t sent_ns;
  bool last;
} takt_rustdds_head;

typedef struct {
  const char* topic; /* of its reader, as it is called in DDS */
  bool reliable;
  bool transient_local; /* else volatile */
  uint32_t depth; /* of KEEP_LAST; 0: KEEP_ALL */
  size_t payload_bytes; /* of what it sends */
  void (*announce)(void* context); /* by a thread of RustDDS: there may be a message */
  void* context;
} takt_rustdds_settings;

/* `address`: of the only interface that is used. `receive_buffer`: what each socket asks for, in
 * bytes; 0: RustDDS's default. */
takt_rustdds_participant* takt_rustdds_join(uint16_t domain, const char* address,
                                            size_t receive_buffer, char* why, size_t why_bytes);
void takt_rustdds_part(takt_rustdds_participant* participant);

takt_rustdds_link* takt_rustdds_open(takt_rustdds_participant* participant,
                                     const takt_rustdds_settings* settings, char* why,
                                     size_t why_bytes);
void takt_rustdds_close(takt_rustdds_link* link);

/* A link sends from its writer, if it has one. */
bool takt_rustdds_open_writer(takt_rustdds_link* link, const char* topic, char* why,
                              size_t why_bytes);
void takt_rustdds_close_writer(takt_rustdds_link* link);

/* How many other ends are there now: writers for its reader, readers for its writer. */
size_t takt_rustdds_writers(takt_rustdds_link* link);
size_t takt_rustdds_readers(takt_rustdds_link* link);

/* Sends a message, or the one that was taken last back. False: see takt_rustdds_problem. */
bool takt_rustdds_send(takt_rustdds_link* link, const takt_rustdds_head* head);
bool takt_rustdds_reply(takt_rustdds_link* link);

/* Takes the next message: 1; 0: there is none, the next one will be announced; -1: it failed. */
int takt_rustdds_take(takt_rustdds_link* link, takt_rustdds_head* head);

/* Why sending or taking failed the last time; false where it did not. */
bool takt_rustdds_problem(const takt_rustdds_link* link, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
