#include "mqtt.h"

enum { PUBLISH_QOS_1 = 0x32, TYPE_AND_QOS = 0xf6, ACKS_AT_ONCE = 256 };

struct acks {
  char bytes[ACKS_AT_ONCE * 4];
  size_t count;
};

static void add_ack(struct acks *acks, struct connection *connection, uint16_t identifier) {
  if (acks->count == sizeof acks->bytes) {
    connection_send(connection, acks->bytes, acks->count);
    acks->count = 0;
  }
  const char ack[4] = {0x40, 2, (char)(identifier >> 8), (char)identifier};
  for (int i = 0; i < 4; i++) acks->bytes[acks->count++] = ack[i];
}

// A packet's head is taken byte by byte, what follows in one step.
static size_t skip(struct mqtt_input *input, size_t count) {
  size_t part = count < input->rest ? count : input->rest;
  input->rest -= (uint32_t)part;
  if (!input->rest) input->state = MQTT_TYPE;
  return part;
}

static bool take_two(struct mqtt_input *input, uint8_t byte) {
  input->rest--;
  input->value = (uint16_t)(input->value << 8 | byte);
  if (++input->byte_count < 2) return false;
  input->byte_count = 0;
  return true;
}

static void after_length(struct mqtt_input *input) {
  bool wants_ack = (input->type & TYPE_AND_QOS) == PUBLISH_QOS_1;
  input->state = !input->rest ? MQTT_TYPE : wants_ack ? MQTT_TOPIC_LENGTH : MQTT_REST;
}

void mqtt_acknowledge(struct mqtt_input *input, struct connection *connection, const char *bytes, size_t count) {
  struct acks acks = {.count = 0};
  for (size_t at = 0; at < count;) {
    uint8_t byte = (uint8_t)bytes[at];
    switch (input->state) {
      case MQTT_TYPE:
        *input = (struct mqtt_input){.state = MQTT_LENGTH, .type = byte};
        break;
      case MQTT_LENGTH:
        input->rest |= (uint32_t)(byte & 0x7f) << (7 * input->digits++);
        if (!(byte & 0x80)) after_length(input);
        break;
      case MQTT_TOPIC_LENGTH:
        if (!take_two(input, byte)) break;
        input->topic_rest = input->value;
        input->state = MQTT_TOPIC;
        break;
      case MQTT_TOPIC:
        input->rest--;
        if (!--input->topic_rest) input->state = MQTT_IDENTIFIER;
        break;
      case MQTT_IDENTIFIER:
        if (!take_two(input, byte)) break;
        add_ack(&acks, connection, input->value);
        input->state = input->rest ? MQTT_REST : MQTT_TYPE;
        break;
      case MQTT_REST:
        at += skip(input, count - at);
        continue;
    }
    at++;
  }
  if (acks.count) connection_send(connection, acks.bytes, acks.count);
}
