# What docs/http.md takes for granted.
# serve: belfry serve
cd .
