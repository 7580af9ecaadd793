#pragma once

// The Lua text of the functions in Redis, from BelfryStore/Functions, in the order in which Lua has to read it. It ends with a
// zero byte, and is part of the executable.
const char *redis_functions(void);
