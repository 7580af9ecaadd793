#include "template.h"

#include <string.h>

#include "marks.h"

struct template template_read(const char *path) {
  struct template template = {.text = read_file(path)};
  struct text text = template.text;
  template.places = reserve(NULL, (text.count / MARK_DIGITS + 1) * sizeof *template.places);
  for (size_t at = 0; at + MARK_DIGITS <= text.count;) {
    bool takes_next = !memcmp(text.bytes + at, "@@@@@@@@@@", MARK_DIGITS);
    if (takes_next || !memcmp(text.bytes + at, "%%%%%%%%%%", MARK_DIGITS)) {
      template.places[template.place_count++] = (struct place){at, takes_next};
      template.numbers += takes_next;
      at += MARK_DIGITS;
    } else {
      at++;
    }
  }
  return template;
}

static void write_number(char *at, uint64_t number) {
  for (int i = MARK_DIGITS; i-- > 0; number /= 10) at[i] = (char)('0' + number % 10);
}

void template_fill(struct template *template, uint64_t *next) {
  uint64_t number = *next;
  for (size_t i = 0; i < template->place_count; i++) {
    if (template->places[i].takes_next) number = (*next)++;
    write_number(template->text.bytes + template->places[i].at, number);
  }
}
