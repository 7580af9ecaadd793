// The load generator: `generator MODE name=value...`. One thread, one epoll, raw sockets: it must cost less
// than what it measures. The words of each protocol come from files that the orchestration writes.
#include <signal.h>
#include <string.h>

#include "loop.h"
#include "modes.h"
#include "processor.h"

static const struct {
  const char *name;
  void (*run)(void);
} modes[] = {
  {"fanout", mode_fanout},
  {"hold", mode_hold},
  {"exchange", mode_exchange},
  {"pages", mode_pages},
  {"soak", mode_soak},
};

int main(int count, char **words) {
  signal(SIGPIPE, SIG_IGN);
  if (count < 2) fail("which mode?");
  settings_take(count - 2, words + 2);
  processor_watch(setting("servers", ""));
  loop_start();
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(modes[i].name, words[1])) continue;
    modes[i].run();
    return 0;
  }
  fail("there is no mode %s", words[1]);
}
