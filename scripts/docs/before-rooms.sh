# What docs/rooms.md takes for granted: a broker on port 8080, with its data in ./data.
# serve: belfry serve
cd .
