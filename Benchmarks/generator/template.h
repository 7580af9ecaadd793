// A request with room for numbers: `@@@@@@@@@@` takes the next number, `%%%%%%%%%%` repeats the last one.
//
// Numbers have a fixed width, so a request is filled in without moving a byte of it, and its length, which
// several protocols announce, is known beforehand.
#pragma once

#include "support.h"

struct template {
  struct text text;
  struct place {
    size_t at;
    bool takes_next;
  } *places;
  size_t place_count;
  unsigned numbers;  // how many new ones a request takes
};

struct template template_read(const char *path);

// Fills in from `*next` on, and moves it behind what was taken.
void template_fill(struct template *, uint64_t *next);
