// Acknowledges what arrives with QoS 1, as a subscriber must. Source: MQTT 3.1.1, sections 2.2, 3.3 and 3.4.
#pragma once

#include "loop.h"

struct mqtt_input {
  enum { MQTT_TYPE, MQTT_LENGTH, MQTT_TOPIC_LENGTH, MQTT_TOPIC, MQTT_IDENTIFIER, MQTT_REST } state;
  uint8_t type, digits, byte_count;
  uint16_t value;
  uint32_t rest;  // of the packet
  uint16_t topic_rest;
};

void mqtt_acknowledge(struct mqtt_input *, struct connection *, const char *bytes, size_t count);
