#include "redis_functions.h"

// SwiftPM would embed these files as array literals of Swift, one number for each byte. The compiler takes ten seconds
// to check their types, twice in each build.
//
// A file uses only names from the files above it. Lua has room for 200 names in all, so a file whose names no later one uses is
// wrapped in a block.
//
// `#embed` is of C23. The toolchain's compiler knows it in each version of the language, and warns.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define BLOCK 'd', 'o', '\n',
#define END_OF_BLOCK 'e', 'n', 'd', '\n',

static const char text[] = {
#embed "../BelfryStore/Functions/partition.lua" suffix(, )
#embed "../BelfryStore/Functions/ids.lua" suffix(, )
#embed "../BelfryStore/Functions/records.lua" suffix(, )
#embed "../BelfryStore/Functions/dedupe.lua" suffix(, )
#embed "../BelfryStore/Functions/log.lua" suffix(, )
#embed "../BelfryStore/Functions/read.lua" suffix(, )
#embed "../BelfryStore/Functions/relay.lua" suffix(, )
  BLOCK
#embed "../BelfryStore/Functions/commit.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/send.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/sweep.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/streams.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/tokens.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/rights.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/pushers.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/copies.lua" suffix(, )
#embed "../BelfryStore/Functions/push.lua" suffix(, )
  END_OF_BLOCK
  BLOCK
#embed "../BelfryStore/Functions/webhooks.lua" suffix(, )
  END_OF_BLOCK
  0
};

const char *redis_functions(void) { return text; }
