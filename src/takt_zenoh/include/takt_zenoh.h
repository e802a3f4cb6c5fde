/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of Zenoh (see takt_link.h) between two peers that know each other's address, without a
 * router; a sender waits where its queue is full.
 */
#pragma once

#include <takt_link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* topic;      /* of what it takes */
  const char* endpoint;   /* as Zenoh writes it, such as tcp/127.0.0.1:7447 */
  bool listens;           /* there; else it connects to it, as soon as somebody listens */
  size_t depth;           /* messages that wait for their taker; the oldest gives way */
  size_t payload_bytes;   /* of what it sends */
  takt_callback announce; /* there is a message */
} takt_zenoh_settings;

takt_link* takt_zenoh_open(const takt_zenoh_settings* settings, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
