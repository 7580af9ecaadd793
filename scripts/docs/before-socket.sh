# What docs/socket.md takes for granted.
# serve: belfry serve
export BELFRY_TOKEN=$(belfry token --sub alice)
