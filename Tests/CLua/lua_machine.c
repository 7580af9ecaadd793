#include "lua_machine.h"
#include <stdio.h>

// The addresses of these are the names of two values in the registry.
static const char handler_name, context_name;

static void *registered(lua_State *lua, const char *name) {
  lua_pushlightuserdata(lua, (void *)name);
  lua_rawget(lua, LUA_REGISTRYINDEX);
  void *found = lua_touserdata(lua, -1);
  lua_pop(lua, 1);
  return found;
}

static int handle(lua_State *lua) {
  lua_machine_handler *handler = registered(lua, &handler_name);
  return (*handler)(registered(lua, &context_name), lua);
}

static int call_redis(lua_State *lua) { return handle(lua) ? lua_error(lua) : 1; }

static int pcall_redis(lua_State *lua) {
  handle(lua);
  return 1;
}

static void open_library(lua_State *lua, const char *name, lua_CFunction function) {
  lua_pushcfunction(lua, function);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

lua_State *lua_machine_new(lua_machine_handler handler, void *context) {
  lua_State *lua = luaL_newstate();
  if (!lua) return NULL;
  lua_pushlightuserdata(lua, (void *)&handler_name);
  // A pointer to a function is no pointer to data, so it lies in memory of Lua's own.
  *(lua_machine_handler *)lua_newuserdata(lua, sizeof handler) = handler;
  lua_rawset(lua, LUA_REGISTRYINDEX);
  lua_pushlightuserdata(lua, (void *)&context_name);
  lua_pushlightuserdata(lua, context);
  lua_rawset(lua, LUA_REGISTRYINDEX);
  open_library(lua, "", luaopen_base);
  open_library(lua, LUA_TABLIBNAME, luaopen_table);
  open_library(lua, LUA_STRLIBNAME, luaopen_string);
  open_library(lua, LUA_MATHLIBNAME, luaopen_math);
  open_library(lua, LUA_DBLIBNAME, luaopen_debug);
  lua_register(lua, "call_redis", call_redis);
  lua_register(lua, "pcall_redis", pcall_redis);
  return lua;
}

int lua_machine_write_number(double number, char digits[64]) { return snprintf(digits, 64, "%.17g", number); }

const char *lua_machine_argument(lua_State *lua, int index, char digits[64], size_t *length) {
  if (lua_type(lua, index) == LUA_TSTRING) return lua_tolstring(lua, index, length);
  if (lua_type(lua, index) != LUA_TNUMBER) return NULL;
  *length = (size_t)lua_machine_write_number(lua_tonumber(lua, index), digits);
  return digits;
}

void lua_machine_push_global(lua_State *lua, const char *name) { lua_getfield(lua, LUA_GLOBALSINDEX, name); }

void lua_machine_pop(lua_State *lua, int count) { lua_settop(lua, -count - 1); }
