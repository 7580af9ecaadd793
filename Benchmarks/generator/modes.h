// What the generator can do; each is described in its file.
#pragma once

void mode_fanout(void);
void mode_hold(void);
void mode_exchange(void);
void mode_pages(void);
void mode_soak(void);
