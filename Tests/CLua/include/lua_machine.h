#pragma once
#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <lua5.1/lualib.h>
#include <stddef.h>

// The few calls of Lua that Swift cannot make by itself: macros, and the raising of an error. Lua raises errors with longjmp,
// which must not pass a function of Swift. So Swift's handler returns first, and then the error is raised from here.

// Answers a call of `redis.call` or `redis.pcall`: takes the arguments from the stack, pushes one value, and returns 1 if that
// value is an error.
typedef int (*lua_machine_handler)(void *context, lua_State *lua);

// A state with the libraries that Redis has for scripts, as far as Belfry's functions use them; NULL without memory. The
// globals `call_redis` and `pcall_redis` lead to the handler.
lua_State *lua_machine_new(lua_machine_handler handler, void *context);

// Writes the text of an argument as Redis does: a number with 17 digits. Returns NULL if the value is neither a text nor a
// number. The text lies in `digits` or in the value.
const char *lua_machine_argument(lua_State *lua, int index, char digits[64], size_t *length);

// Writes a number with 17 digits. Returns the length.
int lua_machine_write_number(double number, char digits[64]);

// Pushes the global with this name.
void lua_machine_push_global(lua_State *lua, const char *name);
void lua_machine_pop(lua_State *lua, int count);
