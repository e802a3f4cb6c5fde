/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of Zenoh for C and C++: a message is a head and a payload, between two peers that know each
 * other's address, without a router; a sender waits where its queue is full. What is null on failure
 * says why in `why`, which holds `why_bytes` with the final zero. A link is used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_zenoh_link takt_zenoh_link;

/* The head of a message. Times are CLOCK_MONOTONIC in ns. */
typedef struct {
  uint64_t sequence;
  int64_t intended_ns;
  int64_t sent_ns;
  bool last;
} takt_zenoh_head;

typedef struct {
  const char* topic;    /* of what it takes */
  const char* endpoint; /* as Zenoh writes it, such as tcp/127.0.0.1:7447 */
  bool listens;         /* there; else it connects to it, as soon as somebody listens */
  size_t depth;         /* messages that wait for their taker; the oldest gives way */
  size_t payload_bytes; /* of what it sends */
  void (*announce)(void* context); /* by a thread of Zenoh: there is a message */
  void* context;
} takt_zenoh_settings;

takt_zenoh_link* takt_zenoh_open(const takt_zenoh_settings* settings, char* why, size_t why_bytes);
void takt_zenoh_close(takt_zenoh_link* link);

/* A link sends from its writer, if it has one. */
bool takt_zenoh_open_writer(takt_zenoh_link* link, const char* topic, char* why, size_t why_bytes);
void takt_zenoh_close_writer(takt_zenoh_link* link);

/* How many other ends are there now: writers for what it takes, readers for what it sends. */
size_t takt_zenoh_writers(const takt_zenoh_link* link);
size_t takt_zenoh_readers(const takt_zenoh_link* link);

/* Sends a message, or the one that was taken last back. False: see takt_zenoh_problem. */
bool takt_zenoh_send(takt_zenoh_link* link, const takt_zenoh_head* head);
bool takt_zenoh_reply(takt_zenoh_link* link);

/* Takes the next message: 1; 0: there is none, the next one will be announced; -1: it is none. */
int takt_zenoh_take(takt_zenoh_link* link, takt_zenoh_head* head);

/* Why the last call failed; false where none did. */
bool takt_zenoh_problem(const takt_zenoh_link* link, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
