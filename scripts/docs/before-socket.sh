# What docs/socket.md takes for granted.
# serve: belfry serve
cd .
